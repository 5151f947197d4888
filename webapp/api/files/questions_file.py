"""All questions of a split as one gzipped file of JSON lines, put together once and then kept for a while.

Its lines are those of the export `jsonl`.
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

from django.conf import settings

from generation.access import Visitor, owns
from generation.browsing.pictures import version_of
from generation.engine.formats.jsonl import question_line
from generation.engine.formats.writing import facet_rows
from generation.exchange.exports import StoredDataset, Viewer
from generation.models import Split
from generation.storage import files, host_cache
from webapp.api.errors import too_many

LEVEL = 6
GZIP = 31  # zlib's word for a gzip file; there is no time in its header
PIECE = 1 << 16  # bytes of text that are packed at a time
WAIT = 10.0  # seconds after which somebody may ask again for a file that another one is waiting for
DAY = 86_400.0
AT_ONCE = 2  # files that a process puts together
BUSY = 0.5  # share of its time that has to go into a file for it to count as one of these
_turns = threading.BoundedSemaphore(AT_ONCE)


class QuestionsFile:
    """The file of a complete split, as far as somebody may see its questions."""

    def __init__(self, split: Split, user: Visitor) -> None:
        viewer = Viewer(withheld=owns(user, split.dataset))
        self.dataset = StoredDataset(split.dataset, splits=[split.name], viewer=viewer)
        self.split = self.dataset.stored[0]
        shown = [*map(str, self.split.shown), *(facet.name for facet in self.split.facets)]
        known = json.dumps([version_of(split.dataset), split.pk, shown, zlib.ZLIB_RUNTIME_VERSION])
        self.etag = f'"{hashlib.sha256(known.encode()).hexdigest()[:32]}"'
        name = hashlib.sha256((known + split.fingerprint).encode()).hexdigest()
        self.path = folder() / f"{name}.jsonl.gz"

    @property
    def size(self) -> int | None:
        """Return how large it is, in bytes; None where it is still to be put together."""
        try:
            os.utime(self.path)  # it is in use
            return self.path.stat().st_size
        except FileNotFoundError:
            return None

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield the bytes from one place up to another, of a file that is there."""
        with self.path.open("rb") as file:
            file.seek(start)
            while start < stop and (piece := file.read(min(files.PIECE, stop - start))):
                start += len(piece)
                yield piece

    def build(self) -> Iterator[bytes]:
        """Return its bytes while it is put together; it is kept once all were taken. Raises `Problem`: 429."""
        now = time.monotonic()
        if sum(work.is_under_way(now) for work in list(_works)) >= AT_ONCE:
            raise too_many("Expected the file to be put together at once, but others are before it.", wait=WAIT)
        return self._built()

    def _built(self) -> Iterator[bytes]:
        """Yield all bytes, and write them down beside that; with the last one the file is there."""
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
                host_cache.make_room()
            finally:
                draft.unlink(missing_ok=True)

    def pieces(self) -> Iterator[bytes]:
        """Yield the packed lines."""
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
                line = question_line(self.dataset, self.split, entry, number) | {"facets": next(facets)}
                yield json.dumps(line, ensure_ascii=False).encode() + b"\n"


class FileLoad:
    """How busy the process is with one file. Between two pieces the reader is waited for, and others may begin."""

    def __init__(self) -> None:
        self.began, self.busy = time.monotonic(), 0.0
        self.piece_began: float | None = None

    def is_under_way(self, now: float) -> bool:
        """Return whether more time went into the file than into waiting for its reader."""
        working = self.busy + (now - self.piece_began if self.piece_began is not None else 0.0)
        return working > BUSY * (now - self.began)

    def pieces(self, made: Iterator[bytes]) -> Generator[bytes, None, None]:
        """Yield the pieces as they are made; at most `AT_ONCE` are at the same moment."""
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
    """Return where these files are kept: on each machine its own."""
    return host_cache.folder() / "questions"


def drop_unused() -> int:
    """Return how many files were deleted that nobody asked for in as many days as exports are kept."""
    oldest = time.time() - settings.EXPORT_DAYS * DAY
    unused = [path for path in folder().glob("*.jsonl.gz") if path.stat().st_mtime < oldest]
    for path in unused:
        path.unlink(missing_ok=True)
    return len(unused)
