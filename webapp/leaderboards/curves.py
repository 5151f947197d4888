"""Accuracy over how much was learned from, and the smallest size that reaches a target."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from generation.engine.statistics import Averaged
from webapp.leaderboards.slices import Cell
from webapp.leaderboards.withholding import PLACES, Terms

TRAIN_SIZE, EXAMPLES_SEEN = "train-size", "examples-seen"
ALONG = {TRAIN_SIZE: "training examples", EXAMPLES_SEEN: "examples seen"}


class Run(NamedTuple):
    """A row of a board as a point of a curve may be: whose, learned from what and how much, and how it scored.

    `source` tells splits apart that are called alike, as those that the reader may not know. Its address leads to more.
    """

    label: str
    source: int | None
    trained_on: str
    train_size: int | None
    examples_seen: int | None
    averaged: Averaged
    address: str = ""


class Point(NamedTuple):
    """How right the runs of one size are."""

    size: int
    cell: Cell


class Curve(NamedTuple):
    """The points of a method, by size; `reached` is the smallest whose mean is at least the target."""

    label: str
    points: list[Point]
    reached: int | None


def curves(found: Sequence[Run], *, along: str, target: Fraction, terms: Terms) -> list[Curve]:
    """Return the curves of a board: one for each method and split it was trained on.

    Along the number of examples seen, one for each size of training set as well. Along that size, of several runs of
    training the one that saw most examples counts.

    Parameters
    ----------
    found : sequence of Run
        Each method under each of its circumstances.
    along : str
        `TRAIN_SIZE` or `EXAMPLES_SEEN`.
    target : Fraction
        A share of right answers.
    terms : Terms
    """
    made = []
    for label, sized in _grouped(found, along=along).items():
        points = [Point(size, Cell(one.averaged, one.address, terms)) for size, one in sorted(sized.items())]
        made.append(Curve(label, points, _reached(points, target)))
    return sorted(made, key=lambda curve: curve.label)


def _grouped(found: Sequence[Run], *, along: str) -> dict[str, dict[int, Run]]:
    """Return, by a label of its own, the runs of each curve by size; those that are called alike are counted."""
    grouped: dict[tuple[str, int | None], dict[int, Run]] = {}
    for one in sorted(found, key=lambda one: one.examples_seen or 0):
        size = one.train_size if along == TRAIN_SIZE else one.examples_seen
        if size is not None:
            grouped.setdefault((_label(one, along=along), one.source), {})[size] = one
    alike = Counter[str]()
    labelled = {}
    for (label, _), sized in grouped.items():
        alike[label] += 1
        labelled[label if alike[label] == 1 else f"{label} ({alike[label]})"] = sized
    return labelled


def _label(one: Run, *, along: str) -> str:
    of = f"{one.train_size:,} of " if along == EXAMPLES_SEEN and one.train_size is not None else ""
    return f"{one.label}, trained on {of}{one.trained_on}" if one.trained_on else one.label


def _reached(points: Sequence[Point], target: Fraction) -> int | None:
    """Return the smallest size whose mean, as it may be told, is at least the target."""
    for size, cell in points:
        if cell.mean is not None and share_of(cell) >= target:
            return size
    return None


def share_of(cell: Cell) -> Fraction:
    """Return a mean share exactly, or as it may be told."""
    found = cell.averaged
    exact = Fraction(sum(found.rights), max(1, len(found.rights) * found.n))
    return exact if cell.terms.is_open else Fraction(round(cell.mean or 0.0, PLACES)).limit_denominator(10**PLACES)


def lines_of(found: Sequence[Curve]) -> Iterator[dict[str, float | int | str | None]]:
    """Yield every point as a line of figures."""
    for curve in found:
        for size, cell in curve.points:
            yield {"curve": curve.label, **point_json(size, cell)}


def point_json(size: int, cell: Cell) -> dict[str, float | int | None]:
    """Return a point for other programs."""
    return {
        "size": size,
        "n": cell.n,
        "runs": len(cell.averaged.rights),
        "accuracy": None if cell.mean is None else round(cell.mean, 6),
        "low": None if cell.mean is None else round(cell.interval.low, 6),
        "high": None if cell.mean is None else round(cell.interval.high, 6),
        "deviation": None if cell.deviation is None else round(cell.deviation, 6),
    }
