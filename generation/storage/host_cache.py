"""What each machine keeps in `VAR_DIR/cache` and can fetch or make again: at most `CACHE_GB` of it.

An entry is a folder or file directly in the cache or in one of its shelves (such as `questions`). The entries that were
used longest ago are removed first, and never one that a process holds open. Each machine does this for itself: when
something was added, and when it is tidied.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from django.conf import settings

from generation.storage import files

SHELVES = ("questions",)  # their files are entries
ELSEWHERE = ("charts",)  # have a bound of their own, see `charts_drawing`
HELD = "manifest.json"  # of a folder: who uses the folder holds a shared lock on this file


class Entry(NamedTuple):
    """Something in the cache: its place, its size in bytes and when it was last used."""

    path: Path
    size: int
    used: float


def folder() -> Path:
    return Path(settings.VAR_DIR, "cache")


def hold(place: Path) -> IO[bytes] | None:
    """Return an open file that keeps a folder of the cache from being removed while it is open, or None without it."""
    try:
        file = (place / HELD).open("rb")
    except FileNotFoundError:
        return None
    fcntl.flock(file, fcntl.LOCK_SH)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(file.fileno()), (place / HELD).stat()):
            os.utime(place / HELD)  # it is used now
            return file
    file.close()  # it was removed meanwhile
    return None


def make_room() -> int:
    """Return how many entries were removed, so that no more than `CACHE_GB` are kept; and what was left half-made."""
    drop_drafts()
    found = sorted(entries(), key=lambda entry: entry.used)
    excess = sum(entry.size for entry in found) - settings.CACHE_GB * files.GIB
    removed = 0
    for entry in found[:-1]:  # what was used last stays, however large it is
        if excess <= 0:
            break
        if remove(entry.path):
            excess -= entry.size
            removed += 1
    return removed


def entries() -> Iterator[Entry]:
    """Yield what is in the cache."""
    for place in (folder(), *(folder() / shelf for shelf in SHELVES)):
        with suppress(FileNotFoundError):
            for path in place.iterdir():
                if path.name not in SHELVES + ELSEWHERE and not path.name.startswith("."):
                    with suppress(FileNotFoundError):
                        yield _entry(path)


def _entry(path: Path) -> Entry:
    if not path.is_dir():
        state = path.stat()
        return Entry(path, state.st_size, state.st_mtime)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    mark = path / HELD
    return Entry(path, size, (mark if mark.exists() else path).stat().st_mtime)


def remove(path: Path) -> bool:
    """Return whether an entry was removed; one that is held open is not.

    It is renamed first, so that nobody finds a part of it.
    """
    gone = path.with_name(files.draft_name(path.name))
    if not path.is_dir():
        with suppress(FileNotFoundError):
            path.rename(gone)
            gone.unlink()
        return True
    try:
        with (path / HELD).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.rename(gone)
    except BlockingIOError:
        return False
    except FileNotFoundError:  # a copy that is being fetched, or one that was left behind
        if not path.exists() or time.time() - path.stat().st_mtime < files.DRAFT_LIFE:
            return False
        path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
    return True


def drop_drafts() -> None:
    files.drop_abandoned_below(folder())
