"""Probes that strangers may ask for as often as they like: each is made once in some seconds, for all of them."""

import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, Error, connection

from generation.storage import files
from webapp.backups import schema

T = TypeVar("T")
LIMIT = 5.0  # seconds in which the files have to answer
PROBE = files.draft_name("health")  # hidden, so that no backup takes it; what a killed process leaves is tidied away
CONTENT = b"Can be written, read and removed.\n"


class KeptResult(Generic[T]):
    """A result that is kept for some seconds; while it is made anew, others wait for it and make none."""

    def __init__(self, make: Callable[[], T], *, seconds: Callable[[], float]) -> None:
        self.make, self.seconds = make, seconds
        self.lock = threading.Lock()
        self.result: T | None = None
        self.until = 0.0

    def get(self) -> T:
        """Return the result, at most so many seconds old."""
        with self.lock:
            if self.result is None or time.monotonic() >= self.until:
                self.result = self.make()
                self.until = time.monotonic() + self.seconds()
            return self.result

    def forget(self) -> None:
        self.until = 0.0


class StoreProbe:
    """A small file written where pictures are kept, read and removed: by one thread, which may hang."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="health")
        self.running: Future[str] | None = None

    def trouble(self) -> str:
        """Return what is wrong in one word, or nothing."""
        if self.running is None or self.running.done():
            self.running = self.pool.submit(_write_and_read)
        try:
            return self.running.result(timeout=LIMIT)
        except StillRunning:
            return f"none within {LIMIT:.0f} s"


def _write_and_read() -> str:
    try:
        files.put(PROBE, CONTENT)
        try:
            found = files.get(PROBE)
        finally:
            files.drop(PROBE)
    except files.NoSpace:  # the part `disk` says so
        return ""
    except Exception as error:  # of a bucket's client, of a disk: whichever it is, files can't be kept
        return type(error).__name__
    return "" if found == CONTENT else "something else than was written"


stopping = threading.Event()  # set by the web server when it takes no more connections


def readiness() -> dict[str, str]:
    """Return what is wrong with each thing that a page needs, in words; empty strings where nothing is."""
    return {"database": _database_trouble(), "cache": _cache_trouble()}


def _database_trouble() -> str:
    try:
        outdated = _is_outdated()
    except Error as error:
        return f"Expected an answer, got {type(error).__name__}."
    return "Expected a database that fits this release, got an older one. It waits for manage.py upgrade." * outdated


class _Fits:
    """Whether the database was found to fit: it stays so while this process lives."""

    known = False


def _is_outdated() -> bool:
    if not _Fits.known:
        _Fits.known = not schema.is_outdated(schema.seen_by(DEFAULT_DB_ALIAS))
        return not _Fits.known
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return False


def _cache_trouble() -> str:
    key, value = f"ready-{PROBE}", secrets.token_hex(4)
    try:
        cache.set(key, value, 60)
        found: Any = cache.get(key)
    except Exception as error:  # of Redis' client
        return f"Expected an answer, got {type(error).__name__}."
    return "" if found == value else "Expected the cache to keep what it is given, got something else."


store = KeptResult(StoreProbe().trouble, seconds=lambda: settings.STORE_PROBE_SECONDS)
ready = KeptResult(readiness, seconds=lambda: settings.HEALTH_SECONDS)
