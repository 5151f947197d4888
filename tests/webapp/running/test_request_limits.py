"""Who is believed about where a request comes from, and how large one may be."""

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
    """Trust one network besides this machine."""
    settings.TRUSTED_PROXIES = [*LOOPBACK, *networks(["172.16.0.0/12"])]  # type: ignore[attr-defined]


def meta_after(sender: str, **headers: str) -> dict[str, str]:
    """Return what the site gets to know of a request."""
    request = RequestFactory().get("/", REMOTE_ADDR=sender, headers=headers)
    request_limits.OurProxies(lambda request: None)(request)  # type: ignore[arg-type, return-value]
    return request.META


def test_our_proxy_is_believed() -> None:
    meta = meta_after(PROXY, x_forwarded_for=VISITOR, x_forwarded_proto="https")
    assert (meta["REMOTE_ADDR"], meta["HTTP_X_FORWARDED_PROTO"]) == (VISITOR, "https")


@pytest.mark.parametrize("name", ["x_forwarded_for", "x_forwarded_proto", "x_forwarded_host", "forwarded"])
def test_a_stranger_is_not_believed(name: str) -> None:
    meta = meta_after(STRANGER, **{name: "https"})
    assert meta["REMOTE_ADDR"] == STRANGER
    assert f"HTTP_{name.upper()}" not in meta


@pytest.mark.parametrize(
    ("forwarded_for", "found"),
    [
        ("", PROXY),
        (f"{STRANGER}, {VISITOR}", VISITOR),  # the first is what the visitor claims
        (f"{VISITOR}, 172.18.0.9", VISITOR),  # two proxies of ours
        (f"{VISITOR}, nonsense", PROXY),
        ("127.0.0.1", "127.0.0.1"),
        ("2001:db8::7", "2001:db8::7"),
    ],
)
def test_the_visitor_is_whom_our_outermost_proxy_was_asked_by(forwarded_for: str, found: str) -> None:
    assert meta_after(PROXY, x_forwarded_for=forwarded_for)["REMOTE_ADDR"] == found


@pytest.mark.parametrize(
    ("sender", "ours"),
    [("127.0.0.1", True), ("::1", True), ("", True), ("::ffff:172.18.0.5", True), ("172.15.0.5", False), ("x", False)],
)
def test_ours_are_the_named_ones_and_this_machine(sender: str, ours: bool) -> None:
    assert request_limits.is_ours(sender) == ours


def test_a_proxy_that_was_not_named_is_hinted_at_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            meta_after("203.0.113.77", x_forwarded_proto="https")
    assert [record.message.count("TRUSTED_PROXIES") for record in caplog.records] == [1]


def test_https_is_what_our_proxy_says_and_no_stranger(settings: object) -> None:
    settings.SECURE_SSL_REDIRECT = True  # type: ignore[attr-defined]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")  # type: ignore[attr-defined]
    said = {"x-forwarded-proto": "https"}
    assert Client(REMOTE_ADDR=PROXY).get("/docs/nothing/", headers=said).status_code == 404
    assert Client(REMOTE_ADDR=STRANGER).get("/docs/nothing/", headers=said).status_code == 301


@pytest.mark.django_db
def test_what_is_larger_than_the_limit_is_refused_before_it_is_read(client: Client, settings: object) -> None:
    settings.UPLOAD_MB = 1  # type: ignore[attr-defined]
    page = client.post("/accounts/login/", {"login": "x" * 1_000_000})
    assert page.status_code == 413
    assert "The file is too large" in page.text
    assert client.post("/accounts/login/", {"login": "x" * 990_000}).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("length", ["", "many", "-1"])
def test_a_length_that_is_none_is_left_to_others(client: Client, length: str) -> None:
    assert client.get("/", CONTENT_LENGTH=length).status_code == 200


# Uploads by route


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/", "/accounts/login/", "/datasets/new/", "/datasets/new/import/", "/submissions/new/"]
)
def test_a_strangers_large_body_is_refused_unread(client: Client, path: str) -> None:
    body = b"x" * 1_000_001
    answer = client.generic("POST", path, body, content_type="multipart/form-data; boundary=x")
    assert answer.status_code in (403, 413)
    assert len(answer.wsgi_request.read()) == len(body)


@pytest.mark.django_db
@pytest.mark.parametrize(("token", "status"), [("", 401), ("Bearer hs_nothing", 401), ("Basic x", 401)])
def test_a_strangers_large_body_is_refused_by_the_api(client: Client, token: str, status: int) -> None:
    headers = {"Authorization": token} if token else {}
    answer = client.generic("POST", "/api/v1/submissions/", b"x" * 1_000_001, headers=headers)
    assert answer.status_code == status


@pytest.mark.django_db
def test_the_web_server_learns_how_much_a_researcher_may_send(client: Client, settings: object) -> None:
    user = User.objects.create_user("ada")
    client.force_login(user)
    asked = {request_limits.HEADERS_ONLY: True, "CONTENT_LENGTH": "2000000"}
    assert client.generic("POST", "/datasets/new/", **asked).status_code == 403
    user.groups.add(Group.objects.get(name=RESEARCHERS))
    answer = client.generic("POST", "/datasets/new/", **asked)
    assert answer.status_code == 204
    assert answer.wsgi_request.META[request_limits.UPLOAD_BYTES] == settings.UPLOAD_MB * 1_000_000  # type: ignore[attr-defined]
    assert client.generic("POST", "/account/", **asked).status_code == 413


# The host that somebody names


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("127.0.0.1:80", 200), ("127.0.0.1:1", 400), ("localhost:9999", 400), ("evil.example", 400)],
)
def test_a_port_at_which_the_site_is_not_reached_is_refused(client: Client, host: str, status: int) -> None:
    assert client.get("/docs/", headers={"Host": host}).status_code == status


@pytest.mark.django_db
def test_the_port_of_the_public_address_is_known(client: Client, settings: object) -> None:
    settings.PUBLIC_URL = "https://localhost:8443"  # type: ignore[attr-defined]
    assert client.get("/docs/", headers={"Host": "localhost:8443"}).status_code == 200


def test_links_that_leave_the_site_are_made_in_one_place() -> None:
    asking = re.compile(r"build_absolute_uri|get_host\(|get_current_site|get_port\(")
    found = {
        str(path.relative_to(ROOT))
        for folder in ("webapp", "generation", "annotations")
        for path in (ROOT / folder).rglob("*.py")
        if asking.search(path.read_text())
    }
    assert found == {"generation/site_addresses.py", "webapp/running/request_limits.py"}
