"""Drawings of charts, made once by a process that ends when it has made them, and kept in `VAR_DIR/cache/charts`.

They are kept as files, not in the cache: without Redis that is small, one for each process, and gone with it. A
drawing is named by the digest of the very specification it was made of, which holds nothing that its first viewer
might not see: whoever finds it there has the same figures. `manage.py delete` takes them away with the dataset.

Where drawing fails nothing is lost but the drawing: the figures stand in the table beside it.
"""

import base64
import fcntl
import hashlib
import json
import logging
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from generation import files, limited
from generation.charts_spec import ELSEWHERE, SHRUNK
from generation.engine.canonical import canonical

VERSION = 1  # of how drawings are made: another number, other files
CHILD = "generation.charts_child"
SECONDS = 8  # of processor time; it takes one, for all charts of a page
ADDRESSES = 2**46  # bytes: V8 reserves a terabyte of addresses and more, of which it uses next to nothing
PATIENCE = 6.0  # seconds to wait while others have something drawn
RETRY = 60.0  # seconds after which a drawing that failed is tried again

log = logging.getLogger(__name__)


class Order(NamedTuple):
    """What is to be drawn: a specification as `page`, `svg` or `pdf`, its bars leading to addresses of `site`."""

    spec: dict[str, Any]
    kind: str = "page"
    site: str = ""

    @property
    def digest(self) -> str:
        """Return what names the drawing."""
        return hashlib.sha256(canonical([VERSION, self.kind, self.site, self.spec]).encode()).hexdigest()


def drawings(slug: str, orders: Sequence[Order]) -> list[bytes | None]:
    """Return the drawings of a dataset's charts; None for one that can't be had now."""
    folder = folder_of(slug)
    if any(_needed(folder, order) for order in orders):
        with _turn() as is_mine:
            missing = [order for order in orders if _needed(folder, order)]
            if is_mine and missing:
                return _with_new(folder, orders, _drawn(missing))
    return [_kept(folder, order) for order in orders]


def folder_of(slug: str) -> Path:
    """Return where the drawings of a dataset are kept on this machine."""
    return Path(settings.VAR_DIR, "cache", "charts", slug)


def drop_drawings(slug: str) -> None:
    """Delete the drawings of a dataset."""
    shutil.rmtree(folder_of(slug), ignore_errors=True)


def _with_new(folder: Path, orders: Sequence[Order], new: dict[str, bytes | None]) -> list[bytes | None]:
    """Return all drawings, the new ones now kept; a disk that is full costs time, not the drawing."""
    for digest, drawing in new.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if drawing is None:
                _failed(folder, digest).touch()
            else:
                files.write_whole(folder / digest, drawing)
        except OSError as error:
            log.warning("Expected to keep a chart in %s, got: %s", folder, error)
    return [new[order.digest] if order.digest in new else _kept(folder, order) for order in orders]


def _needed(folder: Path, order: Order) -> bool:
    """Return whether a drawing is to be made: it isn't there, and didn't fail just now."""
    if (folder / order.digest).exists():
        return False
    with suppress(OSError):
        return time.time() - _failed(folder, order.digest).stat().st_mtime > RETRY
    return True


def _failed(folder: Path, digest: str) -> Path:
    return folder / f"{digest}.failed"


def _kept(folder: Path, order: Order) -> bytes | None:
    with suppress(OSError):
        return (folder / order.digest).read_bytes()
    return None


def _drawn(orders: Sequence[Order]) -> dict[str, bytes | None]:
    """Return new drawings by digest; None for those that failed, as the log says."""
    asked = [{**order._asdict(), "elsewhere": ELSEWHERE, "shrunk": SHRUNK} for order in orders]
    try:
        answers = json.loads(limited.run(CHILD, json.dumps(asked).encode(), seconds=SECONDS, memory=ADDRESSES))
    except (limited.TooLong, limited.TooBig, limited.Broken, OSError, ValueError) as error:
        answers = [{"reason": str(error)} for _ in orders]
    for answer in answers:
        if "reason" in answer:
            log.error("Expected a chart, got: %s", answer["reason"])
    return {
        order.digest: base64.b64decode(answer["drawing"]) if "drawing" in answer else None
        for order, answer in zip(orders, answers, strict=True)
    }


@contextmanager
def _turn() -> Iterator[bool]:
    """Wait until nobody else on this machine has something drawn; give whether it is our turn now."""
    path = folder_of("") / ".lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("a")
    except OSError as error:
        log.warning("Expected to write %s, got: %s", path, error)
        yield False
        return
    with lock:
        yield _locked(lock.fileno())


def _locked(lock: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.05)
    return False
