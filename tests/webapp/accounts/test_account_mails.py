"""Mails about accounts, signing in to the admin pages, and sign-in links for others."""

import io
import re
from contextlib import redirect_stdout

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group, Permission
from django.core import mail
from django.core.cache import cache
from django.test import Client

from generation.access import RESEARCHERS
from webapp.accounts.forms import SignInLinkForm
from webapp.models import User
from webapp.monitoring.log_masking import mask

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_limits() -> None:
    cache.clear()


@pytest.fixture
def ada() -> User:
    user = User.objects.create_user("ada", "ada@example.org", "clever-hans-1904")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def test_a_link_for_a_new_password_leads_to_the_public_address(client: Client, ada: User, settings: object) -> None:
    settings.PUBLIC_URL = "https://horsesense.example.org"  # type: ignore[attr-defined]
    answer = client.post("/accounts/password/reset/", {"email": ada.email}, headers={"Host": "127.0.0.1:80"})
    assert answer.status_code == 302
    [sent] = mail.outbox
    links = re.findall(r"https?://\S+", str(sent.body))
    assert links and all(link.startswith("https://horsesense.example.org/") for link in links)
    assert "127.0.0.1" not in f"{sent.subject} {sent.body}"


def test_a_request_for_a_new_password_with_a_wrong_port_is_refused(client: Client, ada: User) -> None:
    answer = client.post("/accounts/password/reset/", {"email": ada.email}, headers={"Host": "127.0.0.1:666"})
    assert answer.status_code == 400
    assert mail.outbox == []


def test_the_admin_pages_use_the_sign_in_form_of_the_site(client: Client, ada: User) -> None:
    for answer in (client.get("/admin/login/"), client.post("/admin/login/", {"username": "ada", "password": "x"})):
        assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/?next=%2Fadmin%2Flogin%2F")
    client.force_login(ada)
    assert client.get("/admin/login/").status_code == 403


def test_failed_sign_ins_are_counted_for_all_host_names_together(client: Client, ada: User) -> None:
    said = {"login": "ada", "password": "wrong"}
    for number in range(12):
        answer = client.post("/accounts/login/", said, headers={"Host": ("localhost", "127.0.0.1")[number % 2]})
    assert "Too many failed login attempts" in answer.text or answer.status_code == 429


def test_only_superusers_make_links_for_staff() -> None:
    chief = User.objects.create_superuser("chief")
    staff = User.objects.create_user("staff", is_staff=True)
    User.objects.create_user("other", is_staff=True)
    User.objects.create_user("visitor")
    for by, account, allowed in [
        (staff, "visitor", True),
        (staff, "other", False),
        (staff, "staff", False),
        (staff, "chief", False),
        (chief, "other", True),
        (chief, "chief", True),
    ]:
        assert SignInLinkForm({"account": account}, by=by).is_valid() == allowed, (by, account)


def test_staff_cannot_change_accounts_of_staff_in_the_admin_pages(client: Client, ada: User) -> None:
    chief = User.objects.create_superuser("chief")
    staff = User.objects.create_user("staff", is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__in=["view_user", "change_user", "delete_user"]))
    client.force_login(staff)
    for other in (chief, staff):
        assert client.post(f"/admin/webapp/user/{other.pk}/password/", {}).status_code == 403
        assert client.post(f"/admin/webapp/user/{other.pk}/delete/", {"post": "yes"}).status_code == 403
        assert client.post(f"/admin/webapp/user/{other.pk}/change/", {"username": "taken"}).status_code == 403
    page = client.get(f"/admin/webapp/user/{ada.pk}/change/").text
    assert 'name="username"' in page and 'name="is_superuser"' not in page and 'name="is_staff"' not in page
    client.force_login(chief)
    assert 'name="is_superuser"' in client.get(f"/admin/webapp/user/{staff.pk}/change/").text


def test_a_site_without_mail_writes_no_link_into_its_log(client: Client, ada: User, settings: object) -> None:
    settings.EMAIL_BACKEND = "webapp.monitoring.mail_log.EmailBackend"  # type: ignore[attr-defined]
    said = io.StringIO()
    with redirect_stdout(said):
        client.post("/accounts/password/reset/", {"email": ada.email})
    assert "/accounts/password/reset/key/…" in said.getvalue() and "login_link" in said.getvalue()
    assert not re.search(r"reset/key/\w", said.getvalue())


@pytest.mark.parametrize(
    "address",
    [
        "/s/codecode/secret/",
        "/login/secret/",
        "/accounts/password/reset/key/3-secret/",
        "/accounts/confirm-email/secret/",
        "/accounts/oidc/main/login/callback/?code=secret&state=secret",
    ],
)
def test_logs_mask_addresses_that_contain_a_secret(address: str) -> None:
    assert "secret" not in mask(f'"GET {address} HTTP/1.1" 200 from https://host{address}')


@pytest.mark.parametrize(("action", "is_one"), [("make_researchers", True), ("end_researchers", False)])
def test_superusers_make_researchers_from_the_list_of_accounts(
    client: Client, ada: User, action: str, is_one: bool
) -> None:
    boss = User.objects.create(username="boss", is_staff=True, is_superuser=True)
    group = Group.objects.get_or_create(name=RESEARCHERS)[0]
    if not is_one:
        group.user_set.add(ada)
    client.force_login(boss)
    form = {"action": action, "_selected_action": [ada.pk]}
    assert ada.username in client.post("/admin/webapp/user/", form, follow=True).text
    assert group.user_set.filter(pk=ada.pk).exists() == is_one


def test_staff_without_superuser_rights_cannot_make_researchers(client: Client, ada: User) -> None:
    helper = User.objects.create(username="helper", is_staff=True)
    helper.user_permissions.add(*Permission.objects.filter(codename__in=["view_user", "change_user"]))
    client.force_login(helper)
    client.post("/admin/webapp/user/", {"action": "make_researchers", "_selected_action": [ada.pk]}, follow=True)
    assert not ada.groups.exists()
