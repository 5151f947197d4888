"""Texts by position, in little memory: what was said that is no answer."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

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
