"""The confusion of a row of a board: how often it gives each answer to the questions with each right answer.

Answers that are no word of the vocabulary have columns of their own: outside the vocabulary, no answer, and ties of
people. In addresses, `right=red&given=blue` are the questions with one right answer to which the row gives another one.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions.unanswered import is_empty, is_failure
from generation.engine.scoring.figures import is_too_few, percent, rounded_or_none
from generation.engine.scoring.score import NONE, OUTSIDE, TIE
from generation.reports.scoring import truth_of
from generation.splits.query_string import MAX_CONDITIONS, BadAddress, QueryString, shorten
from generation.storage.split_index import IndexedFacet, SplitIndex
from webapp.leaderboards.entries import Codes, Contender

RIGHT, GIVEN, UNREAD = "right", "given", "unread"  # names in addresses
NAMES = (RIGHT, GIVEN, UNREAD)
WITHOUT_WORD = {"outside": OUTSIDE, "none": NONE, "tie": TIE}
LABELS = {OUTSIDE: "outside the vocabulary", NONE: "no answer", TIE: "a tie"}
MOST_MISTAKES = 10
NUMBER = re.compile(r"-?[0-9]{1,18}")
Mask = NDArray[np.bool_]


class AnswerFilter(NamedTuple):
    """A choice of questions by their right answers and by the answers of a row; an empty one chooses all."""

    right: tuple[int, ...] = ()
    given: tuple[int, ...] = ()

    @classmethod
    def read(cls, asked: QueryString, vocabulary: Sequence[str]) -> "AnswerFilter":
        """Return the choice in an address; raise `BadAddress` for a word that is no answer of the split."""
        codes = {word: code for code, word in enumerate(vocabulary)}
        rights, given, unread = (asked.values(name) for name in NAMES)
        if len(rights) + len(given) > MAX_CONDITIONS:
            raise BadAddress(f"Expected at most {MAX_CONDITIONS} answers to filter by, got more.")
        for name, word in [(RIGHT, word) for word in rights] + [(GIVEN, word) for word in given]:
            if word not in codes:
                raise BadAddress(f"Filter {name}: expected an answer of this split’s vocabulary, got {shorten(word)}.")
        for word in unread:
            if word not in WITHOUT_WORD:
                raise BadAddress(f"Filter {UNREAD}: expected one of {', '.join(WITHOUT_WORD)}, got {shorten(word)}.")
        found = (*(codes[word] for word in given), *(WITHOUT_WORD[word] for word in unread))
        return cls(tuple(codes[word] for word in rights), found)

    @property
    def is_empty(self) -> bool:
        return not self.right and not self.given

    def pairs(self, vocabulary: Sequence[str]) -> list[tuple[str, str]]:
        names = {code: name for name, code in WITHOUT_WORD.items()}
        given = [(GIVEN, vocabulary[code]) if code >= 0 else (UNREAD, names[code]) for code in self.given]
        return [*((RIGHT, vocabulary[code]) for code in self.right), *given]

    def described(self, vocabulary: Sequence[str], row: str) -> list[str]:
        right = [f"Right answer: {' or '.join(vocabulary[code] for code in self.right)}"] if self.right else []
        given = " or ".join(word_of(code, vocabulary) for code in self.given)
        return [*right, *([f"Answer of {row}: {given}"] if given else [])]

    def find(self, runs: Sequence[Codes], truth: NDArray[np.int64]) -> Mask:
        """Return which questions have one of the right answers and get one of the given ones from at least one run."""
        found = np.isin(truth, self.right) if self.right else np.ones(len(truth), np.bool_)
        if self.given:
            found &= np.logical_or.reduce([np.isin(run, self.given) for run in runs])
        return found


def word_of(code: int, vocabulary: Sequence[str]) -> str:
    return vocabulary[code] if code >= 0 else LABELS[code]


def without_empty(runs: Sequence[Codes], outside: Sequence[Mapping[int, str]]) -> list[Codes]:
    """Return the runs' codes with `NONE` for empty answers and failures, which are stored as outside the vocabulary."""
    found: list[Codes] = []
    for run, texts in zip(runs, outside, strict=True):
        empty = [position for position, text in texts.items() if is_empty(text) or is_failure(text)]
        own = run.astype(np.int64)
        own[empty] = NONE
        found.append(own)
    return found


