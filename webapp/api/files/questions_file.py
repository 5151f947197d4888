"""All questions of a split, or all their steps, as one gzipped file of JSON lines, made once and kept for some time.

The lines of questions are those of the export `jsonl`.
"""

import hashlib
import json
import os
import threading
import time
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings

from generation.access import Visitor, owns
from generation.browsing.pictures import version_of
from generation.engine.formats.common import facet_rows
from generation.engine.formats.jsonl import question_line, steps_line
from generation.exchange.exports import StoredDataset, Viewer
from generation.models import Split
from generation.storage import disk_cache, files
from webapp.api.errors import too_many

LEVEL = 6
GZIP = 31  # zlib's value for the gzip format; its header has no time
PIECE = 1 << 16  # bytes of text that are compressed at once
WAIT = 10.0  # seconds after which a refused request may be repeated
DAY = 86_400.0
AT_ONCE = 2  # files that a process makes at the same time
BUSY = 0.5  # a file counts as being made if more than this share of its time is work
_turns = threading.BoundedSemaphore(AT_ONCE)


class QuestionsFile:
    """The file of a complete split with what the user may see of its questions."""

    content: ClassVar[str] = "questions"

    def __init__(self, split: Split, user: Visitor) -> None:
        viewer = Viewer(withheld=owns(user, split.dataset))
        self.dataset = StoredDataset(split.dataset, splits=[split.name], viewer=viewer)
        self.split = self.dataset.stored[0]
        shown = [*map(str, self.split.shown), *(facet.name for facet in self.split.facets)]
        known = json.dumps([self.content, version_of(split.dataset), split.pk, shown, zlib.ZLIB_RUNTIME_VERSION])
        self.etag = f'"{hashlib.sha256(known.encode()).hexdigest()[:32]}"'
        name = hashlib.sha256((known + split.fingerprint).encode()).hexdigest()
        self.path = folder() / f"{name}.jsonl.gz"

    @property
    def size(self) -> int | None:
        """Return the size in bytes, or None if the file is not made yet."""
        try:
            os.utime(self.path)  # marks the file as used
            return self.path.stat().st_size
        except FileNotFoundError:
            return None

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield the bytes of an existing file from offset `start` up to `stop`."""
        with self.path.open("rb") as file:
            file.seek(start)
            while start < stop and (piece := file.read(min(files.PIECE, stop - start))):
                start += len(piece)
                yield piece

    def build(self) -> Iterator[bytes]:
        """Yield the bytes while the file is made; it is stored when all are read. Raises `Problem` (429) if busy."""
        now = time.monotonic()
        if sum(work.is_under_way(now) for work in list(_works)) >= AT_ONCE:
            raise too_many(
                "Expected to build the file now, but other files are being built. Try again in a moment.", wait=WAIT
            )
        return self._built()

    def _built(self) -> Iterator[bytes]:
        """Yield all bytes and write them to a draft, which becomes the file at the end."""
        draft = self.path.with_name(files.draft_name(self.path.name))
        with closing(FileLoad().pieces(self.pieces())) as pieces:
            if files.disk_shortage():
                yield from pieces
                return
            draft.parent.mkdir(parents=True, exist_ok=True)
            try:
                with draft.open("wb") as kept:
                    for piece in pieces:
                        kept.write(piece)
                        yield piece
                    kept.flush()
                    os.fsync(kept.fileno())
                draft.replace(self.path)
                disk_cache.make_room()
            finally:
                draft.unlink(missing_ok=True)

    def pieces(self) -> Iterator[bytes]:
        """Yield the compressed lines."""
        packing, text = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP), bytearray()
        for line in self._lines():
            text += line
            if len(text) >= PIECE:
                yield packing.compress(bytes(text))
                text.clear()
        yield packing.compress(bytes(text)) + packing.flush()

    def _lines(self) -> Iterator[bytes]:
        facets = facet_rows(self.split)
        for entry in self.split.items():
            for number in range(len(entry.item.questions)):
                yield _as_line(question_line(self.dataset, self.split, entry, number) | {"facets": next(facets)})


class StepsFile(QuestionsFile):
    """The file with the steps of all programs and their results, for users who may see programs and scenes."""

    content = "steps"

    def _lines(self) -> Iterator[bytes]:
        for entry in self.split.items():
            for number in range(len(entry.item.questions)):
                yield _as_line(steps_line(self.split, entry, number))


def _as_line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


class FileLoad:
    """The load of making one file. Waiting for the reader does not count as work, so others may begin meanwhile."""

    def __init__(self) -> None:
        self.began, self.busy = time.monotonic(), 0.0
        self.piece_began: float | None = None

    def is_under_way(self, now: float) -> bool:
        working = self.busy + (now - self.piece_began if self.piece_began is not None else 0.0)
        return working > BUSY * (now - self.began)

    def pieces(self, made: Iterator[bytes]) -> Generator[bytes, None, None]:
        """Yield the pieces as they are made; at most `AT_ONCE` files are worked on at the same moment."""
        _works.add(self)
        try:
            while True:
                with _turns:
                    self.piece_began = time.monotonic()
                    piece = next(made, None)
                    self.busy, self.piece_began = self.busy + time.monotonic() - self.piece_began, None
                if piece is None:
                    return
                yield piece
        finally:
            _works.discard(self)


_works: set[FileLoad] = set()


def folder() -> Path:
    return disk_cache.folder() / "questions"


def drop_unused() -> int:
    """Delete files that were not used for as many days as exports are kept, and return how many."""
    oldest = time.time() - settings.EXPORT_DAYS * DAY
    unused = [path for path in folder().glob("*.jsonl.gz") if path.stat().st_mtime < oldest]
    for path in unused:
        path.unlink(missing_ok=True)
    return len(unused)
