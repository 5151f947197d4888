"""Matching the rows of a prediction file with the questions, each of which needs one answer."""

import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions.answer_values import NoAnswer, quote, text_of
from generation.engine.predictions.decompression import UnreadableFile
from generation.engine.predictions.expected_answers import ExpectedAnswers
from generation.engine.predictions.findings import Findings, RepeatedAnswer
from generation.engine.predictions.forms.rows import PredictionRowBatch
from generation.engine.predictions.packed_predictions import TextBuffer
from generation.engine.predictions.predicted_boxes import MOST_IN_FILE, BadBoxes, BoxBuffer, describe_outside
from generation.engine.predictions.unanswered import is_failure
from generation.engine.replies.vocabulary import OUTSIDE

EXTRA = 100_000  # rows that a file may have in addition to one row for each question
REMEMBERED = 10_000  # cached spellings of answers
UNSEEN = OUTSIDE - 1
LARGEST_NUMBER = 1_000_000  # of the numbers that are answers, with either sign
AROUND_LETTERS = " \t()[].:"
ENDS_IN_NUMBER = re.compile(r"(.*?)(\d{1,9})", re.ASCII | re.DOTALL)
WHOLE = re.compile(r"\.0+$")
PUBLISHED = ("question_index", "questionId")  # names of the field with the ids in published files


class Naming:
    """The names of questions: their positions, or their published ids."""

    def __init__(self, n: int, names: NDArray[np.bytes_] | None = None) -> None:
        self.n, self.names = n, names
        self.order = np.argsort(names, kind="stable") if names is not None else None
        self.sorted = names[self.order] if names is not None else None

    def positions(self, ids: Sequence[int | str]) -> NDArray[np.int32]:
        """Return the position of the question that each id names, shape (ids,); -1 if it names none."""
        if self.sorted is None or self.order is None:
            numbers = [one if one.__class__ is int else _number(one) for one in ids]
            return np.array([one if 0 <= one < self.n else -1 for one in numbers], np.int32)
        width = self.sorted.dtype.itemsize + 1  # names are shorter; the longest id sets the array's width
        wanted = np.array([str(one).strip()[:width].encode()[:width] for one in ids], np.bytes_)
        at = np.minimum(np.searchsorted(self.sorted, wanted), self.n - 1)
        found = np.where((self.sorted[at] == wanted) & (wanted != b""), self.order[at], -1)
        return found.astype(np.int32)


