"""Stored replies: one packed file for each submission that has replies. Its name is its digest; it never changes."""

import functools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from generation.engine.predictions.packed_replies import DamagedReplies, PackedReplies
from generation.exchange import reply_files
from generation.models import Split
from generation.storage import files

FOLDER = "replies"
AT_HAND = 32  # files whose index a process caches: 37 bytes for each question


class DraftReplies(NamedTuple):
    """Replies that were read and packed, but are not stored yet."""

    path: Path
    digest: str
    records: int

    @property
    def packed(self) -> PackedReplies:
        return PackedReplies(self._part, self.path.stat().st_size, self.digest)

    def _part(self, start: int, stop: int) -> bytes:
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(stop - start)


def name_of(digest: str) -> str:
    return f"{FOLDER}/{digest[:2]}/{digest}"


@contextmanager
def draft_of(path: Path, split: Split, *, wait: float | None = None) -> Iterator[DraftReplies]:
    """Read a file of replies to a split's questions. At the end, the draft is deleted unless it was stored.

    Raises the errors of `reply_files.read_file`.
    """
    folder = files.local_path(FOLDER) or Path(tempfile.gettempdir())
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / files.draft_name("replies")
    try:
        found = reply_files.read_file(path, draft, n=split.questions, name=str(split), wait=wait)
        yield DraftReplies(draft, found.digest, found.records)
    finally:
        draft.unlink(missing_ok=True)


def store(draft: DraftReplies) -> int:
    size = draft.path.stat().st_size
    files.adopt(name_of(draft.digest), draft.path)
    return size


@functools.lru_cache(maxsize=AT_HAND)
def load(digest: str) -> PackedReplies:
    """Return the replies with this digest; raise `DamagedReplies` if the file is missing or is not what was stored."""
    name = name_of(digest)
    try:
        size = files.size(name)
    except OSError as error:
        message = "Expected stored replies, got none. Restore them from a backup."
        raise DamagedReplies(message, where=digest) from error
    return PackedReplies(functools.partial(files.part, name), size, digest)
