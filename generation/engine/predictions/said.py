"""Texts by position, in little memory: what was said that is no answer."""

from array import array
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

LONGEST = 2000  # characters that are kept of a text
ROOM = 100 << 20  # bytes of texts; past them only their beginnings are kept
BEGINNING = 50  # characters


class Gathered:
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

    def by(self, positions: NDArray[np.int32]) -> "Said":
        """Return the texts by what each row's position is."""
        places = positions[np.frombuffer(self.rows, np.int32)] if self.rows else np.zeros(0, np.int32)
        return Said(places, np.array(self.starts, np.int64), self.content)


class Said(Mapping[int, str]):
    """Texts by position, ascending."""

    def __init__(self, positions: NDArray[np.int32], starts: NDArray[np.int64], content: bytearray) -> None:
        self.order = np.argsort(positions, kind="stable")
        self.positions = positions[self.order]
        self.starts, self.content = starts, content

    def __getitem__(self, position: int) -> str:
        at = int(np.searchsorted(self.positions, position))
        if at == len(self.positions) or self.positions[at] != position:
            raise KeyError(position)
        row = self.order[at]
        return self.content[self.starts[row] : self.starts[row + 1]].decode()

    def __iter__(self) -> Iterator[int]:
        return iter(self.positions.tolist())

    def __len__(self) -> int:
        return len(self.positions)
