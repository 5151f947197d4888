"""One line in the log when an outage begins in a process, and one when it ends, with the time between.

Modules log the error of an outage like any other error, with `exc_info`. `OutageFilter`, which the handlers of the log
use, recognises it: the first record becomes one line without a traceback, and the others are left out until `end` is
called by code that finds that the thing answers again.
"""

import copy
import logging
import threading
import time
from typing import Any

from celery.signals import after_task_publish
from django.conf import settings
from django.db.backends.signals import connection_created

from generation.durations import duration

DATABASE, REDIS, STORE, DISK = "the database", "Redis", "the store of files", "disk space"
LOGGED = (DATABASE, REDIS, STORE, DISK)
FLICKER = 10.0  # seconds after its end within which the same outage is not logged again
AGAIN = 600.0  # seconds without an error after which an outage whose end nobody noticed counts as a new one
LOGGED_STATUS = 75  # exit status of a process that ends because of an outage that it has logged
MESSENGERS = ("celery.worker", "kombu")  # loggers of Celery, which try the broker again and again
HEALTH = "/health/"  # the beginning of the addresses of health pages

log = logging.getLogger(__name__)


class OutageLog:
    """The outages of this process that have begun and not ended."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begun: dict[str, float] = {}
        self.seen: dict[str, float] = {}
        self.ended: dict[str, float] = {}

    def begin(self, what: str) -> bool:
        """Note a sign of an outage; return whether it is the first one, which is logged."""
        now = time.monotonic()
        with self.lock:
            is_known = what in self.begun and now - self.seen[what] < AGAIN
            self.seen[what] = now
            if is_known or now - self.ended.get(what, -FLICKER) < FLICKER:
                return False
            self.begun[what] = now
            return True

    def end(self, *things: str) -> None:
        """Note that these things answer, and log the end of their outages."""
        for what in things:
            if what not in self.begun:  # nearly always
                continue
            with self.lock:
                begun = self.begun.pop(what, None)
                self.ended[what] = time.monotonic()
            if begun is not None:
                log.warning("No longer waiting for %s, after %s.", what, duration(time.monotonic() - begun))

    def is_away(self, what: str) -> bool:
        return what in self.begun

    def forget(self, what: str) -> None:
        # Another process has logged the end.
        self.begun.pop(what, None)


here = OutageLog()


def broker() -> str:
    return REDIS if settings.REDIS_URL else "the file of the broker"


def _end_of_database(**_: Any) -> None:
    here.end(DATABASE)


def _end_of_broker(**_: Any) -> None:
    here.end(broker())


connection_created.connect(_end_of_database)
after_task_publish.connect(_end_of_broker)


class OutageFilter(logging.Filter):
    """Lets one record of each outage pass, and all records that are not about an outage."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged. The answer is the same for each handler."""
        found = getattr(record, "is_logged", None)
        if found is None:
            found = record.is_logged = _decide(record)
        return bool(found)


def one_line(record: logging.LogRecord) -> logging.LogRecord:
    """Return the record of an outage as one line without a traceback, other records as they are."""
    outage = getattr(record, "outage", None)
    if outage is None:
        return record
    line = copy.copy(record)
    line.msg, line.args, line.exc_info, line.exc_text = str(outage), (), None, None
    line.levelno, line.levelname = logging.WARNING, "WARNING"
    return line


def _decide(record: logging.LogRecord) -> bool:
    if record.name == __name__ or record.levelno < logging.WARNING:
        return True
    outage = _outage_of(record)
    if outage is None or outage.what not in (*LOGGED, broker()):
        return not _is_consequence(record)
    record.outage = outage
    return here.begin(outage.what)


def _outage_of(record: logging.LogRecord) -> Any:
    from generation.queue.transient_errors import Outage, find_outage  # Django's settings are complete now

    error: Any = record.exc_info[1] if record.exc_info else None
    outage = find_outage(error) if error is not None else None
    if outage is not None:
        return outage
    words = " ".join(record.getMessage().split())
    is_broker = record.name.startswith(MESSENGERS) and ("onnect" in words or error is not None)
    return Outage(broker(), words[:200]) if is_broker else None


def _is_consequence(record: logging.LogRecord) -> bool:
    # Return whether a record only repeats what is known: a page answers 503 during an outage, or a health page is red.
    # Monitors ask health pages every few seconds, and read there what is wrong.
    if record.name != "django.request" or getattr(record, "status_code", 0) != 503:
        return False
    request = getattr(record, "request", None)
    return bool(here.begun) or (request is not None and request.path.startswith(HEALTH))


def note(what: str, error: Exception | str, *, meanwhile: str) -> None:
    # This is called for each sign of an outage; the first one is logged.
    if here.begin(what):
        words = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        log.warning("Waiting for %s: %s. Meanwhile, %s.", what, words, meanwhile)


def note_broker(error: Exception | str) -> None:
    note(broker(), error, meanwhile="work is found without messages")
