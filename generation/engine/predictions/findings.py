"""What is wrong with a prediction file, line by line, and the message that says it in short."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NAMED = 20  # lines that a message names
DOCS = "/docs/predictions/"


class Again(NamedTuple):
    """A question that was answered before: on which line, which question, and on which line before."""

    line: int
    question: str
    first: int


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything that keeps a file from being scored.

    Attributes
    ----------
    unit : str
        What is counted from 1: "line" or "record".
    malformed : sequence of (int, str)
        Where something can't be read, and why; this and all others in the order of the file.
    unknown : sequence of (int, str)
        Where an id is that no question has, and the id.
    duplicate : sequence of Again
    missing : array (questions,) of int32
        The positions of questions without an answer, ascending.
    names : array of bytes, or None
        What all questions are called in this file, where that is not their position.
    """

    unit: str = "line"
    malformed: Sequence[tuple[int, str]] = ()
    unknown: Sequence[tuple[int, str]] = ()
    duplicate: Sequence[Again] = ()
    missing: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    names: NDArray[np.bytes_] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Return how many there are of each kind that occurs."""
        kinds = ("missing", "duplicate", "unknown", "malformed")
        return {kind: count for kind in kinds if (count := len(getattr(self, kind)))}

    def lines(self) -> Iterator[str]:
        """Yield a sentence for everything: what stands in the file in its order, then what is missing."""
        unknown = ((line, f"no question is called {name}") for line, name in self.unknown)
        again = (
            (one.line, f"question {one.question} is answered again, first in {self.unit} {one.first}")
            for one in self.duplicate
        )
        for line, reason in heapq.merge(self.malformed, unknown, again):
            yield f"{self.unit.capitalize()} {line:,}: {reason}."
        for position in self.missing:
            yield f"Question {self.name(int(position))} has no answer."

    def name(self, position: int) -> str:
        """Return what the question at a position is called in this file."""
        return str(position) if self.names is None else bytes(self.names[position]).decode(errors="replace")

    def message(self, *, expected: int, got: int) -> str:
        """Return what was expected and what came, naming the first lines."""
        counted = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items())
        told = []
        for number, line in enumerate(self.lines()):
            if number == NAMED:
                told.append(f"And {sum(self.counts.values()) - NAMED:,} more.")
                break
            told.append(line)
        return f"Expected {expected:,} answers, got {got:,} ({counted}). {' '.join(told)} Format: {DOCS}"
