"""The access log: one line for each request, readable by programs, and without private data."""

import json
import logging
import re
from typing import Any

import pytest
from django.test import Client

from webapp.monitoring import request_log

pytestmark = pytest.mark.django_db
COMBINED = re.compile(r'(\S+) - - \[[^\]]+\] "(\S+) (\S+) (HTTP/[\d.]+)" (\d{3}) (\d+|-) "-" "([^"]*)"')


@pytest.fixture
def lines(settings: Any) -> Any:
    """Give the list of lines that are written to the access log."""
    found: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(self.format(record))

    handler = Keep()
    request_log.log.addHandler(handler)
    settings.ACCESS_LOG = request_log.JSON
    yield found
    request_log.log.removeHandler(handler)


def test_each_request_is_one_line_of_json(client: Client, lines: list[str]) -> None:
    client.get("/docs/running/?a=1", headers={"user-agent": 'evil\n"agent"'})
    client.get("/nothing/")
    client.post("/accounts/login/", {"login": "grace", "password": "a secret"})
    first, second, third = map(json.loads, lines)
    assert (first["method"], first["path"], first["route"], first["status"]) == (
        "GET", "/docs/running/?a=1", "docs_page", 200,
    )  # fmt: skip
    assert first["bytes"] > 1000 and 0 <= first["seconds"] < 60 and first["address"] == "127.0.0.1"
    assert (second["status"], second["route"]) == (404, "none")
    assert third["path"] == "/accounts/login/" and "secret" not in lines[2]
    assert not [line for line in lines if "\n" in line]


def test_combined_lines_can_be_parsed_even_after_hostile_requests(
    client: Client, lines: list[str], settings: Any
) -> None:
    settings.ACCESS_LOG = request_log.COMBINED
    client.get("/docs/", headers={"user-agent": 'evil\r\n127.0.0.1 - - "GET / HTTP/1.1" 200 1 \\" \x1b[31m'})
    client.get("/docs/%0a%22/?q=\"'\x7f")
    for line in lines:
        assert COMBINED.fullmatch(line), line
        assert line.isprintable()


def test_nothing_is_written_if_the_log_is_off(client: Client, lines: list[str], settings: Any) -> None:
    settings.ACCESS_LOG = request_log.OFF
    client.get("/docs/")
    assert lines == []


@pytest.mark.parametrize("form", [request_log.JSON, request_log.COMBINED])
@pytest.mark.parametrize(
    "path",
    [
        "/s/unseen/",
        "/s/unseen/?PROLIFIC_PID=unseen",
        "/s/unseen/unseen/answer/",
        "/login/unseen/",
        "/accounts/password/reset/key/3-unseen/",
        "/accounts/confirm-email/unseen/",
        "/accounts/oidc/main/login/callback/?code=unseen&state=unseen",
        "/datasets/?token=unseen&page=2",
        "/api/v1/datasets/?key=unseen",
    ],
)
def test_private_data_are_masked(client: Client, lines: list[str], settings: Any, form: str, path: str) -> None:
    settings.ACCESS_LOG = form
    client.get(path, REMOTE_ADDR="192.0.2.77", headers={"authorization": "Bearer unseen", "referer": "/s/unseen/"})
    [line] = lines
    assert "unseen" not in line
    if path.startswith("/s/"):
        assert "192.0.2.77" not in line
