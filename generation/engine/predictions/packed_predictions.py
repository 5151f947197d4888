"""Stored predictions: one file with codes of the vocabulary in question order, and the texts that are no answer."""

import io
import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 2000  # characters that are kept of a text
ROOM = 8 << 20  # bytes of texts; past them only their beginnings are kept
BEGINNING = 50  # characters


class TextBuffer:
    """Texts as they come, each with the number of its row."""

    def __init__(self) -> None:
        self.rows = array("i")
        self.starts = array("q", [0])
        self.content = bytearray()

    def add(self, row: int, text: str) -> None:
        """Take in the text of a row; raise UnicodeEncodeError for what is no text."""
        kept = text[: LONGEST if len(self.content) < ROOM else BEGINNING]
        self.content += kept.encode()
        self.rows.append(row)
        self.starts.append(len(self.content))

    def by(self, positions: NDArray[np.int32]) -> "PackedTexts":
        """Return the texts by what each row's position is."""
        places = positions[np.frombuffer(self.rows, np.int32)] if self.rows else np.zeros(0, np.int32)
        return PackedTexts(places, self.starts, self.content)


class PackedTexts(Mapping[int, str]):
    """Texts by position, ascending; `starts` says where each one's bytes begin, and where the last one's end."""

    def __init__(self, positions: NDArray[np.int32], starts: Sequence[int], content: bytearray) -> None:
        order = np.argsort(positions, kind="stable")
        self.order = array("i", order.astype(np.int32).tobytes())
        self.positions = array("i", positions[order].astype(np.int32).tobytes())
        self.starts, self.content = starts, content

    def __getitem__(self, position: int) -> str:
        at = bisect_left(self.positions, position)
        if at == len(self.positions) or self.positions[at] != position:
            raise KeyError(position)
        row = self.order[at]
        return self.content[self.starts[row] : self.starts[row + 1]].decode()

    def __iter__(self) -> Iterator[int]:
        return iter(self.positions)

    def __len__(self) -> int:
        return len(self.positions)


CODES = np.dtype("<i4")
HEAD = np.dtype("<i8")  # questions, answers that are read otherwise, bytes of JSON
NUMBERS = 3


class PackedPredictions:
    """The content of a file of predictions.

    Attributes
    ----------
    codes, read : array (questions,) of int32
        Taken strictly, and with answers read out of free text; not writable.
    """

    def __init__(self, content: bytes) -> None:
        file = io.BytesIO(content)
        head = np.frombuffer(file.read(NUMBERS * HEAD.itemsize), HEAD)
        n, differing, size = (int(number) for number in head)
        self.codes, differ, others = (np.frombuffer(file.read(4 * count), CODES) for count in (n, differing, differing))
        self.read = self.codes
        if differing:
            self.read = self.codes.copy()
            self.read[differ] = others
            self.read.flags.writeable = False
        self._outside = file.read(size)

    @property
    def outside(self) -> dict[int, str]:
        """Return what was said where `codes` has no answer of the vocabulary, by question; parsed each time."""
        return {int(at): text for at, text in json.loads(self._outside).items()}


def pack(codes: NDArray[np.int32], read: NDArray[np.int32], outside: Mapping[int, str]) -> bytes:
    """Return the content of a file of predictions: both arrays, the second where it differs, and the texts as JSON."""
    texts = bytearray(b"{")
    for at in sorted(outside):
        texts += b", " if len(texts) > 1 else b""
        texts += f'"{at}": {json.dumps(outside[at], ensure_ascii=False)}'.encode()
    texts += b"}"
    differ = np.flatnonzero(codes != read)
    parts: list[NDArray[Any]] = [
        np.array([len(codes), len(differ), len(texts)], HEAD),
        codes.astype(CODES),
        differ.astype(CODES),
        read[differ].astype(CODES),
    ]
    return b"".join([*(part.tobytes() for part in parts), texts])
