"""Drawings of charts, drawn once by a short-lived process and stored in `VAR_DIR/cache/charts`.

They are stored as files and not in Django's cache, which without Redis is small, local to a process and lost with it. A
drawing's name is the digest of its specification. The specification contains only what its first viewer may see, so
another viewer finds it only with the same figures. `manage.py delete` deletes the drawings of the dataset. If drawing
fails, or takes longer than a page waits, the table beside it shows the figures.
"""

import base64
import fcntl
import hashlib
import json
import logging
import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from generation.charts.vega import ELSEWHERE, SHRUNK
from generation.engine.content_hash import canonical
from generation.queue import sandbox
from generation.storage import files

VERSION = 3  # changes when drawings change, so that new files are made
CHILD = "generation.charts.drawing_process"
SECONDS = 8  # of processor time; all charts of a page together need one second
ADDRESSES = 2**46  # bytes; V8 reserves more than a terabyte of addresses, of which it uses very little
QUEUE = 8  # pages whose charts are being drawn or are waiting
PATIENCE = 6.0  # seconds to wait while another process draws
MOST_BYTES = 200_000_000  # limit for all drawings on a machine
BLOCK = 4096  # bytes that even an empty file takes
RETRY = 60.0  # seconds after which a failed drawing is tried again

log = logging.getLogger(__name__)


class DrawingOrder(NamedTuple):
    """A drawing to make: a specification as `page`, `svg` or `pdf`. Links of bars lead to addresses of `site`."""

    spec: dict[str, Any]
    kind: str = "page"
    site: str = ""

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical([VERSION, self.kind, self.site, self.spec]).encode()).hexdigest()


def drawings(slug: str, orders: Sequence[DrawingOrder], *, wait: float | None = None) -> list[bytes | None]:
    """Return the drawings of a dataset's charts; None for a drawing that is not available now.

    New drawings are made in the background of this process, one page after another. The caller waits for them at most
    `wait` seconds (by default the setting `CHART_SECONDS`); later drawings are stored for the next request.
    """
    folder = folder_of(slug)
    missing = [order for order in orders if _needed(folder, order)]
    new = _studio.drawn(folder, missing, wait=settings.CHART_SECONDS if wait is None else wait) if missing else {}
    return [new[order.digest] if order.digest in new else _kept(folder, order) for order in orders]


class Studio:
    """A thread of this process that draws charts. Few request threads may wait for it, so that most answer pages."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: dict[tuple[str, ...], Future[dict[str, bytes | None]]] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._process, self._waiting = 0, 0

    def drawn(self, folder: Path, orders: Sequence[DrawingOrder], *, wait: float) -> dict[str, bytes | None]:
        """Return new drawings by digest; empty if they are not ready in time, or if too many requests wait already."""
        future = self._future(folder, orders)
        with self._lock:
            if future is None or self._waiting >= max(1, settings.WEB_THREADS // 4):
                return {}
            self._waiting += 1
        try:
            return future.result(timeout=wait)
        except TimeoutError:
            return {}
        finally:
            with self._lock:
                self._waiting -= 1

    def _future(self, folder: Path, orders: Sequence[DrawingOrder]) -> "Future[dict[str, bytes | None]] | None":
        """Return the future for these drawings, shared by equal requests; None if the queue is full."""
        name = (str(folder), *sorted(order.digest for order in orders))
        with self._lock:
            if self._pool is None or self._process != os.getpid():  # a forked process has no threads
                self._pool, self._process, self._begun = ThreadPoolExecutor(1, "charts"), os.getpid(), {}
            if name in self._begun:
                return self._begun[name]
            if len(self._begun) >= QUEUE:
                return None
            future = self._begun[name] = self._pool.submit(_draw_in_turn, folder, orders)
        future.add_done_callback(lambda _: self._forget(name))
        return future

    def _forget(self, name: tuple[str, ...]) -> None:
        with self._lock:
            self._begun.pop(name, None)


_studio = Studio()


def _draw_in_turn(folder: Path, orders: Sequence[DrawingOrder]) -> dict[str, bytes | None]:
    """Make and store new drawings, unless another process is drawing."""
    with _turn() as is_mine:
        missing = [order for order in orders if _needed(folder, order)]
        if not (is_mine and missing):
            return {}
        new = _drawn(missing)
        _keep(folder, new)
    make_room(most=MOST_BYTES)
    return new


def folder_of(slug: str) -> Path:
    return Path(settings.VAR_DIR, "cache", "charts", slug)


def drop_drawings(slug: str) -> None:
    shutil.rmtree(folder_of(slug), ignore_errors=True)


def make_room(*, most: int) -> int:
    """Delete the least recently used drawings until at most `most` bytes are left; return the number of files."""
    found = []
    for path in folder_of("").glob("*/*"):
        with suppress(OSError):
            about = path.stat()
            found.append((about.st_mtime, max(about.st_size, BLOCK), path))
    excess, removed = sum(size for _, size, _ in found) - most, 0
    for _, size, path in sorted(found):
        if excess <= 0:
            break
        path.unlink(missing_ok=True)
        excess, removed = excess - size, removed + 1
    return removed


def _keep(folder: Path, new: dict[str, bytes | None]) -> None:
    """Store new drawings. If the disk is full, they must be drawn again later."""
    for digest, drawing in new.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if drawing is None:
                _failed(folder, digest).touch()
            else:
                files.write_whole(folder / digest, drawing)
        except OSError as error:
            log.warning("Expected to keep a chart in %s, got: %s", folder, error)


def _needed(folder: Path, order: DrawingOrder) -> bool:
    """Return whether a drawing must be made: it does not exist, and it did not fail recently."""
    if (folder / order.digest).exists():
        return False
    with suppress(OSError):
        return time.time() - _failed(folder, order.digest).stat().st_mtime > RETRY
    return True


def _failed(folder: Path, digest: str) -> Path:
    return folder / f"{digest}.failed"


def _kept(folder: Path, order: DrawingOrder) -> bytes | None:
    with suppress(OSError):
        os.utime(folder / order.digest)  # marks it as used
        return (folder / order.digest).read_bytes()
    return None


def _drawn(orders: Sequence[DrawingOrder]) -> dict[str, bytes | None]:
    """Return new drawings by digest; None for those that failed. The log has the reason."""
    asked = [{**order._asdict(), "elsewhere": ELSEWHERE, "shrunk": SHRUNK} for order in orders]
    try:
        answers = json.loads(sandbox.run(CHILD, json.dumps(asked).encode(), seconds=SECONDS, memory=ADDRESSES))
    except (sandbox.TooLong, sandbox.TooBig, sandbox.Broken, OSError, ValueError) as error:
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
    """Wait until no other process on this machine draws; yield whether this process may draw."""
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
