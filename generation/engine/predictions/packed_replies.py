"""Packed replies: one file from which the replies of one question are read without unpacking the others.

The file has compressed blocks of records in question order, then the index, then its place and length. The index has
each question's block and figures, and the SHA-256 of each block. The SHA-256 of the index is the digest of the file, so
each part that is read can be checked. Long texts are cut in the records; the whole records are in blocks of their own.
"""

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import EngineError

StoredRecord = dict[str, Any]
"""A record: question, form, variant, epoch, attempt, state, reply, reasoning, usage, latency, cost and others."""

MARK = b"HSREPLY1"
END = struct.Struct("<8sQQ")  # the mark, and the place and the length of the index
BLOCK = 1 << 16  # bytes of records after which a block ends
SHOWN = 20_000  # characters of a reply or of reasoning that a record keeps
NO_REPLY = 255  # the state of a question without a record
CUT = ("reply", "reasoning")
ANSWERED = "answered"
STATES = (ANSWERED, "cut off", "refused", "empty", "failed")  # by their codes


class DamagedReplies(EngineError):
    """A packed file is not what was stored."""


class ReplyFigures(NamedTuple):
    """The states and figures of the replies to each question.

    Attributes
    ----------
    states : array (questions,) of uint8
        Positions in `STATES`; `NO_REPLY` for a question without a record. If a question has several variants, its state
        is the first one that is not `answered`.
    prompt_tokens, completion_tokens : array (questions,) of float64
        Sums over all attempts; NaN if no record has them.
    cost : array (questions,) of float64
        US dollars, the sum over all attempts; NaN if no record has a cost.
    latency : array (questions,) of float64
        The mean time of a request in seconds, over the last attempts of the variants; NaN if no record has a time.
    """

    states: NDArray[np.uint8]
    prompt_tokens: NDArray[np.float64]
    completion_tokens: NDArray[np.float64]
    cost: NDArray[np.float64]
    latency: NDArray[np.float64]

    @property
    def tokens(self) -> NDArray[np.float64]:
        """Return the tokens of each question, of prompt and completion; NaN if neither is known."""
        both = np.stack([self.prompt_tokens, self.completion_tokens])
        return np.where(np.isnan(both).all(axis=0), np.nan, np.nansum(both, axis=0))

    def among(self, positions: NDArray[np.integer]) -> "ReplyFigures":
        """Return the figures of some questions, in this order.

        Parameters
        ----------
        positions : array (kept,) of integers
        """
        return ReplyFigures(*(one[positions] for one in self))


FIGURES = ("<u1", "<f8", "<f8", "<f8", "<f8")


def last_attempts(records: Sequence[StoredRecord]) -> list[StoredRecord]:
    """Return the last record of each variant, without those of questions that were asked again (epochs from 1).

    Parameters
    ----------
    records : sequence of StoredRecord
        The records of one question, in the order in which they were made.
    """
    last = {record["variant"]: record for record in records if record["epoch"] == 0}
    return [last[variant] for variant in sorted(last)]


def state_of(records: Sequence[StoredRecord]) -> str:
    """Return the state of a question; empty if it has no record of the first epoch.

    Parameters
    ----------
    records : sequence of StoredRecord
        The records of one question, in the order in which they were made.
    """
    states = [record["state"] for record in last_attempts(records)]
    return next((state for state in states if state != ANSWERED), states[0] if states else "")


