"""Reports of errors: their content, their number, and the data that never leaves the site."""

import gzip
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from tests.webapp.commands import manage, run_python
from webapp import views
from webapp.monitoring import error_reports
from webapp.monitoring.error_reports import Reporter, describe

SECRET = "unseen"


@pytest.fixture
def reporter(settings: Any) -> Iterator[Reporter]:
    """Make the site mail its errors, and give the handler that does this."""
    settings.ERROR_EMAILS = ["grace@example.org"]
    handler = Reporter()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def sentry(settings: Any) -> Iterator[list[dict[str, Any]]]:
    """Give the list of events that a Sentry server on this machine receives."""
    received: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            text = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
            received.extend(json.loads(line) for line in text.splitlines())
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.SENTRY_DSN = f"http://key@127.0.0.1:{server.server_port}/1"
    yield received
    server.shutdown()
    server.server_close()


def fails(*_: Any, **__: Any) -> None:
    answer = SECRET
    try:
        raise KeyError(f"the answer was {answer}")
    except KeyError as error:
        raise ValueError(f"Expected another answer, got {answer}.") from error


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, client: Client) -> Client:
    """Return a client of a site whose front page fails."""
    monkeypatch.setattr(views, "newest_cards", fails)
    client.raise_request_exception = False
    return client


def ask(client: Client) -> None:
    headers = {"authorization": f"Bearer {SECRET}", "user-agent": SECRET, "referer": f"/s/{SECRET}/"}
    client.cookies["sessionid"] = SECRET
    assert client.get(f"/?answer={SECRET}", headers=headers).status_code == 500


@pytest.mark.django_db
def test_an_error_is_mailed_with_its_place_but_without_data_of_the_request(reporter: Reporter, broken: Client) -> None:
    ask(broken)
    [sent] = mail.outbox
    assert sent.to == ["grace@example.org"]
    assert sent.subject == "[Horsesense] builtins.ValueError in GET home"
    assert "tests/webapp/monitoring/test_error_reports.py:" in sent.body and "in fails" in sent.body
    assert "webapp/views.py:" in sent.body and "builtins.KeyError" in sent.body
    assert SECRET not in sent.subject + sent.body


@pytest.mark.django_db
def test_sentry_gets_the_same_report(
    reporter: Reporter, broken: Client, sentry: list[dict[str, Any]], settings: Any
) -> None:
    settings.ERROR_EMAILS = []
    ask(broken)
    error_reports._sentry(settings.SENTRY_DSN).flush(timeout=20)
    [event] = [part for part in sentry if "exception" in part]
    assert [value["type"] for value in event["exception"]["values"]] == ["KeyError", "ValueError"]
    assert event["exception"]["values"][-1]["stacktrace"]["frames"][-1]["function"] == "fails"
    assert event["transaction"] == "GET home" and event["release"].startswith("horsesense@")
    assert SECRET not in json.dumps(sentry)
    assert not {"request", "user", "breadcrumbs", "extra"} & set(event)
    assert mail.outbox == []


@pytest.mark.django_db
def test_the_same_error_is_reported_once_and_the_number_of_reports_is_limited(
    reporter: Reporter, broken: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        ask(broken)
    assert len(mail.outbox) == 1
    for number in range(100):
        logging.getLogger("webapp").error(f"Another error {number}")
    assert len(mail.outbox) == error_reports.MOST
    monkeypatch.setattr(error_reports, "AGAIN", 0.0)
    ask(broken)
    assert len(mail.outbox) == error_reports.MOST + 1


def test_warnings_and_arguments_of_messages_are_not_reported(reporter: Reporter) -> None:
    logging.getLogger("webapp").warning("Only a warning")
    assert mail.outbox == []
    logging.getLogger("elsewhere").error(f"Said {SECRET}")
    logging.getLogger("elsewhere").error("Said %s to %s", SECRET, SECRET)
    logging.getLogger("webapp").error("Not Found: /s/%s/", SECRET, exc_info=ValueError(SECRET))
    assert len(mail.outbox) == 3
    assert "Said %s to %s" in mail.outbox[1].body
    assert SECRET not in "".join(sent.subject + sent.body for sent in mail.outbox)


def test_a_missing_mail_server_causes_no_error(reporter: Reporter, settings: Any) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = (
        "django.core.mail.backends.smtp.EmailBackend", "127.0.0.1", 1,
    )  # fmt: skip
    logging.getLogger("webapp").error("Nobody hears of this.")


def test_errors_of_background_processes_are_described_by_their_logger() -> None:
    record = logging.LogRecord("celery.app.trace", logging.ERROR, "x.py", 1, "Task %(name)s: %(exc)s", None, None)
    assert describe(record).place == "celery.app.trace"


def test_a_site_has_the_handler_only_with_one_of_the_two_settings(
    site_environment: dict[str, str], tmp_path: Path
) -> None:
    show = (
        "import logging; from django.conf import settings; from django.utils.log import configure_logging; "
        "configure_logging(settings.LOGGING_CONFIG, settings.LOGGING); "  # as `django.setup` does before it loads apps
        "print([type(handler).__name__ for handler in logging.getLogger().handlers])"
    )
    django = {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    for name, value, words in (
        ("LOG_LEVEL", "INFO", "['StreamHandler']"),
        ("ERROR_EMAILS", "a@example.org,b@example.org", "['StreamHandler', 'Reporter']"),
        ("SENTRY_DSN", "https://key@sentry.example.org/1", "['StreamHandler', 'Reporter']"),
    ):
        ended = run_python("-c", show, environment=site_environment | django | {name: value})
        assert words in ended.stdout, ended.stderr
    ended = manage("check", environment=site_environment | {"SENTRY_DSN": "nonsense"})
    assert ended.returncode != 0 and "SENTRY_DSN: expected https://key@host/number" in ended.stderr
