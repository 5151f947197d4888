"""Trusted proxies and the addresses of visitors, limits of the size of requests, and valid hosts."""

import logging
import re

import pytest
from django.contrib.auth.models import Group
from django.test import Client, RequestFactory

from generation.access import RESEARCHERS
from tests.webapp.commands import ROOT
from webapp.models import User
from webapp.running import request_limits
from webapp.running.network_addresses import LOOPBACK, networks

PROXY, STRANGER, VISITOR = "172.18.0.5", "203.0.113.9", "198.51.100.7"


@pytest.fixture(autouse=True)
def one_proxy(settings: object) -> None:
    """Trust this machine and one network."""
    settings.TRUSTED_PROXIES = [*LOOPBACK, *networks(["172.16.0.0/12"])]  # type: ignore[attr-defined]


def meta_after(sender: str, **headers: str) -> dict[str, str]:
    """Return the META of a request after the middleware `OurProxies`."""
    request = RequestFactory().get("/", REMOTE_ADDR=sender, headers=headers)
    request_limits.OurProxies(lambda request: None)(request)  # type: ignore[arg-type, return-value]
    return request.META


def test_headers_of_a_trusted_proxy_are_used() -> None:
    meta = meta_after(PROXY, x_forwarded_for=VISITOR, x_forwarded_proto="https")
    assert (meta["REMOTE_ADDR"], meta["HTTP_X_FORWARDED_PROTO"]) == (VISITOR, "https")


@pytest.mark.parametrize("name", ["x_forwarded_for", "x_forwarded_proto", "x_forwarded_host", "forwarded"])
def test_headers_of_a_stranger_are_removed(name: str) -> None:
    meta = meta_after(STRANGER, **{name: "https"})
    assert meta["REMOTE_ADDR"] == STRANGER
    assert f"HTTP_{name.upper()}" not in meta


@pytest.mark.parametrize(
    ("forwarded_for", "found"),
    [
        ("", PROXY),
        (f"{STRANGER}, {VISITOR}", VISITOR),  # the visitor claims the first address
        (f"{VISITOR}, 172.18.0.9", VISITOR),  # two trusted proxies
        (f"{VISITOR}, nonsense", PROXY),
        ("127.0.0.1", "127.0.0.1"),
        ("2001:db8::7", "2001:db8::7"),
    ],
)
def test_the_visitor_is_the_client_of_the_outermost_trusted_proxy(forwarded_for: str, found: str) -> None:
    assert meta_after(PROXY, x_forwarded_for=forwarded_for)["REMOTE_ADDR"] == found


@pytest.mark.parametrize(
    ("sender", "ours"),
    [("127.0.0.1", True), ("::1", True), ("", True), ("::ffff:172.18.0.5", True), ("172.15.0.5", False), ("x", False)],
)
def test_trusted_proxies_are_the_named_ones_and_this_machine(sender: str, ours: bool) -> None:
    assert request_limits.is_ours(sender) == ours


def test_an_unknown_proxy_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            meta_after("203.0.113.77", x_forwarded_proto="https")
    assert [record.message.count("TRUSTED_PROXIES") for record in caplog.records] == [1]


def test_only_a_trusted_proxy_can_say_that_a_request_is_https(settings: object) -> None:
    settings.SECURE_SSL_REDIRECT = True  # type: ignore[attr-defined]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")  # type: ignore[attr-defined]
    said = {"x-forwarded-proto": "https"}
    assert Client(REMOTE_ADDR=PROXY).get("/docs/nothing/", headers=said).status_code == 404
    assert Client(REMOTE_ADDR=STRANGER).get("/docs/nothing/", headers=said).status_code == 301


@pytest.mark.django_db
def test_a_body_above_the_limit_is_refused_before_it_is_read(client: Client, settings: object) -> None:
    settings.UPLOAD_MB = 1  # type: ignore[attr-defined]
    page = client.post("/accounts/login/", {"login": "x" * 1_000_000})
    assert page.status_code == 413
    assert "The file is too large" in page.text
    assert client.post("/accounts/login/", {"login": "x" * 990_000}).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("length", ["", "many", "-1"])
def test_an_invalid_content_length_causes_no_error(client: Client, length: str) -> None:
    assert client.get("/", CONTENT_LENGTH=length).status_code == 200


# Uploads by route


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/", "/accounts/login/", "/datasets/new/", "/datasets/new/import/", "/submissions/new/"]
)
def test_a_large_body_of_a_stranger_is_refused_without_reading_it(client: Client, path: str) -> None:
    body = b"x" * 1_000_001
    answer = client.generic("POST", path, body, content_type="multipart/form-data; boundary=x")
    assert answer.status_code in (403, 413)
    assert len(answer.wsgi_request.read()) == len(body)


@pytest.mark.django_db
@pytest.mark.parametrize(("token", "status"), [("", 401), ("Bearer hs_nothing", 401), ("Basic x", 401)])
def test_a_large_body_of_a_stranger_is_refused_by_the_api(client: Client, token: str, status: int) -> None:
    headers = {"Authorization": token} if token else {}
    answer = client.generic("POST", "/api/v1/submissions/", b"x" * 1_000_001, headers=headers)
    assert answer.status_code == status


@pytest.mark.django_db
def test_the_web_server_gets_the_upload_limit_of_a_researcher(client: Client, settings: object) -> None:
    user = User.objects.create_user("ada")
    client.force_login(user)
    asked = {request_limits.HEADERS_ONLY: True, "CONTENT_LENGTH": "2000000"}
    assert client.generic("POST", "/datasets/new/", **asked).status_code == 403
    user.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
    answer = client.generic("POST", "/datasets/new/", **asked)
    assert answer.status_code == 204
    assert answer.wsgi_request.META[request_limits.UPLOAD_BYTES] == settings.UPLOAD_MB * 1_000_000  # type: ignore[attr-defined]
    assert client.generic("POST", "/account/", **asked).status_code == 413


# The host of a request


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("127.0.0.1:80", 200), ("127.0.0.1:1", 400), ("localhost:9999", 400), ("evil.example", 400)],
)
def test_a_host_with_a_wrong_port_is_refused(client: Client, host: str, status: int) -> None:
    assert client.get("/docs/", headers={"Host": host}).status_code == status


@pytest.mark.django_db
def test_a_host_with_the_port_of_the_public_address_is_accepted(client: Client, settings: object) -> None:
    settings.PUBLIC_URL = "https://localhost:8443"  # type: ignore[attr-defined]
    assert client.get("/docs/", headers={"Host": "localhost:8443"}).status_code == 200


def test_absolute_links_are_made_in_one_place() -> None:
    asking = re.compile(r"build_absolute_uri|get_host\(|get_current_site|get_port\(")
    found = {
        str(path.relative_to(ROOT))
        for folder in ("webapp", "generation", "annotations")
        for path in (ROOT / folder).rglob("*.py")
        if asking.search(path.read_text())
    }
    assert found == {"generation/site_addresses.py", "webapp/running/request_limits.py"}
