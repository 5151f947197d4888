"""Signing in with an account of an OpenID Connect provider."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import requests
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.test import Client
from playwright.sync_api import expect

from tests.webapp.accounts import provider as providers
from tests.webapp.accounts.provider import Provider
from tests.webapp.commands import show_settings
from webapp.models import User

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.django_db

LOGIN = "/accounts/oidc/main/login/"


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    """Give a running provider that the site's settings name."""
    with providers.running() as running:
        settings.OIDC_NAME = "Analytical Society"
        settings.SOCIALACCOUNT_PROVIDERS = running.settings()
        yield running


def sign_in_at_provider(client: Client, address: str = LOGIN) -> Any:
    """Go to the provider and come back, and return the site's answer."""
    away = client.get(address)
    assert away.status_code == 302
    there = requests.get(away["Location"], allow_redirects=False, timeout=10)
    return client.get(there.headers["Location"].removeprefix("http://testserver"))


def signed_in(client: Client) -> str:
    key = client.session.get("_auth_user_id")
    return User.objects.get(pk=key).username if key else ""


def test_a_person_who_signs_in_at_the_provider_gets_an_account(client: Client, provider: Provider) -> None:
    answer = sign_in_at_provider(client)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert signed_in(client) == "ada"
    user = User.objects.get()
    assert (user.email, user.get_full_name(), user.has_usable_password()) == ("ada@example.org", "Ada Lovelace", False)
    assert (user.is_staff, user.is_superuser) == (False, False)
    assert provider.troubles == []
    (asked,) = provider.asked
    assert (asked["code_challenge_method"], asked["response_type"]) == ("S256", "code")
    assert asked["redirect_uri"] == "http://testserver/accounts/oidc/main/login/callback/"
    assert not SocialToken.objects.exists()


def test_the_second_sign_in_is_to_the_same_account_even_with_another_mail_address(
    client: Client, provider: Provider
) -> None:
    sign_in_at_provider(client)
    provider.person |= {"email": "countess@example.org", "preferred_username": "countess"}
    other = Client()
    sign_in_at_provider(other)
    assert signed_in(other) == "ada"
    assert User.objects.count() == 1


def test_a_mail_address_of_an_existing_account_signs_nobody_in(client: Client, provider: Provider) -> None:
    User.objects.create_user("root", "ada@example.org", "x", is_staff=True, is_superuser=True)
    sign_in_at_provider(client)
    assert signed_in(client) == ""
    assert not SocialAccount.objects.exists()


def test_a_user_links_an_existing_account_to_the_provider(client: Client, provider: Provider) -> None:
    client.force_login(User.objects.create_user("lovelace", "ada@example.org", "x"))
    link = f"{LOGIN}?process=connect&next=/account/"
    assert link.replace("&", "&amp;") in client.get("/account/").text
    assert sign_in_at_provider(client, link)["Location"] == "/account/"
    assert "You can sign in with Analytical Society" in client.get("/account/").text
    other = Client()
    sign_in_at_provider(other)
    assert signed_in(other) == "lovelace"


def test_a_closed_site_makes_no_new_accounts(client: Client, provider: Provider, settings: Any) -> None:
    settings.SIGNUP = False
    assert "The people who run this site create its accounts" in sign_in_at_provider(client).text
    assert not User.objects.exists()


def test_a_person_who_cancels_at_the_provider_sees_a_message(client: Client, provider: Provider) -> None:
    provider.agrees = False
    answer = sign_in_at_provider(client)
    page = client.get(answer["Location"]) if answer.status_code == 302 else answer
    assert "You are not signed in" in page.text
    assert signed_in(client) == ""


@pytest.mark.parametrize("query", ["?code=guess&state=guess", "?code=guess", ""])
def test_an_unrequested_callback_signs_nobody_in(client: Client, provider: Provider, query: str) -> None:
    answer = client.get(f"{LOGIN}callback/{query}")
    assert "Signing in failed" in answer.text
    assert signed_in(client) == ""


def test_a_code_of_another_session_signs_nobody_in(client: Client, provider: Provider) -> None:
    away = Client().get(LOGIN)
    there = requests.get(away["Location"], allow_redirects=False, timeout=10)
    client.get(there.headers["Location"].removeprefix("http://testserver"))
    assert signed_in(client) == ""


def test_the_sign_in_form_leads_to_the_provider_and_back_to_the_next_page(client: Client, provider: Provider) -> None:
    page = client.get("/accounts/login/?next=/account/")
    assert "Sign in with Analytical Society" in page.text
    assert sign_in_at_provider(client, f"{LOGIN}?next=/account/")["Location"] == "/account/"


def test_without_a_provider_there_are_no_links_to_one(client: Client) -> None:
    assert "Sign in with" not in client.get("/accounts/login/").text
    assert client.get(LOGIN).status_code == 404
    assert client.get(f"{LOGIN}callback/?code=x&state=y").status_code == 404


@pytest.mark.full
@pytest.mark.slow
def test_the_environment_sets_the_provider(site_environment: dict[str, str]) -> None:
    more = {
        "OIDC_SERVER_URL": "https://login.example.org/realms/lab",
        "OIDC_CLIENT_ID": "horses",
        "OIDC_CLIENT_SECRET": "s3cret",
        "OIDC_NAME": "the lab",
    }
    expression = "s.OIDC_NAME, s.SOCIALACCOUNT_PROVIDERS"
    ended = show_settings(expression, environment=site_environment | more)
    for said in ("the lab", "https://login.example.org/realms/lab", "horses", "s3cret"):
        assert said in ended.stdout
    plain = show_settings(expression, environment=site_environment)
    assert "'APPS': []" in plain.stdout


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_real_browser_signs_in_at_the_provider(browser: "Browser", live_server: Any, provider: Provider) -> None:
    page = browser.new_page(base_url=live_server.url, viewport={"width": 390, "height": 800})
    page.goto("/accounts/login/")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name="Sign in with Analytical Society").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_text("You can sign in with Analytical Society")).to_be_visible()
    page.context.close()
