"""The front page, accounts, error pages, headers and the admin pages."""

import re

import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import path

from webapp import urls, views
from webapp.models import User

pytestmark = pytest.mark.django_db


def test_the_front_page_describes_the_site_in_one_line(client: Client) -> None:
    line = "Diagnostic datasets, human studies and leaderboards for visual and text reasoning"
    page = client.get("/").text
    assert f'<p class="kicker">{line}</p>' in page
    assert f'<meta name="description" content="{line}.">' in page


def test_browsers_find_the_icon_at_the_usual_address(client: Client) -> None:
    answer = client.get("/favicon.ico")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/x-icon")
    assert answer.content.startswith(b"\0\0\1\0")
    assert "max-age=86400" in answer.headers["Cache-Control"]


def forbidden(request: HttpRequest) -> HttpResponse:
    from django.core.exceptions import PermissionDenied

    raise PermissionDenied


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a secret")


def away(request: HttpRequest) -> HttpResponse:
    raise OperationalError("no such host: a secret")


def too_big(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.body)


urlpatterns = [
    *urls.urlpatterns,
    path("t/forbidden/", forbidden),
    path("t/broken/", broken),
    path("t/away/", away),
    path("t/too-big/", too_big),
]
handler400, handler403, handler404, handler500 = urls.handler400, urls.handler403, urls.handler404, urls.handler500


@pytest.fixture
def troubles(settings: object) -> Client:
    """Return a client of a site with a few pages that raise errors."""
    settings.ROOT_URLCONF = __name__  # type: ignore[attr-defined]
    return Client(raise_request_exception=False)


def test_the_front_page_has_a_description_and_one_heading(client: Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "a program that computes its answer" in page.text
    assert page.text.count("<h1") == 1


def test_the_front_page_needs_few_queries(client: Client, django_assert_max_num_queries: object) -> None:
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        client.get("/")


def test_the_front_page_allows_only_get_and_head(client: Client) -> None:
    assert client.post("/").status_code == 405
    assert client.head("/").status_code == 200


@pytest.mark.parametrize(
    ("address", "status", "title"),
    [
        ("/nothing/", 404, "There is nothing at this address"),
        ("/t/forbidden/", 403, "You may not see this page"),
        ("/t/broken/", 500, "An error on our side"),
        ("/t/away/", 503, "The site is not available at the moment"),
    ],
)
def test_every_error_has_a_page(troubles: Client, address: str, status: int, title: str) -> None:
    page = troubles.get(address)
    assert page.status_code == status
    assert f"<h1>{title}</h1>" in page.text
    assert "Horsesense" in page.text
    assert "a secret" not in page.text


def test_a_request_that_is_too_large_has_a_page(troubles: Client) -> None:
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10):
        page = troubles.post("/t/too-big/", data={"text": "x" * 100})
    assert page.status_code == 413
    assert "The file is too large" in page.text


def test_a_request_with_an_unknown_host_has_a_page(troubles: Client) -> None:
    page = troubles.get("/", headers={"host": "evil.example.org"})
    assert page.status_code == 400
    assert "This request is not valid" in page.text


def test_a_form_without_its_token_says_what_to_do() -> None:
    page = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "x", "password": "y"})
    assert page.status_code == 403
    assert "<h1>This form was refused</h1>" in page.text
    assert "reload the page" in page.text


def test_the_sign_in_form_labels_its_fields(client: Client) -> None:
    assert ">Username or email</label>" in client.get("/accounts/login/").text


@pytest.mark.parametrize("group", ["", "researcher"])
def test_the_front_page_links_researchers_to_making_datasets(client: Client, group: str) -> None:
    user = User.objects.create(username="ada")
    user.groups.set([Group.objects.get_or_create(name=group)[0]] if group else [])
    client.force_login(user)
    assert ("Make a dataset" in client.get("/").text) == bool(group)


def test_the_page_for_server_errors_needs_no_query(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        page = views.server_error(RequestFactory().get("/"))
    assert page.status_code == 500


def test_a_bad_request_and_a_large_request_have_different_statuses() -> None:
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    assert views.bad_request(request, RequestDataTooBig()).status_code == 413
    assert views.bad_request(request, ValueError()).status_code == 400


# Accounts


def sign_up(client: Client) -> HttpResponse:
    fields = {
        "username": "ada",
        "email": "ada@example.org",
        "password1": "brown horse 17",
        "password2": "brown horse 17",
    }
    return client.post("/accounts/signup/", fields)


def test_a_visitor_makes_an_account_and_is_signed_in(client: Client) -> None:
    assert sign_up(client).status_code == 302
    assert "Sign out" in client.get("/").text


def test_sign_up_can_be_closed(client: Client, settings: object) -> None:
    settings.SIGNUP = False  # type: ignore[attr-defined]
    assert "No new accounts" in client.get("/accounts/signup/").text
    sign_up(client)
    assert not User.objects.exists()
    assert "Create an account" not in client.get("/accounts/login/").text


def test_a_wrong_password_is_reported_above_the_form(client: Client) -> None:
    User.objects.create_user("ada", password="brown horse 17")
    page = client.post("/accounts/login/", {"login": "ada", "password": "wrong"})
    assert page.status_code == 200
    summary = re.search(r'<div class="banner bad wrong-fields".*?</div>', page.text, re.DOTALL)
    assert summary is not None and "password" in summary[0]


def test_a_missing_field_is_reported_next_to_the_field(client: Client) -> None:
    page = client.post("/accounts/signup/", {"username": "ada"}).text
    assert re.search(r'<div class="field wrong">\s*<label for="id_email">', page)
    assert 'id="id_email_error"' in page
    assert re.search(r'<input[^>]+aria-invalid="true"[^>]*aria-describedby="id_email_error"', page)


def test_signing_out_needs_the_button(client: Client) -> None:
    sign_up(client)
    client.get("/accounts/logout/")
    assert "Sign out" in client.get("/").text
    client.post("/accounts/logout/")
    assert "Sign in" in client.get("/").text


@pytest.mark.parametrize("address", ["email/", "password/change/", "password/reset/"])
def test_account_pages_have_the_frame_of_the_site(client: Client, address: str) -> None:
    sign_up(client)
    page = client.get(f"/accounts/{address}")
    assert page.status_code == 200
    assert 'class="brand"' in page.text


# Headers


def test_the_policy_forbids_content_of_other_sites(client: Client) -> None:
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_headers_that_protect_visitors_are_there(client: Client) -> None:
    headers = client.get("/").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("address", ["/", "/docs/", "/accounts/login/", "/nothing/"])
def test_pages_load_nothing_from_other_sites(client: Client, address: str) -> None:
    page = client.get(address).text
    assert not re.findall(r'(?:src|href)="(?:https?:)?//[^"]+"', page)
    assert " style=" not in page
    assert not re.search(r"<script(?![^>]* src=)", page)


# Admin pages


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create(username="admin", is_staff=True, is_superuser=True))
    return client


def test_staff_make_and_close_accounts(staff: Client) -> None:
    password = "brown horse 17"
    fields = {"username": "bob", "usable_password": "true", "password1": password, "password2": password}
    staff.post("/admin/webapp/user/add/", fields)
    bob = User.objects.get(username="bob")
    assert Client().login(username="bob", password=password)
    assert staff.get(f"/admin/webapp/user/{bob.pk}/change/").status_code == 200
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert not Client().login(username="bob", password=password)


def test_others_do_not_reach_the_admin_pages(client: Client) -> None:
    sign_up(client)
    assert client.get("/admin/webapp/user/").status_code == 302
