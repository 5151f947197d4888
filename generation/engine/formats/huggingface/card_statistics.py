"""Statistics of the questions for the card: how often each value occurs, and the accuracy of blind guessing."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from generation.engine.formats import ExportItem, ExportSplit
from generation.engine.items import Facet, FacetKind
from generation.engine.scoring.figures import percent

BLOCK = 65_536  # questions counted at once


class BestGuess(NamedTuple):
    """The best constant answer: the answer, the number of questions it is right for, and the number of questions."""

    answer: str
    right: int
    of: int

    @property
    def percent(self) -> str:
        """Return the accuracy as a text for users."""
        return percent(self.right / self.of)


class FacetCounter:
    """The answers of a split, counted by question type while its items are read."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}

    def add(self, item: ExportItem) -> None:
        """Count an item's answers, if they may be seen."""
        for question in item.item.questions:
            if question.answer is not None:
                self.counts.setdefault(question.kind, Counter())[question.answer.text] += 1

    @property
    def answered(self) -> int:
        """Return how many answers were counted."""
        return sum(counter.total() for counter in self.counts.values())

    def majority(self) -> BestGuess | None:
        """Return the most frequent answer; None if no answers may be seen."""
        return _most(sum(self.counts.values(), Counter()))

    def majority_by_kind(self) -> int:
        """Return how many questions are right if each is given the most frequent answer of its type."""
        return sum(max(counter.values()) for counter in self.counts.values())


def _most(counter: Counter[str]) -> BestGuess | None:
    if not counter:
        return None
    answer = min(counter, key=lambda one: (-counter[one], one))
    return BestGuess(answer, counter[answer], counter.total())


class ValueCount(NamedTuple):
    """The label of a value or bin, and how many questions of each split have it."""

    label: str
    counts: tuple[int, ...]


def lines(splits: Sequence[ExportSplit], name: str) -> tuple[list[ExportSplit], list[ValueCount]]:
    """Return the splits that have a facet, and a `ValueCount` for each value or bin that occurs in one of them."""
    shown = [(split, facet) for split in splits for facet in split.facets if facet.name == name]
    counted = [(facet, _count(split, facet)) for split, facet in shown]
    found: dict[str, list[int]] = {}
    for at, (facet, counts) in enumerate(counted):
        for label, number in _labelled(facet, counts):
            found.setdefault(label, [0] * len(counted))[at] += number
    return [split for split, _ in shown], [ValueCount(label, tuple(each)) for label, each in found.items() if any(each)]


def _count(split: ExportSplit, facet: Facet) -> list[int]:
    """Return how many of a split's questions have each value of a facet."""
    totals = np.zeros(len(facet.values), dtype=np.int64)
    for first in range(0, split.questions, BLOCK):
        codes = split.facet_codes(first, min(BLOCK, split.questions - first))[facet.name]
        known = codes[codes >= 0]
        if facet.kind is FacetKind.FLAGS:
            totals += [int((known >> bit & 1).sum()) for bit in range(len(totals))]
        else:
            totals += np.bincount(known, minlength=len(totals))
    counts: list[int] = totals.tolist()
    return counts


def _labelled(facet: Facet, counts: Sequence[int]) -> list[tuple[str, int]]:
    """Return each value's label and count. Numbers with bins are counted by bin."""
    if not facet.bins:
        return list(zip(facet.labels or facet.values, counts, strict=True))
    numbers = [int(value) for value in facet.values]
    ends = [*(first - 1 for first in facet.bins[1:]), max(numbers)]
    return [
        (
            str(low) if low == high else f"{low}–{high}",
            sum(n for number, n in zip(numbers, counts, strict=True) if low <= number <= high),
        )
        for low, high in zip(facet.bins, ends, strict=True)
    ]