class ConfusionCell(NamedTuple):
    """How many answers to the questions with some right answers are some given answers.

    Attributes
    ----------
    right, given : str
        What the row and the column show.
    times : int
        Over all runs.
    share : float or None
        Of all answers to these questions; None for too few questions.
    address : str
        The URL of the questions; empty if there are none, or too many answers for an address.
    is_right : bool
    """

    right: str
    given: str
    times: int
    share: float | None
    address: str
    is_right: bool

    @property
    def share_text(self) -> str:
        return "" if self.share is None else percent(self.share)

    @property
    def html(self) -> str:
        """Return the cell as HTML; a template would take several times as long for thousands of cells."""
        kinds = ["num", *(["diagonal"] if self.is_right else [])]
        if not self.times:
            return f'<td class="{" ".join(kinds)}"></td>'
        if self.share is not None:
            kinds.append(f"shade-{min(9, int(10 * self.share))}")
        share = f", {self.share_text}" if self.share is not None else ""
        told = escape(f"{self.right}: " if self.is_right else f"{self.given} for {self.right}: ")
        below = f'<span class="count">{self.share_text}</span>' if self.share is not None else ""
        text = f"{self.times:,}{below}"
        if self.address:
            address, label = escape(self.address), f"{told}{self.times:,}{share}"
            text = f'<a href="{address}" aria-label="{label}" title="{label}">{text}</a>'
        return f'<td class="{" ".join(kinds)}">{text}</td>'


class ConfusionRow(NamedTuple):
    """The answers to the `n` questions with one right answer, or with several infrequent ones together."""

    label: str
    n: int
    right: int
    cells: list[ConfusionCell]

    @property
    def html(self) -> str:
        return "".join(cell.html for cell in self.cells)


class ConfusionTable(NamedTuple):
    """The answers of a row of a board by right answer.

    Attributes
    ----------
    columns : list of str
    rows : list of ConfusionRow
    mistakes : list of ConfusionCell
        The most frequent ones, among all answers.
    lines : list of dict
        Every pair of answers that occurs, for files.
    questions, runs, right : int
        Questions, runs, and right answers of all runs.
    hidden : int
        The number of answers that are counted together as others.
    """

    columns: list[str]
    rows: list[ConfusionRow]
    mistakes: list[ConfusionCell]
    lines: list[dict[str, Any]]
    questions: int
    runs: int
    right: int
    hidden: int

    @property
    def answers(self) -> int:
        return self.questions * self.runs

    @property
    def accuracy_text(self) -> str:
        return "" if is_too_few(self.questions) else percent(self.right / self.answers)


class AnswerGroup(NamedTuple):
    # Answers that one row or one column counts together.
    label: str
    codes: tuple[int, ...]


def confusion_table(
    index: SplitIndex,
    contender: Contender,
    among: Mask,
    *,
    order: Sequence[int],
    most: int,
    address: str,
    kept: Sequence[tuple[str, str]],
) -> ConfusionTable:
    """Return the answers of a row of a board by right answer.

    Parameters
    ----------
    index : SplitIndex
    contender : Contender
        Without guesses. Empty answers have the code `NONE`, as from `without_empty`.
    among : array (questions,) of bool
        The questions to count. Questions without a known right answer do not count.
    order : sequence of int
        All codes of the vocabulary, as from `order_of_answers`.
    most : int
        The number of answers with a row and a column of their own, the most frequent ones.
    address : str
        The URL of the page with single questions.
    kept : sequence of (name, value)
        Parameters of that URL: the row and the filters.
    """
    found = _Counts(index, contender, among, order, f"{address}?{urlencode(kept)}")
    of_word = found.n + np.bincount(found.columns, found.times, found.size + len(LABELS))[: found.size].astype(np.int64)
    frequent = {code for code in np.argsort(-of_word, kind="stable")[:most].tolist() if of_word[code]}
    rights, givens = (_groups(order, there, frequent, found.vocabulary) for there in (found.n, of_word))
    there = set(found.columns.tolist())
    givens += [AnswerGroup(LABELS[code], (code,)) for code, place in found.places.items() if place in there]
    is_wrong = np.flatnonzero(found.rights != found.columns)
    most_wrong = is_wrong[np.argsort(-found.times[is_wrong], kind="stable")[:MOST_MISTAKES]]
    return ConfusionTable(
        columns=[one.label for one in givens],
        rows=found.rows(rights, givens),
        mistakes=[found.single(at) for at in most_wrong.tolist()],
        lines=[found.line(at) for at in range(len(found.times))],
        questions=int(found.n.sum()),
        runs=found.runs,
        right=int(found.right.sum()),
        hidden=int((of_word > 0).sum()) - len(frequent),
    )


