"""Stored predictions: one file with codes of the vocabulary in question order, and the texts of other answers.

Predictions with numbers or boxes have more parts after the texts. Without them, the file ends with the texts.
"""

import io
import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions.predicted_boxes import PredictedBoxes

LONGEST = 2000  # characters of a text that are stored
ROOM = 8 << 20  # bytes of texts; after them only the beginning of each text is stored
BEGINNING = 50  # characters of that beginning


class TextBuffer:
    """Texts in the order in which they are added, each with the number of its row."""

    def __init__(self) -> None:
        self.rows = array("i")
        self.starts = array("q", [0])
        self.content = bytearray()

    def add(self, row: int, text: str) -> None:
        """Add the text of a row; raise UnicodeEncodeError if it cannot be encoded."""
        kept = text[: LONGEST if len(self.content) < ROOM else BEGINNING]
        self.content += kept.encode()
        self.rows.append(row)
        self.starts.append(len(self.content))

    def by(self, positions: NDArray[np.int32]) -> "PackedTexts":
        """Return the texts by position; `positions` has the position of each row."""
        places = positions[np.frombuffer(self.rows, np.int32)] if self.rows else np.zeros(0, np.int32)
        return PackedTexts(places, self.starts, self.content)


class PackedTexts(Mapping[int, str]):
    """Texts by position, ascending; `starts` has the first byte of each text, and the end of the last one."""

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
HEAD = np.dtype("<i8")  # numbers of questions, of answers that `read` changes, and of bytes of JSON
TAIL = HEAD  # lengths of `numbers`, of the boxes' `starts`, and of the boxes; absent in a file without them
LENGTHS = 3  # in the head and in the tail
NUMBERS, EDGES = np.dtype("<f8"), np.dtype("<f4")


class PackedPredictions:
    """The content of a file of predictions.

    Parameters
    ----------
    content : bytes
    has_boxes : bool
        Whether the boxes are kept, which can take far more memory than all the rest.

    Attributes
    ----------
    codes, read : array (questions,) of int32
        The answers without and with those that are read from free text; not writable.
    numbers : array (questions,) of float64, or None
        The answers as numbers, not rounded; NaN for an answer that is no number. None if the file has no numbers.
    boxes : PredictedBoxes or None
        None if the file has no boxes, or if they are not kept.
    """

    def __init__(self, content: bytes, *, has_boxes: bool = True) -> None:
        file = io.BytesIO(content)
        n, differing, size = _array(file, HEAD, LENGTHS).tolist()
        self.codes, differ, others = (_array(file, CODES, count) for count in (n, differing, differing))
        self.read = self.codes
        if differing:
            self.read = self.codes.copy()
            self.read[differ] = others
            self.read.flags.writeable = False
        self._outside = file.read(size)
        numbers, starts, boxes = _array(file, TAIL, LENGTHS).tolist() or [0, 0, 0]
        self.numbers = _array(file, NUMBERS, numbers) if numbers else None
        self.boxes = _boxes(file, starts, boxes) if starts and has_boxes else None

    @property
    def outside(self) -> dict[int, str]:
        """Return the texts of answers outside the vocabulary, by question; they are parsed on each access."""
        return {int(at): text for at, text in json.loads(self._outside).items()}


def _array(file: io.BytesIO, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    return np.frombuffer(file.read(count * dtype.itemsize), dtype)


def _boxes(file: io.BytesIO, starts: int, boxes: int) -> PredictedBoxes:
    return PredictedBoxes(
        _array(file, HEAD, starts), _array(file, EDGES, 4 * boxes).reshape(-1, 4), _array(file, EDGES, boxes)
    )


def pack(
    codes: NDArray[np.int32],
    read: NDArray[np.int32],
    outside: Mapping[int, str],
    *,
    numbers: NDArray[np.float64] | None = None,
    boxes: PredictedBoxes | None = None,
) -> bytes:
    """Return the content of a file of predictions: `codes`, the parts of `read` that differ, and the texts as JSON.

    Numbers and boxes follow if there are any.
    """
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
    return b"".join([*(part.tobytes() for part in parts), texts, *_tail(numbers, boxes)])


def _tail(numbers: NDArray[np.float64] | None, boxes: PredictedBoxes | None) -> Iterator[bytes]:
    """Yield the parts of a file after the texts; none without numbers and boxes."""
    if numbers is None and boxes is None:
        return
    lengths = [0, 0, 0]
    if numbers is not None:
        lengths[0] = len(numbers)
    if boxes is not None:
        lengths[1:] = len(boxes.starts), len(boxes.boxes)
    yield np.array(lengths, TAIL).tobytes()
    if numbers is not None:
        yield numbers.astype(NUMBERS).tobytes()
    if boxes is not None:
        yield boxes.starts.astype(HEAD).tobytes()
        yield boxes.boxes.astype(EDGES).tobytes()
        yield boxes.scores.astype(EDGES).tobytes()
