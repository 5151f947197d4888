"""No page tells a visitor which addresses have accounts: status, text and work are the same for all addresses."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core import mail
from django.core.cache import cache
from django.test import Client

from webapp.models import User

pytestmark = pytest.mark.django_db

PASSWORD = "clever-hans-1904"
KNOWN, NEW = "ada@example.org", "eva@example.org"
TOKEN = re.compile(r'(csrfmiddlewaretoken" value="|data-csrf-token=")\w*')


@pytest.fixture(autouse=True)
def fresh_limits() -> None:
    cache.clear()


@pytest.fixture(params=["none", "mandatory"], ids=["without mail", "with mail"])
def mode(request: pytest.FixtureRequest, settings: Any) -> str:
    settings.ACCOUNT_EMAIL_VERIFICATION = request.param
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["confirmed", "not confirmed"])
def ada(request: pytest.FixtureRequest) -> User:
    user = User.objects.create_user("ada", KNOWN, PASSWORD)
    EmailAddress.objects.create(user=user, email=user.email, verified=request.param, primary=True)
    return user


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give a list that grows with every hashed password, which is most of the work of signing in."""
    found: list[int] = []
    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(MD5PasswordHasher, "encode", lambda *args: (found.append(1), encode(*args))[1])
    return found


def sign_up(client: Client, name: str, address: str) -> list[Any]:
    cache.clear()  # an address gets one mail in three minutes
    form = {"username": name, "email": address, "password1": PASSWORD, "password2": PASSWORD}
    return pages(client.post("/accounts/signup/", form, follow=True), name, address)


def pages(response: Any, *words: str) -> list[Any]:
    """Return the redirects, the status and the text of a response without what the visitor typed."""
    text = TOKEN.sub(r"\1", response.text)
    for word in words:
        text = text.replace(word, "…").replace(word.lower(), "…")
    return [response.redirect_chain, response.status_code, text]


def test_signing_up_is_the_same_for_all_addresses(mode: str, ada: User, hashes: list[int]) -> None:
    answers, work = [], []
    for name, address in [("zebra-one", KNOWN), ("zebra-two", NEW), ("zebra-six", KNOWN.upper())]:
        before = len(hashes)
        answers.append(sign_up(Client(), name, address))
        work.append(len(hashes) - before)
    assert answers[0] == answers[1] and answers[2] == answers[1] and len(set(work)) == 1
    assert answers[0][1] == 200
    assert User.objects.filter(username__in=["zebra-one", "zebra-two", "zebra-six"]).count() == 3


def test_the_new_account_itself_does_not_tell_either(mode: str, ada: User) -> None:
    for name, address in [("zebra-one", KNOWN), ("zebra-two", NEW)]:
        sign_up(Client(), name, address)
    again = [sign_up(Client(), name, "third@example.org") for name in ("zebra-one", "zebra-two")]
    assert again[0] == again[1]  # both names are taken
    sign_ins = []
    for name in ("zebra-one", "zebra-two"):
        form = {"login": name, "password": PASSWORD}
        sign_ins.append(pages(Client().post("/accounts/login/", form, follow=True), name, KNOWN, NEW))
    assert sign_ins[0] == sign_ins[1]


def test_only_the_mail_tells_the_owner_of_an_address(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    user = User.objects.create_user("ada", KNOWN, PASSWORD)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    sign_up(Client(), "zebra-one", KNOWN)
    sign_up(Client(), "zebra-two", NEW)
    [known, new] = mail.outbox
    assert known.to == [KNOWN] and "already exists" in str(known.body) and "confirm-email" not in str(known.body)
    assert new.to == [NEW] and "confirm-email" in str(new.body)
    assert EmailAddress.objects.get(email=KNOWN, verified=True).user == user


def test_the_owner_of_an_address_can_confirm_it_after_somebody_else_typed_it(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(Client(), "zebra-one", KNOWN)
    sign_up(Client(), "ada", KNOWN)
    link = re.findall(r"/accounts/confirm-email/\S+", str(mail.outbox[-1].body))[0]
    Client().post(link)
    assert EmailAddress.objects.get(verified=True).user.username == "ada"


def test_a_new_password_is_the_same_for_all_addresses(mode: str, ada: User) -> None:
    found = [
        pages(Client().post("/accounts/password/reset/", {"email": address}, follow=True), address)
        for address in (KNOWN, NEW)
    ]
    assert found[0] == found[1] and len(mail.outbox) == 2


@pytest.mark.parametrize("known", ["ada", KNOWN])
def test_a_failed_sign_in_is_the_same_for_all_accounts(mode: str, ada: User, hashes: list[int], known: str) -> None:
    answers, work = [], []
    for login in (known, known.replace("ada", "eva")):
        before = len(hashes)
        response = Client().post("/accounts/login/", {"login": login, "password": "wrong-horse-1"}, follow=True)
        answers.append(pages(response, login))
        work.append(len(hashes) - before)
    assert answers[0] == answers[1]
    assert min(work) > 0 and max(work) <= 2 * min(work)


def test_too_many_failed_sign_ins_are_refused_for_all_accounts(ada: User) -> None:
    found = []
    for login in (KNOWN, NEW):
        cache.clear()
        forms = [{"login": login, "password": f"wrong-{n}"} for n in range(12)]
        answers = [Client(REMOTE_ADDR=f"192.0.2.{n}").post("/accounts/login/", form) for n, form in enumerate(forms)]
        found.append([(one.status_code, "Too many failed" in one.text) for one in answers])
    assert found[0] == found[1] and (200, True) in found[0]


def test_adding_an_address_to_the_own_account_is_the_same_for_all_addresses(mode: str, ada: User) -> None:
    def add(address: str) -> Iterator[Any]:
        client, name = Client(), f"user-{address[:3]}"
        client.force_login(User.objects.create_user(name, f"{name}@example.org", PASSWORD))
        yield from pages(
            client.post("/accounts/email/", {"email": address, "action_add": ""}, follow=True), name, address
        )

    assert list(add(KNOWN)) == list(add(NEW))
