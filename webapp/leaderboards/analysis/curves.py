"""Accuracy over how much was learned from, and the smallest size that reaches a target."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from generation.engine.statistics import Averaged
from webapp.leaderboards.analysis.slices import Cell
from webapp.leaderboards.disclosure.figures import exact_share

TRAIN_SIZE, EXAMPLES_SEEN = "train-size", "examples-seen"
ALONG = {TRAIN_SIZE: "training examples", EXAMPLES_SEEN: "examples seen"}


class Run(NamedTuple):
    """A row of a board as a point of a curve may be: whose, learned from what and how much, and how it scored.

    `source` tells splits apart that are called alike, as those that the reader may not know. Its address leads to more.
    `series` says which of the questions it is about, where not all; `parts` how it scored on each column of the board.
    """

    label: str
    source: int | None
    trained_on: str
    train_size: int | None
    examples_seen: int | None
    averaged: Averaged
    address: str = ""
    series: str = ""
    parts: tuple[Averaged, ...] = ()


class Point(NamedTuple):
    """How right the runs of one size are."""

    size: int
    cell: Cell


class Reached(NamedTuple):
    """The smallest size whose mean is at least a target, and the highest mean there is; None where there is none."""

    size: int | None
    best: float | None


class Curve(NamedTuple):
    """The points of a method, by size; `reached` is the smallest whose mean is at least the target.

    `parts` has the same of each column of the board. `trained` is what the label says of what it was trained on.
    """

    label: str
    points: list[Point]
    reached: int | None
    parts: tuple[Reached, ...] = ()
    trained: str = ""

    @property
    def short(self) -> str:
        """Return the label less what it says of what it was trained on."""
        return self.label.replace(f", {self.trained}", "", 1) if self.trained else self.label


def curves(found: Sequence[Run], *, along: str, target: Fraction) -> list[Curve]:
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
    """
    made = []
    for label, sized in _grouped(found, along=along).items():
        runs = sorted(sized.items())
        points = [Point(size, Cell(one.averaged, one.address)) for size, one in runs]
        parts = zip(*([Point(size, Cell(part, "")) for part in one.parts] for size, one in runs), strict=True)
        found_parts = tuple(_reached(part, target) for part in parts)
        trained = _trained(runs[0][1], along=along)
        made.append(Curve(label, points, _reached(points, target).size, found_parts, trained))
    return sorted(made, key=lambda curve: curve.label)


def _grouped(found: Sequence[Run], *, along: str) -> dict[str, dict[int, Run]]:
    """Return, by a label of its own, the runs of each curve by size; those that are called alike are counted."""
    grouped: dict[tuple[str, str, int | None], dict[int, Run]] = {}
    for one in sorted(found, key=lambda one: one.examples_seen or 0):
        size = one.train_size if along == TRAIN_SIZE else one.examples_seen
        if size is not None:
            grouped.setdefault((_label(one, along=along), one.series, one.source), {})[size] = one
    alike = Counter[str]()
    labelled = {}
    for (label, series, _), sized in grouped.items():
        alike[label + series] += 1
        name = label if alike[label + series] == 1 else f"{label} ({alike[label + series]})"
        labelled[f"{name}: {series}" if series else name] = sized
    return labelled


def _label(one: Run, *, along: str) -> str:
    trained = _trained(one, along=along)
    return f"{one.label}, {trained}" if trained else one.label


def _trained(one: Run, *, along: str) -> str:
    of = f"{one.train_size:,} of " if along == EXAMPLES_SEEN and one.train_size is not None else ""
    return f"trained on {of}{one.trained_on}" if one.trained_on else ""


def _reached(points: Sequence[Point], target: Fraction) -> Reached:
    """Return the smallest size whose mean is at least the target."""
    known = [(size, cell) for size, cell in points if cell.mean is not None]
    sizes = (size for size, cell in known if exact_share(cell.averaged) >= target)
    return Reached(next(sizes, None), max((cell.mean or 0.0 for _, cell in known), default=None))


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
