"""Probes for public health pages; each probe runs at most once every few seconds, however often it is requested."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import Generic, TypeVar

from django.conf import settings
from django.core.cache import caches
from django.db import DEFAULT_DB_ALIAS, Error, connection

from generation.storage import files
from webapp.backups import schema
from webapp.running.site_cache import SiteCache

T = TypeVar("T")
LIMIT = 5.0  # seconds in which the storage must answer
PROBE = files.draft_name("health")  # a hidden name, so that backups skip it and housekeeping deletes leftovers
CONTENT = b"Can be written, read and removed.\n"


class KeptResult(Generic[T]):
    """A result that is cached for some seconds; while one thread computes it again, other threads wait."""

    def __init__(self, make: Callable[[], T], *, seconds: Callable[[], float]) -> None:
        self.make, self.seconds = make, seconds
        self.lock = threading.Lock()
        self.result: T | None = None
        self.until = 0.0

    def get(self) -> T:
        """Return the cached result, or compute it again if it is too old."""
        with self.lock:
            if self.result is None or time.monotonic() >= self.until:
                self.result = self.make()
                self.until = time.monotonic() + self.seconds()
            return self.result


class StoreProbe:
    """Writes, reads and deletes a small file in the storage; this runs in a thread of its own, because it may hang."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="health")
        self.running: Future[str] | None = None

    def trouble(self) -> str:
        """Return in a few words what is wrong; return an empty string if nothing is wrong."""
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
    except files.NoSpace:  # the part `disk` of the health report shows this
        return ""
    except Exception as error:  # any error of a bucket's client or disk means that files can't be stored
        return type(error).__name__
    return "" if found == CONTENT else "something else than was written"


stopping = threading.Event()  # the web worker sets this before it stops accepting connections


def readiness() -> dict[str, str]:
    return {"database": _database_trouble(), "cache": _cache_trouble()}


def _database_trouble() -> str:
    try:
        outdated = _is_outdated()
    except Error as error:
        return f"Expected an answer, got {type(error).__name__}."
    return "Expected a database that fits this release, got an older one. It waits for manage.py upgrade." * outdated


class _Fits:
    known = False  # a database that is up to date stays so while the process lives


def _is_outdated() -> bool:
    if not _Fits.known:
        _Fits.known = not schema.is_outdated(schema.migrations_of(DEFAULT_DB_ALIAS))
        return not _Fits.known
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return False


def _cache_trouble() -> str:
    cache = caches["default"]
    return cache.trouble() if isinstance(cache, SiteCache) else ""


store = KeptResult(StoreProbe().trouble, seconds=lambda: settings.STORE_PROBE_SECONDS)
ready = KeptResult(readiness, seconds=lambda: settings.HEALTH_SECONDS)
