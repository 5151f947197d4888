"""Participants' addresses are private: no log contains them, and no answer allows them to be sent on or stored."""

import http.client
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from tests.faults.caddy import Proxy
from tests.faults.servers import free_port
from tests.faults.stack import Site
from tests.faults.studies import begin_study

NAME, VISIT = "pid-5e1f0d7ac2", "visit-93b2f8e1"  # in the form of a platform
QUERY = f"?PROLIFIC_PID={NAME}&STUDY_ID=st-77&SESSION_ID={VISIT}"


class Answer(NamedTuple):
    """The site's answer to a request."""

    status: int
    headers: http.client.HTTPMessage
    body: str

    @property
    def is_private(self) -> bool:
        """Return whether the headers forbid caches to store the answer and browsers to send its address on."""
        return self.headers["Referrer-Policy"] == "no-referrer" and "no-store" in self.headers["Cache-Control"]


def ask(port: int, method: str, path: str, body: str | None = None, **headers: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        sent = {"Content-Type": "application/x-www-form-urlencoded", **headers} if body is not None else headers
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read().decode())
    finally:
        connection.close()


def logs(site: Site) -> str:
    return "".join(log.read_text() for log in site.folder.parent.glob("logs/*.log"))


def test_logs_of_the_web_server_have_neither_secrets_nor_platform_ids(embedded_site: Site) -> None:
    site = embedded_site
    code = begin_study(site, questions=2)
    site.environment.update(GUNICORN_CMD_ARGS="--access-logfile -", LOG_LEVEL="DEBUG", UPLOAD_MB="1")
    site.start("web")
    site.wait_for_web("/health/web/")
    address = ask(site.port, "GET", f"/s/{code}/{QUERY}").headers["Location"]
    secret = address.split("/")[3]
    form = urlencode({"token": "x", "comment": secret})
    refused = [
        ask(site.port, "GET", f"/s/{code}/?PROLIFIC_PID={NAME}"),  # comes again without the secret link
        ask(site.port, "GET", f"/s/{code}/?PROLIFIC_PID={NAME}%0a"),
        ask(site.port, "GET", f"/s/{code}/{secret}x/"),
        ask(site.port, "GET", f"{address}there/is/nothing/"),
        ask(site.port, "GET", f"{address}picture/x/"),
        ask(site.port, "DELETE", address),
        ask(site.port, "POST", f"{address}answer/", form),
        ask(site.port, "POST", f"{address}answer/", "x" * 100_000),
        ask(site.port, "POST", f"{address}answer/", "x" * 1_100_000),
        ask(site.port, "POST", f"{address}on/", "x=%FF", **{"Content-Type": "x-www-form-urlencoded; charset=utf-16"}),
        ask(site.port, "GET", address, Host="elsewhere.example"),
    ]
    assert {answer.status for answer in refused} == {400, 403, 404, 405, 409, 413}
    moved = ask(site.port, "GET", f"/s/{code}{QUERY}")
    assert moved.status == 301
    site.tell("ALTER TABLE annotations_participant RENAME TO gone")
    broken = [ask(site.port, "GET", address), ask(site.port, "GET", f"/s/{code}/{QUERY}")]
    assert {answer.status for answer in broken} == {503}
    assert [answer for answer in (*refused, moved, *broken) if not answer.is_private] == []
    written = logs(site)
    assert written.count("/s/…") > 20 and "OperationalError" in written  # the logs are not empty
    for private in (secret, NAME, VISIT, code):
        assert private not in written


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    """Give a proxy whose site is down; it logs every request."""
    with Proxy(tmp_path, site=free_port(), debug=True) as running:
        yield running


def test_a_proxy_whose_site_is_down_keeps_addresses_private_too(proxy: Proxy) -> None:
    port, log = proxy.port, proxy.log
    answer = ask(port, "GET", f"/s/codecodeco/{QUERY}", Host=f"localhost:{port}", Referer="/s/codecodeco/x/")
    assert answer.status == 503 and answer.is_private
    for address in ("login", "accounts/password/reset/key", "accounts/confirm-email", "accounts/oidc"):
        ask(port, "GET", f"/{address}/codecodeco/?code=codecodeco", Host=f"localhost:{port}")
    written = log.read_text()
    assert written.count('"uri":"/s/…"') > 1 and '"uri":"/login/…"' in written
    assert not any(private in written for private in (NAME, VISIT, "codecodeco"))
