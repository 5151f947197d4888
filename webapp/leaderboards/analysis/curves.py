"""Learning curves: accuracy over the amount of training data, and the smallest amount that reaches a target.

A table says with how many examples each column of a board reaches the target, one column a curve.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from django.utils import timezone

from generation.engine.items import Column
from generation.engine.scoring.statistics import Averaged
from generation.engine.worlds.boards import Tasks
from generation.models import Split
from webapp.leaderboards.analysis.downloads import Table
from webapp.leaderboards.analysis.slices import SliceCell
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


class CurvePoint(NamedTuple):
    """How right the runs of one size are."""

    size: int
    cell: SliceCell


class Reached(NamedTuple):
    """The smallest size whose mean is at least a target, and the highest mean there is; None where there is none."""

    size: int | None
    best: float | None


class Curve(NamedTuple):
    """The points of a method, by size; `reached` is the smallest whose mean is at least the target.

    `parts` has the same of each column of the board. `trained` is what the label says of what it was trained on.
    """

    label: str
    points: list[CurvePoint]
    reached: int | None
    parts: tuple[Reached, ...] = ()
    trained: str = ""

    @property
    def short(self) -> str:
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
        points = [CurvePoint(size, SliceCell(one.averaged, one.address)) for size, one in runs]
        parts = zip(*([CurvePoint(size, SliceCell(part, "")) for part in one.parts] for size, one in runs), strict=True)
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


def _reached(points: Sequence[CurvePoint], target: Fraction) -> Reached:
    known = [(size, cell) for size, cell in points if cell.mean is not None]
    sizes = (size for size, cell in known if exact_share(cell.averaged) >= target)
    return Reached(next(sizes, None), max((cell.mean or 0.0 for _, cell in known), default=None))


def lines_of(found: Sequence[Curve]) -> Iterator[dict[str, float | int | str | None]]:
    for curve in found:
        for size, cell in curve.points:
            yield {"curve": curve.label, **point_json(size, cell)}


def point_json(size: int, cell: SliceCell) -> dict[str, float | int | None]:
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


FAIL = "FAIL"  # no size that was measured reaches it
UNTOLD = "–"  # too few questions


class TargetRow(NamedTuple):
    """A column of the board, with what each curve needs for it."""

    label: str
    title: str
    found: list[Reached]

    @property
    def cells(self) -> list[tuple[str, str]]:
        """Return what is said of each curve, and beside it the highest accuracy where the target isn't reached."""
        return [(text_of(one), "" if one.size is not None else best_of(one)) for one in self.found]


class Needed(NamedTuple):
    """What curves need: a line for each column, and for each curve how many of these don't reach the target.

    `noun` is what a column is called.
    """

    curves: list[str]
    lines: list[TargetRow]
    failed: list[int]
    noun: str


def text_of(one: Reached) -> str:
    if one.size is not None:
        return f"{one.size:,}"
    return UNTOLD if one.best is None else FAIL


def best_of(one: Reached) -> str:
    """Return the highest accuracy in points for people; empty where it isn't told."""
    return "" if one.best is None else f"{100 * one.best:.1f}"


def needed(curves: Sequence[Curve], columns: Sequence[Column], tasks: Tasks | None) -> Needed:
    """Return what each curve needs for each column; where there are tasks, for these alone."""
    chosen = [at for at, column in enumerate(columns) if tasks is None or column.facet == tasks.facet]
    lines = [
        TargetRow(columns[at].label, columns[at].title or columns[at].label, [curve.parts[at] for curve in curves])
        for at in chosen
    ]
    failed = [sum(text_of(line.found[at]) == FAIL for line in lines) for at in range(len(curves))]
    return Needed([curve.label for curve in curves], lines, failed, tasks.noun if tasks is not None else "column")


def table_of(split: Split, found: Needed, along: str, target: str) -> Table:
    """Return it for other programs: `FAIL` where no size that was measured reaches the target."""
    caption = (
        f"{ALONG[along].capitalize()} with which {target} percent are right, on {split} "
        f"({split.questions:,} questions, content hash {split.fingerprint[:16]}); {timezone.localdate().isoformat()}."
    )
    failed = [f"{found.noun.capitalize()}s failed", *map(str, found.failed)]
    return Table(
        title=f"What curves of {split} need",
        caption=caption,
        heads=[found.noun.capitalize(), *found.curves],
        texts=1,
        printed=[*([line.title, *(text for text, _ in line.cells)] for line in found.lines), failed],
        heads_of_all=[found.noun, "title", *(name for curve in found.curves for name in (curve, f"{curve}, highest"))],
        rows=[[line.label, line.title, *(cell for one in line.found for cell in _cells(one))] for line in found.lines],
        data={
            "split": str(split),
            "fingerprint": split.fingerprint,
            "along": along,
            "target": float(target),
            "rows": [line_json(line, found.curves) for line in found.lines],
            "failed": dict(zip(found.curves, found.failed, strict=True)),
        },
    )


def line_json(line: TargetRow, curves: Sequence[str]) -> dict[str, object]:
    """Return what a column needs for other programs: by curve `reached` and `highest`."""
    found = zip(curves, line.found, strict=True)
    return {"column": line.label, "title": line.title, "curves": {curve: reached_json(one) for curve, one in found}}


def reached_json(one: Reached) -> dict[str, float | int | None]:
    return {"reached": one.size, "highest": None if one.best is None else round(one.best, 6)}


def _cells(one: Reached) -> list[str | int | float | None]:
    size = None if one.best is None else FAIL
    return [one.size if one.size is not None else size, None if one.best is None else round(one.best, 6)]