class _Counts:
    """How often each right answer gets each given answer.

    Only pairs that occur are stored, in the order of answers, because a large vocabulary has millions of pairs.
    `rights` and `columns` are codes, with those of `places` for answers that are no words; `times` are their numbers.
    """

    def __init__(
        self, index: SplitIndex, contender: Contender, among: Mask, order: Sequence[int], address: str
    ) -> None:
        self.vocabulary, self.address = index.answer_values, address
        self.size, self.runs = len(self.vocabulary), len(contender.runs)
        self.places = {code: self.size + at for at, code in enumerate(LABELS)}
        self.codes = [*range(self.size), *LABELS]  # of each column
        wide, truth = len(self.codes), truth_of(index)
        asked = truth[among & (truth >= 0)]
        self.n = np.bincount(asked, minlength=self.size)
        keys = [asked * wide + self._columns_of(run[among & (truth >= 0)]) for run in contender.runs]
        pairs, times = np.unique(np.concatenate(keys), return_counts=True)
        rights, columns = pairs // wide, pairs % wide
        rank = np.arange(wide)
        rank[list(order)] = np.arange(self.size)
        sorting = np.lexsort((rank[columns], rank[rights]))
        self.rights, self.columns, self.times = rights[sorting], columns[sorting], times[sorting]
        is_right = self.rights == self.columns
        self.right = np.zeros(self.size, np.int64)
        self.right[self.rights[is_right]] = self.times[is_right]

    def _columns_of(self, run: Codes) -> NDArray[np.int64]:
        columns = run.astype(np.int64)
        for code, place in self.places.items():
            columns[columns == code] = place
        return columns

    def rows(self, rights: Sequence[AnswerGroup], givens: Sequence[AnswerGroup]) -> list[ConfusionRow]:
        row_of, column_of = np.zeros(self.size, np.int64), np.zeros(len(self.codes), np.int64)
        for at, right in enumerate(rights):
            row_of[list(right.codes)] = at
        for at, given in enumerate(givens):
            column_of[[self.places.get(code, code) for code in given.codes]] = at
        grid = np.zeros((len(rights), len(givens)), np.int64)
        np.add.at(grid, (row_of[self.rights], column_of[self.columns]), self.times)
        return [self._row(right, givens, times.tolist()) for right, times in zip(rights, grid, strict=True)]

    def _row(self, right: AnswerGroup, givens: Sequence[AnswerGroup], times: Sequence[int]) -> ConfusionRow:
        codes = list(right.codes)
        cells = [self._cell(right, given, one) for given, one in zip(givens, times, strict=True)]
        return ConfusionRow(right.label, int(self.n[codes].sum()), int(self.right[codes].sum()), cells)

    def single(self, at: int) -> ConfusionCell:
        pair = (int(self.rights[at]), self.codes[self.columns[at]])
        right, given = (AnswerGroup(word_of(code, self.vocabulary), (code,)) for code in pair)
        return self._cell(right, given, int(self.times[at]))

    def _cell(self, right: AnswerGroup, given: AnswerGroup, times: int) -> ConfusionCell:
        n = int(self.n[list(right.codes)].sum())
        share = None if is_too_few(n) else times / (n * self.runs)
        pairs = AnswerFilter(right.codes, given.codes).pairs(self.vocabulary) if times else []
        link = f"{self.address}&{urlencode(pairs)}" if 0 < len(pairs) <= MAX_CONDITIONS else ""
        return ConfusionCell(right.label, given.label, times, share, link, right == given and len(right.codes) == 1)

    def line(self, at: int) -> dict[str, Any]:
        right, given, times = int(self.rights[at]), self.codes[self.columns[at]], int(self.times[at])
        n = int(self.n[right])
        names = {code: name for name, code in WITHOUT_WORD.items()}
        return {
            "right": self.vocabulary[right],
            "given": self.vocabulary[given] if given >= 0 else "",
            "unread": names.get(given, ""),
            "times": times,
            "n": n,
            "runs": self.runs,
            "share": None if is_too_few(n) else rounded_or_none(times / (n * self.runs)),
        }


def _groups(
    order: Sequence[int], there: NDArray[np.int64], frequent: Collection[int], vocabulary: Sequence[str]
) -> list[AnswerGroup]:
    """Return a group for each frequent answer that occurs, and one for all others."""
    occurring = [code for code in order if there[code]]
    others = tuple(code for code in occurring if code not in frequent)
    singles = frequent if len(others) > 1 else {*frequent, *others}
    found = [AnswerGroup(vocabulary[code], (code,)) for code in occurring if code in singles]
    return [*found, AnswerGroup(f"{len(others)} others", others)] if len(others) > 1 else found


def order_of_answers(index: SplitIndex, by: IndexedFacet | None) -> list[int]:
    """Return the codes of all answers: numbers in their order, then words in groups.

    The group of a word is the value of the facet `by` that most of its questions have, such as the type. Answers that
    can be confused with each other are then side by side.
    """
    vocabulary, truth = index.answer_values, truth_of(index)
    groups = np.zeros(len(vocabulary), np.int64)
    if by is not None and by.values:
        known = (truth >= 0) & (by.codes < len(by.values))
        size = len(by.values)
        pairs = np.bincount(truth[known] * size + by.codes[known], minlength=len(vocabulary) * size)
        groups = pairs.reshape(len(vocabulary), size).argmax(axis=1)

    def key(code: int) -> tuple[Any, ...]:
        word = vocabulary[code]
        return (0, int(word), 0, word) if NUMBER.fullmatch(word) else (1, 0, int(groups[code]), word)

    return sorted(range(len(vocabulary)), key=key)
