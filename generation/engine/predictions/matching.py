"""Matching the rows of a prediction file with the questions, each of which needs one answer.

`Findings` collects what is wrong, line by line, and writes the short message.
"""

import heapq
import itertools
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import AnswerForm
from generation.engine.predictions.answer_parser import AnswerVocabulary, NoAnswer, ReplyReader, quote, text_of
from generation.engine.predictions.decompression import UnreadableFile
from generation.engine.predictions.packed_predictions import TextBuffer
from generation.engine.predictions.reading import PredictionRowBatch
from generation.engine.scoring.score import OUTSIDE

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


EXTRA = 100_000  # rows that a file may have beyond its questions
REMEMBERED = 10_000  # ways to say an answer that are looked up once
UNSEEN = OUTSIDE - 1
AROUND_LETTERS = " \t()[].:"
PUBLISHED = ("question_index", "questionId")  # names that ids have where questions were published


@dataclass(frozen=True, eq=False)
class ExpectedAnswers:
    """What a prediction file is held against.

    Attributes
    ----------
    name : str
        For messages.
    n : int
        How many questions there are.
    vocabulary : tuple of str
        Every answer; code `i` means `vocabulary[i]`.
    sources : array (n,) of bytes, or None
        Ids under which questions were published; empty where one has none.
    kinds : array (n,) of integers
        For each question a position in `admitted`.
    admitted : tuple of tuples of int
        The codes that answer each kind of question.
    forms : tuple of AnswerForm
        How each kind of question is answered, as far as that is known: as many as `admitted`, or none.
    """

    name: str
    n: int
    vocabulary: tuple[str, ...]
    sources: NDArray[np.bytes_] | None
    kinds: NDArray[np.integer]
    admitted: tuple[tuple[int, ...], ...]
    forms: tuple[AnswerForm, ...] = ()

    @cached_property
    def reader(self) -> ReplyReader:
        """Return what reads replies to these questions."""
        return ReplyReader(AnswerVocabulary(self.vocabulary, self.forms), self.admitted)


class Naming:
    """What questions are called: by their position, or as where they were published."""

    def __init__(self, n: int, names: NDArray[np.bytes_] | None = None) -> None:
        self.n, self.names = n, names
        self.order = np.argsort(names, kind="stable") if names is not None else None
        self.sorted = names[self.order] if names is not None else None

    def positions(self, ids: Sequence[int | str]) -> NDArray[np.int32]:
        """Return (ids,) which question each id means; -1 for none."""
        if self.sorted is None or self.order is None:
            numbers = [one if one.__class__ is int else _number(one) for one in ids]
            return np.array([one if 0 <= one < self.n else -1 for one in numbers], np.int32)
        width = self.sorted.dtype.itemsize + 1  # a longer id is none of them; one array would be as wide as the longest
        wanted = np.array([str(one).strip()[:width].encode()[:width] for one in ids], np.bytes_)
        at = np.minimum(np.searchsorted(self.sorted, wanted), self.n - 1)
        found = np.where((self.sorted[at] == wanted) & (wanted != b""), self.order[at], -1)
        return found.astype(np.int32)


def _number(name: int | str) -> int:
    digits = name.strip() if isinstance(name, str) else ""
    return int(digits) if len(digits) < 12 and digits.isascii() and digits.isdecimal() else -1


def namings(expected: ExpectedAnswers) -> list[Naming]:
    """Return the ways in which ids may be meant."""
    found = [Naming(expected.n)]
    if expected.sources is not None and expected.n:
        published = expected.sources[expected.sources != b""]
        if len(np.unique(published)) == len(published):
            found.append(Naming(expected.n, expected.sources))
    return found


