"""The cache of the site: Redis, and while Redis does not work a file of this machine, and without both the memory.

Everything that is in the cache can be lost at any time without harm:

- the limits of sign-in, sign-up, password reset and mails (allauth), of the API, and of participants (`Throttle`) are
  counted here. They go on in the next store, so that an outage gives nobody unlimited attempts: it gives each machine
  (in memory: each process) one more allowance;
- the example on the front page, thumbnails of presets, easy questions and intervals of studies are computed again.

One-time links, API tokens, disclosure budgets and quotas are rows of the database, and never in the cache.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import RedisError
from redis.retry import Retry

from generation.queue import outages
from webapp.running.shared_cache import SharedFileCache

PATIENCE = 0.5  # seconds in which Redis must accept a connection, and answer a command
PAUSE = 5.0  # seconds after which a store that did not work is tried again
MOST_IN_MEMORY = 20_000  # entries
ERRORS = (RedisError, sqlite3.Error, OSError)
REDIS = {
    # Django's default serializer unpickles values, so anybody who can write to Redis could run code in this site.
    "serializer": "webapp.running.cache_serializer.JSONSerializer",
    "socket_timeout": PATIENCE,
    "socket_connect_timeout": PATIENCE,
    # A connection that Redis closed since its last use is opened again. A command that got no answer is not repeated.
    "retry": Retry(NoBackoff(), 1, supported_errors=(ConnectionLost,)),
}


class SiteCache(BaseCache):
    """A cache whose `LOCATION` is the address of Redis, or empty; the option `file` is the path of its file."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        same = {"KEY_FUNCTION": _unchanged, "TIMEOUT": self.default_timeout}
        file = str(params["OPTIONS"]["file"])
        self._stores = [_Store(SharedFileCache(file, same), _outage_of(f"the file {file}", file))]
        if location:
            redis = RedisCache(location, same | {"OPTIONS": REDIS})
            self._stores.insert(0, _Store(redis, _outage_of(outages.REDIS, location)))
        self._memory = LocMemCache(file, same | {"OPTIONS": {"MAX_ENTRIES": MOST_IN_MEMORY}})

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        return self._call("get", self._name(key, version), default)

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self._call("set", self._name(key, version), value, timeout)

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return bool(self._call("add", self._name(key, version), value, timeout))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        return int(self._call("incr", self._name(key, version), delta))

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return bool(self._call("touch", self._name(key, version), timeout))

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(self._call("delete", self._name(key, version)))

    def clear(self) -> None:
        self._call("clear")

    def trouble(self) -> str:
        return self._stores[0].trouble()

    def _name(self, key: str, version: int | None) -> str:
        return self.make_and_validate_key(key, version=version)

    def _call(self, operation: str, *values: Any) -> Any:
        """Call a method of the first store that works."""
        for store in self._working():
            try:
                return getattr(store.cache, operation)(*values)
            except ERRORS as error:
                store.outage.begin(error)
        return getattr(self._memory, operation)(*values)

    def _working(self) -> Iterator["_Store"]:
        return (store for store in self._stores if store.outage.is_over(store.probe))


class _Store(NamedTuple):
    cache: BaseCache
    outage: "_Outage"

    def probe(self) -> None:
        # It writes, because a full Redis and a read-only file still answer reads.
        self.cache.set("probe", 1, 60)

    def trouble(self) -> str:
        try:
            if self.outage.is_over(self.probe):
                self.probe()
                return ""
        except ERRORS as error:
            self.outage.begin(error)
        name = self.outage.name
        return f"{name[0].upper()}{name[1:]} does not work. Limits are counted without it meanwhile."


class _Outage:
    """Remembers in a process that a store does not work, so that a request need not find it out for every value."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_away = False
        self._next = 0.0
        self._probing = threading.Lock()

    def begin(self, error: Exception) -> None:
        self._next = time.monotonic() + PAUSE
        self.is_away = True
        outages.note(self.name, error, meanwhile="another store replaces it as the cache")

    def is_over(self, probe: Callable[[], None]) -> bool:
        """Return whether the store works. During an outage, one request in `PAUSE` seconds probes it."""
        if not self.is_away:
            return True
        if time.monotonic() < self._next or not self._probing.acquire(blocking=False):
            return False
        try:
            probe()
        except ERRORS as error:
            self.begin(error)
            return False
        finally:
            self._probing.release()
        self.is_away = False
        outages.here.end(self.name)
        return True


_outages: dict[str, _Outage] = {}  # Django makes a cache for each thread


def _outage_of(name: str, location: str) -> _Outage:
    return _outages.setdefault(location, _Outage(name))


def _unchanged(key: str, prefix: str, version: int) -> str:
    return key  # `SiteCache` has added the prefix and the version
