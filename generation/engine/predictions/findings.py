"""The problems of a prediction file: which line is wrong and why, and which questions have no answer."""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NAMED = 20  # the number of lines and gaps that a message lists
DOCS = "/docs/predictions/"


class RepeatedAnswer(NamedTuple):
    """A repeated answer: its line, the name of its question, and the line of the first answer to it."""

    line: int
    question: str
    first: int


class AnswerGap(NamedTuple):
    """Successive questions without an answer: the positions of the first and the last question, and their number."""

    first: int
    last: int
    n: int


@dataclass(frozen=True, eq=False)
class Findings:
    """The problems that prevent the scoring of a file. Each sequence is in the order of the file.

    Attributes
    ----------
    unit : str
        The unit whose numbers give the place of a problem, from 1: "line" or "record".
    malformed : sequence of (int, str)
        The place of each row or part of a row that can't be read, and the reason.
    unknown : sequence of (int, str)
        The place of each id that no question has, and the id.
    duplicate : sequence of RepeatedAnswer
    missing : array (questions,) of int32
        The positions of questions without an answer, ascending.
    names : array of bytes, or None
        The names of all questions in this file; None if the names are the positions.
    """

    unit: str = "line"
    malformed: Sequence[tuple[int, str]] = ()
    unknown: Sequence[tuple[int, str]] = ()
    duplicate: Sequence[RepeatedAnswer] = ()
    missing: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    names: NDArray[np.bytes_] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of problems of each kind that occurs."""
        kinds = ("missing", "duplicate", "unknown", "malformed")
        return {kind: count for kind in kinds if (count := len(getattr(self, kind)))}

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each problem: first the wrong lines in order, then the gaps of missing answers."""
        yield from self._in_file()
        for gap in self._gaps():
            yield self._without_answer([gap])

    def _in_file(self) -> Iterator[str]:
        """Yield a sentence for each wrong line of the file."""
        unknown = ((line, f"no question has the id {name}") for line, name in self.unknown)
        again = (
            (one.line, f"question {one.question} is answered again; the first answer is in {self.unit} {one.first}")
            for one in self.duplicate
        )
        for line, reason in heapq.merge(self.malformed, unknown, again):
            yield f"{self.unit.capitalize()} {line:,}: {reason}."

    def _gaps(self) -> Iterator[AnswerGap]:
        """Yield the gaps of missing answers; questions whose names are successive numbers are one gap."""
        if not len(self.missing):
            return
        numbers = self._numbers()
        breaks = np.ones(len(self.missing), np.bool_) if numbers is None else np.diff(numbers, prepend=-2) != 1
        starts = np.flatnonzero(breaks)
        for first, after in zip(starts, [*starts[1:], len(self.missing)], strict=True):
            yield AnswerGap(int(self.missing[first]), int(self.missing[after - 1]), int(after - first))

    def _numbers(self) -> NDArray[np.int64] | None:
        """Return the names of missing questions as numbers; None if a name is not a number."""
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
        """Return the name that this file has for the question at a position."""
        return str(position) if self.names is None else bytes(self.names[position]).decode(errors="replace")

    def message(self, *, expected: int, got: int) -> str:
        """Return the short message: what was expected, what was found, and the first problems."""
        counted = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items())
        told = list(itertools.islice(self._in_file(), NAMED))
        gaps = list(itertools.islice(self._gaps(), NAMED - len(told)))
        rest = sum(self.counts.values()) - len(told) - sum(gap.n for gap in gaps)
        told += [self._without_answer(gaps)] if gaps else []
        told += [f"And {rest:,} more."] if rest else []
        return f"Expected {expected:,} answers, got {got:,} ({counted}). {' '.join(told)} Format: {DOCS}"