class PredictionChecker:
    """Takes rows in, and says in the end what they are: an answer to each question, or what is wrong.

    What a question's id means is settled by the file as a whole: its positions, or the ids under which questions were
    published, whichever fits. So everything that depends on the question is kept for both meanings until then.
    """

    def __init__(self, expected: ExpectedAnswers) -> None:
        self.expected, self.reader = expected, expected.reader
        self.namings = namings(expected)
        self.positions = [array("i") for _ in self.namings]
        self.read = [array("i") for _ in self.namings]
        self.codes, self.lines = array("i"), array("i")
        self.outside, self.ids = TextBuffer(), TextBuffer()
        self.malformed: list[tuple[int, str]] = []
        self.unit = "line"
        self.known = dict(self.reader.vocabulary.exact)

    @property
    def got(self) -> int:
        """Return how many rows there were."""
        return len(self.codes) + len(self.malformed)

    def bad(self, line: int, reason: str) -> None:
        """Take in a row that can't be read."""
        self.malformed.append((line, reason))
        if len(self.malformed) > EXTRA:
            reason = f"expected rows that can be read, got more than {EXTRA:,} that can't: reading stopped"
            raise UnreadableFile(reason, line=line, unit=self.unit)
        self._check_room(line)

    def add(self, batch: PredictionRowBatch) -> None:
        """Take in rows that can be read."""
        batch = self._plain(batch)
        if not batch.lines:
            return
        places = [naming.positions(batch.ids) for naming in self.namings]
        first = len(self.codes)
        for row in np.flatnonzero(np.any([place < 0 for place in places], axis=0)).tolist():
            self.ids.add(first + row, quote(batch.ids[row]))
        codes = [UNSEEN] * len(batch.said) if batch.choices else [self.known.get(text, UNSEEN) for text in batch.said]
        unseen = [row for row, code in enumerate(codes) if code == UNSEEN]
        for row in unseen:
            codes[row] = self._code(batch, row)
        for place, positions, read in zip(places, self.positions, self.read, strict=True):
            positions.extend(place.tolist())
            read.extend(codes)
            for row in unseen:
                if codes[row] == OUTSIDE and place[row] >= 0:
                    read[first + row] = self._read(batch, row, int(place[row]))
        for row in unseen:
            if codes[row] == OUTSIDE:
                self.outside.add(first + row, batch.said[row])
        self.codes.extend(codes)
        self.lines.extend(batch.lines)
        self._check_room(batch.lines[-1])

    def _plain(self, batch: PredictionRowBatch) -> PredictionRowBatch:
        """Return the rows whose ids and answers can be such, as texts and numbers."""
        if set(map(type, batch.said)) <= {str} and set(map(type, batch.ids)) <= {str, int}:
            return batch
        kept: list[tuple[int, int | str, str, dict[str, str]]] = []
        lists = self.reader.vocabulary.has_parts
        for row, line in enumerate(batch.lines):
            try:
                choices = batch.choices[row] if batch.choices else {}
                kept.append((line, _id_of(batch.ids[row]), text_of(batch.said[row], lists=lists), choices))
            except NoAnswer as error:
                self.bad(line, str(error))
        lines, ids, said, choices_of = [list(column) for column in zip(*kept, strict=True)] or ([], [], [], [])
        return PredictionRowBatch(lines, ids, said, choices_of if batch.choices else None)

    def _code(self, batch: PredictionRowBatch, row: int) -> int:
        text = batch.said[row]
        if batch.choices and (chosen := batch.choices[row].get(text.strip(AROUND_LETTERS))) is not None:
            return self.reader.vocabulary.code(chosen)
        code = self.reader.vocabulary.code(text)
        if code != OUTSIDE and len(self.known) < REMEMBERED:
            self.known[text] = code
        return code

    def _read(self, batch: PredictionRowBatch, row: int, position: int) -> int:
        choices = batch.choices[row] if batch.choices else None
        return self.reader.code(batch.said[row], int(self.expected.kinds[position]), choices=choices)

    def _check_room(self, line: int) -> None:
        most = self.expected.n + EXTRA
        if self.got > most:
            reason = f"expected {self.expected.n:,} answers, got more than {most:,}: reading stopped"
            raise UnreadableFile(reason, line=line, unit=self.unit)

    def wrong(self, meant: int) -> int:
        """Return how many ids are none, or questions not answered, where ids are meant in one of the ways."""
        positions = np.frombuffer(self.positions[meant], np.int32)
        known = positions[positions >= 0]
        return len(positions) - len(known) + self.expected.n - len(np.unique(known))

    def findings(self, meant: int) -> Findings:
        """Return what is wrong where ids are meant in one of the ways."""
        naming, positions = self.namings[meant], np.array(self.positions[meant], np.int32)
        known = positions[positions >= 0]
        times = np.bincount(known, minlength=self.expected.n)
        found = Findings(unit=self.unit, malformed=sorted(self.malformed), names=naming.names)
        unknown = np.flatnonzero(positions < 0)
        said = self.ids.by(np.arange(len(positions), dtype=np.int32)) if len(unknown) else {}
        return replace(
            found,
            unknown=[(self.lines[row], said[row]) for row in unknown.tolist()],
            duplicate=self._again(found, positions, times),
            missing=np.flatnonzero(times == 0).astype(np.int32),
        )

    def _again(self, found: Findings, positions: NDArray[np.int32], times: NDArray[np.int64]) -> list[Again]:
        """Return each row that answers a question once more."""
        if not len(times) or times.max() < 2:
            return []
        rows = np.flatnonzero((positions >= 0) & (times[positions] > 1))
        first: dict[int, int] = {}
        again = []
        for row, position in zip(rows.tolist(), positions[rows].tolist(), strict=True):
            before = first.setdefault(position, self.lines[row])
            if before != self.lines[row]:
                again.append(Again(self.lines[row], found.name(position), before))
        return again


def _id_of(value: object) -> int | str:
    """Return an id as a number or a text; raise `NoAnswer` for any other kind."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise NoAnswer(f"expected the id of a question, got {quote(value)}")
