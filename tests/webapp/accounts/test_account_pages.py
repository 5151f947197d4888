"""The account page, API tokens, sign-in links that staff make for others, and signing up."""

import re
from datetime import timedelta

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from tests.clients import client_of
from webapp.models import TOKENS_EACH, ApiToken, User, digest_of

pytestmark = pytest.mark.django_db

PAGES = ("/account/", "/account/sign-in-links/")


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", "x")


@pytest.fixture
def browser(ada: User) -> Client:
    return client_of(ada)


def find_token(text: str) -> str:
    return re.findall(r"hs_[\w-]{43}", text)[0]


# The account ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_visitors_are_redirected_to_sign_in(client: Client, page: str) -> None:
    answer = client.get(page)
    assert (answer.status_code, answer["Location"]) == (302, f"/accounts/login/?next={page}")


def test_the_account_page_has_name_mail_password_and_tokens(browser: Client) -> None:
    page = browser.get("/account/")
    assert page.status_code == 200
    for said in ("ada@example.org", "Change the password", "API tokens", "You have no tokens."):
        assert said in page.text
    assert "Make a sign-in link" not in page.text
    assert "no-store" in page["Cache-Control"]


def test_a_name_is_saved(browser: Client, ada: User) -> None:
    assert browser.post("/account/", {"first_name": "Ada", "last_name": "L"}).status_code == 302
    ada.refresh_from_db()
    assert ada.get_full_name() == "Ada L"


def test_a_name_that_is_too_long_is_refused_with_a_message(browser: Client, ada: User) -> None:
    page = browser.post("/account/", {"first_name": "A" * 1000})
    assert page.status_code == 400
    assert "at most 150 characters" in page.text
    ada.refresh_from_db()
    assert ada.first_name == ""


def test_an_account_without_a_password_sets_one(browser: Client, ada: User) -> None:
    ada.set_unusable_password()
    ada.save()
    browser.force_login(ada)
    assert "Set one" in browser.get("/account/").text


# Tokens -----------------------------------------------------------------------------------------------------


def test_a_token_is_shown_once_and_only_its_digest_is_stored(browser: Client, ada: User) -> None:
    token = find_token(browser.post("/account/tokens/", {"name": "laptop"}).text)
    kept = ApiToken.objects.get()
    assert (kept.user, kept.name, kept.digest) == (ada, "laptop", digest_of(token))
    assert token not in str(vars(kept))
    page = browser.get("/account/").text
    assert "laptop" in page
    assert token not in page


def test_an_account_has_several_tokens_and_each_is_revoked_separately(browser: Client) -> None:
    first, second = (find_token(browser.post("/account/tokens/", {"name": name}).text) for name in "ab")
    assert first != second
    kept = ApiToken.objects.usable(first).get()
    assert browser.post(f"/account/tokens/{kept.pk}/revoke/").status_code == 302
    assert not ApiToken.objects.usable(first).exists()
    assert ApiToken.objects.usable(second).exists()
    assert [one.name for one in ApiToken.objects.of(kept.user)] == ["b"]
    assert browser.post(f"/account/tokens/{kept.pk}/revoke/").status_code == 302  # revoking twice is no error


def test_nobody_revokes_a_token_of_another_account(browser: Client) -> None:
    other = User.objects.create(username="other")
    token = ApiToken.objects.make(other, "theirs")
    assert browser.post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 404
    assert ApiToken.objects.usable(token).exists()


def test_a_token_without_a_name_is_refused(browser: Client) -> None:
    assert browser.post("/account/tokens/", {"name": " "}).status_code == 400
    assert not ApiToken.objects.exists()


def test_the_number_of_tokens_of_an_account_is_limited(browser: Client, ada: User) -> None:
    for number in range(TOKENS_EACH):
        ApiToken.objects.make(ada, str(number))
    page = browser.post("/account/tokens/", {"name": "one more"})
    assert page.status_code == 400
    assert f"Expected at most {TOKENS_EACH} tokens" in page.text
    ApiToken.objects.first().revoke()
    assert browser.post("/account/tokens/", {"name": "one more"}).status_code == 200


def test_the_token_of_a_closed_account_opens_nothing(ada: User) -> None:
    token = ApiToken.objects.make(ada, "x")
    User.objects.update(is_active=False)
    assert not ApiToken.objects.usable(token).exists()


def test_get_requests_make_and_revoke_nothing(browser: Client, ada: User) -> None:
    ApiToken.objects.make(ada, "x")
    assert browser.get("/account/tokens/").status_code == 405
    assert browser.get(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 405


def test_the_last_use_of_a_token_is_stored_at_most_once_an_hour(ada: User) -> None:
    token = ApiToken.objects.make(ada, "x")
    ApiToken.objects.usable(token).get().note_use()
    first = ApiToken.objects.get().last_used
    assert first is not None
    ApiToken.objects.usable(token).get().note_use()
    assert ApiToken.objects.get().last_used == first
    ApiToken.objects.update(last_used=timezone.now() - timedelta(hours=2))
    ApiToken.objects.usable(token).get().note_use()
    assert ApiToken.objects.get().last_used >= first


# Sign-in links ----------------------------------------------------------------------------------------------


@pytest.fixture
def staff() -> Client:
    return client_of(User.objects.create(username="staff", is_staff=True))


def test_members_get_404(browser: Client) -> None:
    assert browser.get("/account/sign-in-links/").status_code == 404
    assert browser.post("/account/sign-in-links/", {"account": "ada"}).status_code == 404


@pytest.mark.parametrize("said", ["ada", "ADA@example.org"])
def test_staff_make_a_link_that_signs_in_once(staff: Client, ada: User, said: str) -> None:
    with override_settings(PUBLIC_URL="https://horses.example.org"):
        page = staff.post("/account/sign-in-links/", {"account": said})
    address = re.findall(r"https://horses\.example\.org(/login/[\w-]+/)", page.text)[0]
    visitor = Client()
    assert visitor.post(address).status_code == 302
    assert visitor.session["_auth_user_id"] == str(ada.pk)
    assert visitor.post(address).status_code == 410


@pytest.mark.parametrize("said", ["nobody", "closed", "both@example.org", "root", ""])
def test_no_link_is_made_for_unknown_ambiguous_closed_or_staff_accounts(staff: Client, said: str) -> None:
    User.objects.create(username="closed", is_active=False)
    User.objects.create(username="root", is_staff=True, is_superuser=True)
    for name in "xy":
        User.objects.create(username=name, email="both@example.org")
    page = staff.post("/account/sign-in-links/", {"account": said})
    assert page.status_code == 400
    assert "/login/" not in page.text.replace("/accounts/login/", "")


# Signing up -------------------------------------------------------------------------------------------------

NEW = {"username": "eve", "email": "eve@example.org", "password1": "a long Password", "password2": "a long Password"}


def test_visitors_make_accounts(client: Client) -> None:
    assert client.post("/accounts/signup/", NEW).status_code == 302
    assert User.objects.filter(username="eve").exists()


def test_a_closed_site_makes_no_accounts_for_visitors(client: Client) -> None:
    with override_settings(SIGNUP=False):
        page = client.post("/accounts/signup/", NEW)
    assert "The people who run this site create its accounts" in page.text
    assert not User.objects.exists()
