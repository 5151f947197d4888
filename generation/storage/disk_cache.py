"""The cache in `VAR_DIR/cache`: copies that each machine can fetch or make again, at most `CACHE_GB`.

An entry is a folder or file directly in the cache or in one of its shelves (such as `questions`). The least recently
used entries are removed first; entries that a process holds open are never removed. Each machine does this separately,
when something is added and during housekeeping.
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

SHELVES = ("questions", "examples")  # subfolders whose files and folders are entries
ELSEWHERE = ("charts",)  # these have a separate limit, see `charts.drawing`
HELD = "manifest.json"  # users of a folder hold a shared lock on this file in it


class CachedFile(NamedTuple):
    path: Path
    size: int  # bytes
    used: float  # when it was last used


def folder() -> Path:
    return Path(settings.VAR_DIR, "cache")


def hold(place: Path) -> IO[bytes] | None:
    """Return an open file that protects a folder of the cache from removal, or None if the folder does not exist."""
    try:
        file = (place / HELD).open("rb")
    except FileNotFoundError:
        return None
    fcntl.flock(file, fcntl.LOCK_SH)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(file.fileno()), (place / HELD).stat()):
            os.utime(place / HELD)  # marks the folder as used now
            return file
    file.close()  # it was removed in between
    return None


def make_room() -> int:
    """Remove entries until at most `CACHE_GB` are left, and abandoned drafts; return the number of entries."""
    drop_drafts()
    found = sorted(entries(), key=lambda entry: entry.used)
    excess = sum(entry.size for entry in found) - settings.CACHE_GB * files.GIB
    removed = 0
    for entry in found[:-1]:  # the most recent entry stays, however large it is
        if excess <= 0:
            break
        if remove(entry.path):
            excess -= entry.size
            removed += 1
    return removed


def entries() -> Iterator[CachedFile]:
    """Yield the entries of the cache."""
    for place in (folder(), *(folder() / shelf for shelf in SHELVES)):
        with suppress(FileNotFoundError):
            for path in place.iterdir():
                if path.name not in SHELVES + ELSEWHERE and not path.name.startswith("."):
                    with suppress(FileNotFoundError):
                        yield _entry(path)


def _entry(path: Path) -> CachedFile:
    if not path.is_dir():
        state = path.stat()
        return CachedFile(path, state.st_size, state.st_mtime)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    mark = path / HELD
    return CachedFile(path, size, (mark if mark.exists() else path).stat().st_mtime)


def remove(path: Path) -> bool:
    """Return whether an entry was removed. An entry that is held open is not removed.

    It is renamed first, so that no process finds a part of it.
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
    except FileNotFoundError:  # a copy that is being fetched, or an abandoned one
        if not path.exists() or time.time() - path.stat().st_mtime < files.DRAFT_LIFE:
            return False
        path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
    return True


def drop_drafts() -> None:
    files.drop_abandoned_below(folder())