class ReplyWriter:
    """Writes a packed file; questions come in order.

    Parameters
    ----------
    file : binary file
    n : int
        The number of questions.
    """

    def __init__(self, file: BinaryIO, n: int) -> None:
        self.file, self.n = file, n
        self.figures = ReplyFigures(np.full(n, NO_REPLY, np.uint8), *(np.full(n, np.nan) for _ in range(4)))
        self.block_of = np.full(n, -1, np.int32)
        self.ends: list[int] = []
        self.digests: list[bytes] = []
        self.waiting: list[tuple[int, str]] = []
        self.size = 0

    def add(self, question: int, records: Sequence[StoredRecord]) -> None:
        """Add the records of a question, in the order in which they were made."""
        self._add_figures(question, records)
        cut = [self._cut(record) for record in records]
        content = json.dumps(cut, ensure_ascii=False)
        self.waiting.append((question, content))
        self.size += len(content)
        if self.size >= BLOCK:
            self._write_waiting()

    def _add_figures(self, question: int, records: Sequence[StoredRecord]) -> None:
        mine = [record for record in records if record["epoch"] == 0]
        if not mine:
            return
        figures = self.figures
        figures.states[question] = STATES.index(state_of(records))
        for name, kept in (("prompt_tokens", figures.prompt_tokens), ("completion_tokens", figures.completion_tokens)):
            counts = [record["usage"][name] for record in mine if record["usage"] and name in record["usage"]]
            kept[question] = sum(counts) if counts else np.nan
        costs = [record["cost"] for record in mine if record["cost"] is not None]
        figures.cost[question] = sum(costs) if costs else np.nan
        seconds = [record["latency"] for record in last_attempts(records) if record["latency"] is not None]
        figures.latency[question] = sum(seconds) / len(seconds) if seconds else np.nan

    def _cut(self, record: StoredRecord) -> StoredRecord:
        """Return a record with short texts; `whole` is the block of the whole record, and `lengths` has its lengths."""
        lengths = {name: len(record[name]) for name in CUT if len(record[name] or "") > SHOWN}
        if not lengths:
            return record
        block = self._write(json.dumps(record, ensure_ascii=False))
        return record | {name: record[name][:SHOWN] for name in lengths} | {"lengths": lengths, "whole": block}

    def _write(self, content: str) -> int:
        packed = zlib.compress(content.encode(), 6)
        self.file.write(packed)
        self.ends.append((self.ends[-1] if self.ends else 0) + len(packed))
        self.digests.append(hashlib.sha256(packed).digest())
        return len(self.ends) - 1

    def _write_waiting(self) -> None:
        if not self.waiting:
            return
        block = self._write("{" + ",".join(f'"{question}":{content}' for question, content in self.waiting) + "}")
        self.block_of[[question for question, _ in self.waiting]] = block
        self.waiting, self.size = [], 0

    def finish(self) -> str:
        """Write the index, wait until the file is on the disk, and return its digest."""
        self._write_waiting()
        arrays = [np.asarray(one, kind).tobytes() for one, kind in zip(self.figures, FIGURES, strict=True)]
        lengths = np.array([self.n, len(self.ends)], "<i8").tobytes()
        ends = np.array(self.ends, "<i8").tobytes()
        parts = [lengths, *arrays, self.block_of.astype("<i4").tobytes(), ends, *self.digests]
        index = zlib.compress(b"".join(parts), 6)
        self.file.write(index)
        self.file.write(END.pack(MARK, self.ends[-1] if self.ends else 0, len(index)))
        self.file.flush()
        os.fsync(self.file.fileno())
        return hashlib.sha256(index).hexdigest()


class PackedReplies:
    """A packed file, of which only the index is in memory.

    Parameters
    ----------
    read : callable
        Returns the bytes of the file from one place to another.
    size : int
        The size of the file in bytes.
    digest : str
        The digest of the file.

    Attributes
    ----------
    n : int
        The number of questions.
    figures : ReplyFigures

    Raises
    ------
    DamagedReplies
        If the file, or a block that is read, is not what was stored.
    """

    def __init__(self, read: Callable[[int, int], bytes], size: int, digest: str) -> None:
        self._read, self.digest = read, digest
        end = read(max(0, size - END.size), size)
        if len(end) != END.size or not end.startswith(MARK):
            raise self._damage()
        _, start, length = END.unpack(end)
        if start + length + END.size != size:
            raise self._damage()
        packed = read(start, start + length)
        if hashlib.sha256(packed).hexdigest() != digest:
            raise self._damage()
        index = zlib.decompress(packed)
        self.n, blocks = np.frombuffer(index, "<i8", 2).tolist()
        at, arrays = 16, []
        for kind, count in (*((kind, self.n) for kind in FIGURES), ("<i4", self.n), ("<i8", blocks)):
            arrays.append(np.frombuffer(index, kind, count, at))
            at += arrays[-1].nbytes
        *figures, self._block_of, ends = arrays
        self.figures = ReplyFigures(*figures)
        self._places = [0, *ends.tolist()]
        self._digests = index[at:]

    def _damage(self) -> DamagedReplies:
        message = "Expected the replies that were stored, got others. Restore them from a backup."
        return DamagedReplies(message, where=self.digest)

    def _block(self, block: int) -> Any:
        packed = self._read(self._places[block], self._places[block + 1])
        if hashlib.sha256(packed).digest() != self._digests[32 * block : 32 * block + 32]:
            raise self._damage()
        return json.loads(zlib.decompress(packed))

    def records(self, questions: Sequence[int]) -> dict[int, list[StoredRecord]]:
        """Return the records of questions, with long texts cut; questions without a record are left out.

        Parameters
        ----------
        questions : sequence of int
            Positions in the split that the replies are for.
        """
        blocks: dict[int, list[int]] = {}
        for question in questions:
            if (block := int(self._block_of[question])) >= 0:
                blocks.setdefault(block, []).append(question)
        found: dict[int, list[StoredRecord]] = {}
        for block, mine in blocks.items():
            content = self._block(block)
            found |= {question: content[str(question)] for question in mine}
        return found

    def lines(self) -> Iterator[bytes]:
        """Yield all records as JSON lines, with whole texts, in question order."""
        known = self._block_of[self._block_of >= 0]
        for block in dict.fromkeys(known.tolist()):
            for records in self._block(block).values():
                whole = [self._block(record["whole"]) if "whole" in record else record for record in records]
                yield "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in whole).encode()
