"""An outage is logged in one line when it begins, and in one line when it ends."""

import logging
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
import redis
from django.conf import LazySettings
from django.db import OperationalError
from django.db.backends.signals import connection_created
from django.test import RequestFactory

from generation.queue import outages
from generation.queue.job_processes import Listener
from webapp.monitoring.log_masking import MaskingFormatter
from webapp.running import worker

log = logging.getLogger("generation.queue.test")


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Give the lines that the handler of the log writes, in a process without outages."""
    monkeypatch.setattr(outages, "here", outages.OutageLog())
    found: list[str] = []
    handler = logging.StreamHandler()
    handler.addFilter(outages.OutageFilter())
    handler.setFormatter(MaskingFormatter("{levelname} {message}", style="{"))
    handler.emit = lambda record: found.extend(handler.format(record).splitlines())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    yield found
    logging.getLogger().removeHandler(handler)


def fail(error: Exception, *, times: int = 3, logger: logging.Logger = log) -> None:
    for _ in range(times):
        try:
            raise error
        except type(error):
            logger.error("It went wrong", exc_info=True)


def test_an_outage_is_one_line_when_it_begins_and_one_when_it_ends(lines: list[str]) -> None:
    fail(OperationalError("connection refused"))
    connection_created.send(None)
    connection_created.send(None)
    assert lines == [
        "WARNING Waiting for the database: connection refused. Once that is mended, it goes on by itself.",
        "WARNING No longer waiting for the database, after 1 s.",
    ]


def test_other_errors_keep_their_tracebacks(lines: list[str]) -> None:
    fail(OperationalError("connection refused"), times=1)
    fail(ZeroDivisionError("division by zero"), times=2)
    assert sum(line.startswith("Traceback") for line in lines) == 2


def test_outages_of_different_things_are_different(lines: list[str]) -> None:
    fail(OperationalError("refused"))
    fail(redis.ConnectionError("refused"))
    outages.here.end(outages.STORE, outages.REDIS)
    assert [line.removeprefix("WARNING ").split(":")[0] for line in lines] == [
        "Waiting for the database",
        "Waiting for Redis",
        "No longer waiting for Redis, after 1 s.",
    ]


def test_an_outage_that_flickers_is_logged_once_until_it_is_quiet(
    lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        fail(OperationalError("refused"))
        outages.here.end(outages.DATABASE)
    assert len(lines) == 2
    monkeypatch.setattr(outages, "FLICKER", 0.0)
    fail(OperationalError("refused"))
    assert len(lines) == 3


def test_an_outage_whose_end_nobody_noticed_is_logged_again(lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "AGAIN", 0.0)
    fail(OperationalError("refused"), times=2)
    assert len(lines) == 2


def test_what_celery_logs_again_and_again_about_the_broker_is_one_line(
    lines: list[str], settings: LazySettings
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1"
    for number in range(5):
        logging.getLogger("celery.worker.consumer.consumer").error("Cannot connect to redis.\nAgain, %s.", number)
    fail(redis.ResponseError("READONLY"), logger=logging.getLogger("celery.worker"))
    assert len(lines) == 1 and lines[0].startswith("WARNING Waiting for Redis: Cannot connect to redis. Again, 0.")


def test_pages_that_answer_503_in_an_outage_are_not_logged(lines: list[str]) -> None:
    page = {"status_code": 503}
    logging.getLogger("django.request").error("Service Unavailable: %s", "/", extra=page)
    fail(OperationalError("refused"))
    logging.getLogger("django.request").error("Service Unavailable: %s", "/", extra=page)
    assert [line.split(":")[0] for line in lines] == ["ERROR Service Unavailable", "WARNING Waiting for the database"]


def test_a_red_health_page_writes_no_line_although_no_outage_is_known(lines: list[str], rf: RequestFactory) -> None:
    for path in ("/health/", "/health/ready/", "/datasets/"):
        page = {"status_code": 503, "request": rf.get(path)}
        logging.getLogger("django.request").error("Service Unavailable: %s", path, extra=page)
    assert lines == ["ERROR Service Unavailable: /datasets/"]


def test_a_listener_that_has_logged_the_outage_itself_causes_no_second_line(lines: list[str]) -> None:
    for status in (outages.LOGGED_STATUS, 1):
        Listener("listener", lambda: None)._note_end(status)
        assert outages.here.is_away(outages.broker()) and lines == []
    outages.here.forget(outages.broker())
    Listener("listener", lambda: None)._note_end(1)
    assert len(lines) == 1 and "ended with exit status 1" in lines[0]


@pytest.mark.parametrize("is_away", [True, False])
def test_a_listener_ends_with_the_status_of_an_outage_only_in_an_outage(
    is_away: bool, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.app, "worker_main", lambda arguments: None)
    if is_away:
        outages.here.begin(outages.broker())
    with pytest.raises(SystemExit, match="75") if is_away else nullcontext():
        worker.listen("default")
