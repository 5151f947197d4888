"""Links that sign a user in: each works once, within its lifetime, and only if the user presses the button."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from webapp.models import LoginLink, User, address_of, digest_of
from webapp.running.housekeeping import tidy_up

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return User.objects.create(username="admin", is_staff=True)


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_a_get_request_does_not_use_the_link(client: Client, admin: User) -> None:
    address = address_of(LoginLink.objects.make(admin))
    for _ in range(3):
        assert "Sign in as admin" in client.get(address).text
    assert not signed_in(client)
    assert client.post(address).status_code == 302
    assert signed_in(client)


def test_the_link_works_once(client: Client, admin: User) -> None:
    address = address_of(LoginLink.objects.make(admin))
    client.post(address)
    stranger = Client()
    assert stranger.get(address).status_code == 410
    assert stranger.post(address).status_code == 410
    assert not signed_in(stranger)


def test_the_link_expires(client: Client, admin: User) -> None:
    address = address_of(LoginLink.objects.make(admin, life=timedelta(seconds=-1)))
    assert client.post(address).status_code == 410
    assert not signed_in(client)


def test_the_link_of_a_closed_account_opens_nothing(client: Client, admin: User) -> None:
    address = address_of(LoginLink.objects.make(admin))
    User.objects.update(is_active=False)
    assert client.post(address).status_code == 410


def test_a_guessed_link_opens_nothing(client: Client, admin: User) -> None:
    LoginLink.objects.make(admin)
    assert client.post("/login/guess/").status_code == 410


def test_the_database_stores_only_the_digest(admin: User) -> None:
    token = LoginLink.objects.make(admin)
    link = LoginLink.objects.get()
    assert link.digest == digest_of(token)
    assert token not in str(vars(link))


def test_the_button_needs_the_csrf_token_of_its_form(admin: User) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(address_of(LoginLink.objects.make(admin))).status_code == 403


def test_used_and_expired_links_are_deleted(client: Client, admin: User) -> None:
    client.post(address_of(LoginLink.objects.make(admin)))
    LoginLink.objects.make(admin, life=timedelta(seconds=-1))
    live = digest_of(LoginLink.objects.make(admin))
    tidy_up()
    assert [link.digest for link in LoginLink.objects.all()] == [live]


def test_the_command_prints_a_working_link(client: Client, admin: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("login_link")
    path = capsys.readouterr().out.strip().removeprefix("http://127.0.0.1:8000")
    client.post(path)
    assert signed_in(client)


def test_the_command_refuses_an_unknown_account() -> None:
    with pytest.raises(CommandError, match="Expected the name of an active account, got 'nobody'"):
        call_command("login_link", "nobody")


@pytest.mark.django_db(transaction=True)
def test_only_one_of_many_simultaneous_requests_signs_in(admin: User) -> None:
    address = address_of(LoginLink.objects.make(admin))

    def press(_: int) -> int:
        try:
            return Client().post(address).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(press, range(8)))
    assert sorted(codes) == [302, *[410] * 7]
    assert LoginLink.objects.get().used_at <= timezone.now()
