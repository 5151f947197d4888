"""What is wrong with a prediction file, line by line, and the message that says it in short."""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NAMED = 20  # lines and gaps that a message names
DOCS = "/docs/predictions/"


class Again(NamedTuple):
    """A question that was answered before: on which line, which question, and on which line before."""

    line: int
    question: str
    first: int


class AnswerGap(NamedTuple):
    """Questions in a row that have no answer: the positions of the first and the last, and how many they are."""

    first: int
    last: int
    n: int


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
        """Yield a sentence for everything: what stands in the file in its order, then each gap of missing answers."""
        yield from self._in_file()
        for gap in self._gaps():
            yield self._without_answer([gap])

    def _in_file(self) -> Iterator[str]:
        """Yield a sentence for each line of the file that is wrong."""
        unknown = ((line, f"no question is called {name}") for line, name in self.unknown)
        again = (
            (one.line, f"question {one.question} is answered again, first in {self.unit} {one.first}")
            for one in self.duplicate
        )
        for line, reason in heapq.merge(self.malformed, unknown, again):
            yield f"{self.unit.capitalize()} {line:,}: {reason}."

    def _gaps(self) -> Iterator[AnswerGap]:
        """Yield the missing answers, those to questions whose names are numbers in a row as one."""
        if not len(self.missing):
            return
        numbers = self._numbers()
        breaks = np.ones(len(self.missing), np.bool_) if numbers is None else np.diff(numbers, prepend=-2) != 1
        starts = np.flatnonzero(breaks)
        for first, after in zip(starts, [*starts[1:], len(self.missing)], strict=True):
            yield AnswerGap(int(self.missing[first]), int(self.missing[after - 1]), int(after - first))

    def _numbers(self) -> NDArray[np.int64] | None:
        """Return what missing questions are called, as numbers; None where a name is none."""
        if self.names is None:
            return self.missing.astype(np.int64)
        names = self.names[self.missing]
        return names.astype(np.int64) if np.char.isdigit(names).all() else None

    def _without_answer(self, gaps: Sequence[AnswerGap]) -> str:
        """Return the sentence that names questions without an answer."""
        ends = [(self.name(gap.first), self.name(gap.last)) for gap in gaps]
        told = [first if first == last else f"{first}–{last}" for first, last in ends]
        if len(told) == 1 and gaps[0].n == 1:
            return f"Question {told[0]} has no answer."
        return f"Questions {', '.join(told)} have no answer."

    def name(self, position: int) -> str:
        """Return what the question at a position is called in this file."""
        return str(position) if self.names is None else bytes(self.names[position]).decode(errors="replace")

    def message(self, *, expected: int, got: int) -> str:
        """Return what was expected and what came, naming the first lines."""
        counted = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items())
        told = list(itertools.islice(self._in_file(), NAMED))
        gaps = list(itertools.islice(self._gaps(), NAMED - len(told)))
        rest = sum(self.counts.values()) - len(told) - sum(gap.n for gap in gaps)
        told += [self._without_answer(gaps)] if gaps else []
        told += [f"And {rest:,} more."] if rest else []
        return f"Expected {expected:,} answers, got {got:,} ({counted}). {' '.join(told)} Format: {DOCS}"
