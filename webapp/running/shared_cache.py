"""A cache in a SQLite file, shared by all processes of a site on one machine, for sites without Redis.

Rate limits are counted here. Therefore `add` and `incr` are atomic, each entry has its own expiry time, and a full
cache deletes the entries that would expire first. Values must be JSON. If the file can't be used, every operation
raises `sqlite3.Error` or `OSError`; `SiteCache` then uses another store.
"""

import json
import os
import random
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache

MOST = 200_000  # the largest number of entries
TIDIES = 1000  # on average, one of this many writes deletes expired entries
FOR_EVER = 9e15  # seconds since 1970: the expiry time of entries that never expire
PATIENCE = 1.0  # seconds that a statement waits for the locks of other processes
SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value, expires REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_expiry ON entries (expires);
"""
PUT = "INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, "


class SharedFileCache(BaseCache):
    """A cache whose `LOCATION` is the path of its file."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._path, self._process = Path(location), 0
        self._file: sqlite3.Connection | None = None

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        found = self._ask("SELECT value FROM entries WHERE key = ? AND expires > ?", self._name(key, version), _now())
        return _read(found[0][0]) if found else default

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        parts = (self._name(key, version), _written(value), self._end(timeout))
        self._ask(f"{PUT} expires = excluded.expires", *parts)
        self._tidy_up()

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Store a value unless the key already has one; return whether the value was stored."""
        parts = (self._name(key, version), _written(value), self._end(timeout), _now())
        sql = f"{PUT} expires = excluded.expires WHERE entries.expires <= ? RETURNING 1"
        self._tidy_up()
        return bool(self._ask(sql, *parts))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Add `delta` to the integer stored under a key and return the sum; raise `ValueError` if there is none."""
        sql = "UPDATE entries SET value = value + ? WHERE key = ? AND expires > ? RETURNING value"
        found = self._ask(sql, delta, self._name(key, version), _now())
        if not found:
            raise ValueError(f"Expected a number under {key!r}, got nothing.")
        return int(found[0][0])

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        sql = "UPDATE entries SET expires = ? WHERE key = ? AND expires > ? RETURNING 1"
        return bool(self._ask(sql, self._end(timeout), self._name(key, version), _now()))

    def delete(self, key: str, version: int | None = None) -> bool:
        sql = "DELETE FROM entries WHERE key = ? RETURNING expires > ?"
        found = self._ask(sql, self._name(key, version), _now())
        return bool(found and found[0][0])

    def clear(self) -> None:
        self._ask("DELETE FROM entries")

    def _name(self, key: str, version: int | None) -> str:
        return self.make_and_validate_key(key, version=version)

    def _end(self, timeout: Any) -> float:
        moment = self.get_backend_timeout(timeout)
        return FOR_EVER if moment is None else moment

    def _tidy_up(self) -> None:
        """Sometimes delete expired entries, and if there are too many entries, also those that would expire first."""
        if random.randrange(TIDIES):  # noqa: S311 - it only decides when entries are deleted
            return
        self._ask("DELETE FROM entries WHERE expires <= ?", _now())
        [(n,)] = self._ask("SELECT COUNT(*) FROM entries") or [(0,)]
        if n > MOST:
            first = "SELECT key FROM entries ORDER BY expires LIMIT ?"
            self._ask(f"DELETE FROM entries WHERE key IN ({first})", n - MOST * 9 // 10)  # noqa: S608 - no values

    def _ask(self, sql: str, *values: Any) -> Sequence[Any]:
        """Execute a statement and return its rows."""
        try:
            return self._open().execute(sql, values).fetchall()
        except sqlite3.Error as error:
            self._give_up(is_broken=not isinstance(error, sqlite3.OperationalError))
            raise

    def _open(self) -> sqlite3.Connection:
        if self._file is None or self._process != os.getpid():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            opened = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)
            opened.execute("PRAGMA journal_mode=WAL")
            opened.execute("PRAGMA synchronous=OFF")
            opened.executescript(SCHEMA)
            self._file, self._process = opened, os.getpid()
        return self._file

    def _give_up(self, *, is_broken: bool) -> None:
        """Drop the connection, so that the next call opens the file again; delete the file if it is not a database."""
        self._file = None
        if is_broken:
            for ending in ("", "-wal", "-shm"):
                Path(f"{self._path}{ending}").unlink(missing_ok=True)


def _now() -> float:
    return time.time()


def _written(value: Any) -> Any:
    return value if type(value) is int else json.dumps(value)  # integers stay, so that they can be incremented


def _read(kept: Any) -> Any:
    return kept if isinstance(kept, int) else json.loads(kept)