class PrefixNaming(Naming):
    """Positions with the same text before each of them, such as `request-7`. The first id decides the text."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.prefix: str | None = None

    def positions(self, ids: Sequence[int | str]) -> NDArray[np.int32]:
        """Return the position of the question that each id names, shape (ids,); -1 if it names none."""
        parts = [ENDS_IN_NUMBER.fullmatch(str(one)) for one in ids]
        if self.prefix is None and parts and parts[0] is not None:
            self.prefix = parts[0][1]
        return super().positions([part[2] if part is not None and part[1] == self.prefix else "" for part in parts])


def _number(name: int | str) -> int:
    """Return the number of an id such as `7` or `7.0`, which pandas writes; -1 for other texts."""
    digits = WHOLE.sub("", name.strip()) if isinstance(name, str) else ""
    return int(digits) if len(digits) < 12 and digits.isascii() and digits.isdecimal() else -1


def namings(expected: ExpectedAnswers) -> list[Naming]:
    """Return the possible meanings of ids: positions, and published ids if no two questions share one."""
    found = [Naming(expected.n)]
    if expected.sources is not None and expected.n:
        published = expected.sources[expected.sources != b""]
        if len(np.unique(published)) == len(published):
            found.append(Naming(expected.n, expected.sources))
    return found


class PredictionChecker:
    """Collects the rows of a file, and then gives an answer to each question or the problems of the file.

    Ids are positions or published ids: the meaning that fits the whole file better counts. Until the file has been
    read, everything that depends on the question is kept for both meanings.
    """

    def __init__(self, expected: ExpectedAnswers) -> None:
        self.expected, self.reader = expected, expected.reader
        self.namings = namings(expected)
        self.positions = [array("i") for _ in self.namings]
        self.read = [array("i") for _ in self.namings]
        self.codes, self.lines = array("i"), array("i")
        self.outside, self.ids = TextBuffer(), TextBuffer()
        self.numbers, self.boxes = array("d"), BoxBuffer()
        self.malformed: list[tuple[int, str]] = []
        self.unread = 0
        self.unit = "line"
        self.known = dict(self.reader.vocabulary.exact)

    @property
    def got(self) -> int:
        """Return the number of rows so far."""
        return len(self.codes) + self.unread

    def allow_prefix(self) -> None:
        """Let ids also be positions with the same text before each of them; only before the first row."""
        self.namings.append(PrefixNaming(self.expected.n))
        self.positions.append(array("i"))
        self.read.append(array("i"))

    def is_answer(self, text: str) -> bool:
        """Return whether a text is an answer of the vocabulary, or the text of a failure."""
        return text in self.known or self.reader.vocabulary.code(text) != OUTSIDE or is_failure(text)

    def bad(self, line: int, reason: str) -> None:
        """Add a row that can't be read; raise `UnreadableFile` if there are too many rows."""
        self.unread += 1
        self._refuse(line, reason)
        self._check_room(line)

    def _refuse(self, line: int, reason: str) -> None:
        """Note what is wrong in a row; raise `UnreadableFile` if too much is wrong."""
        self.malformed.append((line, reason))
        if len(self.malformed) > EXTRA:
            reason = f"expected rows that can be read, got more than {EXTRA:,} that can't: reading stopped"
            raise UnreadableFile(reason, line=line, unit=self.unit)

    def add(self, batch: PredictionRowBatch) -> None:
        """Add rows that can be read; raise `UnreadableFile` if there are too many rows."""
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
                if codes[row] == OUTSIDE and place[row] >= 0 and not is_failure(batch.said[row]):
                    read[first + row] = self._read(batch, row, int(place[row]))
        for row in unseen:
            if codes[row] == OUTSIDE:
                self.outside.add(first + row, batch.said[row])
        if self.expected.most_counted is not None:
            self._add_numbers_and_boxes(batch, codes)
        self.codes.extend(codes)
        self.lines.extend(batch.lines)
        self._check_room(batch.lines[-1])

    def _plain(self, batch: PredictionRowBatch) -> PredictionRowBatch:
        """Return the rows with valid ids and answers, as texts and numbers; other rows count as unreadable."""
        if set(map(type, batch.said)) <= {str} and set(map(type, batch.ids)) <= {str, int}:
            return batch
        kept: list[tuple[int, int | str, str]] = []
        lists = self.reader.vocabulary.has_parts
        for row, line in enumerate(batch.lines):
            try:
                kept.append((row, _id_of(batch.ids[row]), text_of(batch.said[row], lists=lists)))
            except NoAnswer as error:
                self.bad(line, str(error))
        rows, ids, said = zip(*kept, strict=True) if kept else ((), (), ())
        choices = [batch.choices[row] for row in rows] if batch.choices else None
        boxes = [batch.boxes[row] for row in rows] if batch.boxes else None
        return PredictionRowBatch([batch.lines[row] for row in rows], ids, said, choices, boxes)

    def _code(self, batch: PredictionRowBatch, row: int) -> int:
        text = _meant(batch, row)
        if is_failure(batch.said[row]):
            return OUTSIDE
        code = self.reader.vocabulary.code(text)
        if code != OUTSIDE and not batch.choices and len(self.known) < REMEMBERED:
            self.known[text] = code
        return code

    def _add_numbers_and_boxes(self, batch: PredictionRowBatch, codes: Sequence[int]) -> None:
        """Add the numbers and boxes of rows that have these codes; note those that are wrong."""
        for row, (line, code) in enumerate(zip(batch.lines, codes, strict=True)):
            number = self.reader.vocabulary.number(_meant(batch, row), code)
            if number is not None and not abs(number) <= LARGEST_NUMBER:
                said = quote(batch.said[row])
                self._refuse(line, f"expected a number from -{LARGEST_NUMBER:,} to {LARGEST_NUMBER:,}, got {said}")
            self.numbers.append(math.nan if number is None else number)
            try:
                self.boxes.add(*(batch.boxes[row] if batch.boxes else (None, None)))
            except BadBoxes as error:
                self._refuse(line, str(error))
        if self.boxes.is_full:
            reason = f"expected at most {MOST_IN_FILE:,} boxes in a file, got more: reading stopped"
            raise UnreadableFile(reason, line=batch.lines[-1], unit=self.unit)

    def _read(self, batch: PredictionRowBatch, row: int, position: int) -> int:
        choices = batch.choices[row] if batch.choices else None
        return self.reader.code(batch.said[row], int(self.expected.kinds[position]), choices=choices)

    def _check_room(self, line: int) -> None:
        most = self.expected.n + EXTRA
        if self.got > most:
            reason = f"expected {self.expected.n:,} answers, got more than {most:,}: reading stopped"
            raise UnreadableFile(reason, line=line, unit=self.unit)

    def wrong(self, meant: int) -> int:
        """Return the number of unknown ids plus that of unanswered questions, for one of the meanings of ids."""
        positions = np.frombuffer(self.positions[meant], np.int32)
        known = positions[positions >= 0]
        return len(positions) - len(known) + self.expected.n - len(np.unique(known))

    def findings(self, meant: int) -> Findings:
        """Return the problems of the file, for one of the meanings of ids."""
        naming, positions = self.namings[meant], np.array(self.positions[meant], np.int32)
        known = positions[positions >= 0]
        times = np.bincount(known, minlength=self.expected.n)
        malformed = sorted([*self.malformed, *self._outside_of_pictures(positions)])
        found = Findings(unit=self.unit, malformed=malformed, names=naming.names)
        unknown = np.flatnonzero(positions < 0)
        said = self.ids.by(np.arange(len(positions), dtype=np.int32)) if len(unknown) else {}
        return replace(
            found,
            unknown=[(self.lines[row], said[row]) for row in unknown.tolist()],
            duplicate=self._again(found, positions, times),
            missing=np.flatnonzero(times == 0).astype(np.int32),
        )

    def _outside_of_pictures(self, positions: NDArray[np.int32]) -> list[tuple[int, str]]:
        """Return the line of each row with a box that is not in its picture, and the reason."""
        if self.expected.sizes is None or not self.boxes.has_boxes:
            return []
        found = self.boxes.outside(positions, self.expected.sizes)
        return [(self.lines[one.row], describe_outside(one)) for one in found]

    def _again(self, found: Findings, positions: NDArray[np.int32], times: NDArray[np.int64]) -> list[RepeatedAnswer]:
        """Return the rows that answer a question which an earlier row answers."""
        if not len(times) or times.max() < 2:
            return []
        rows = np.flatnonzero((positions >= 0) & (times[positions] > 1))
        first: dict[int, int] = {}
        again = []
        for row, position in zip(rows.tolist(), positions[rows].tolist(), strict=True):
            before = first.setdefault(position, self.lines[row])
            if before != self.lines[row]:
                again.append(RepeatedAnswer(self.lines[row], found.name(position), before))
        return again


def _meant(batch: PredictionRowBatch, row: int) -> str:
    """Return the answer of a row as a text: what its letter stands for, if the row has letters."""
    text: str = batch.said[row]
    chosen = batch.choices[row].get(text.strip(AROUND_LETTERS)) if batch.choices else None
    return text if chosen is None else chosen


def _id_of(value: object) -> int | str:
    """Return an id as a number or a text; raise `NoAnswer` for any other kind."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise NoAnswer(f"expected the id of a question, got {quote(value)}")
