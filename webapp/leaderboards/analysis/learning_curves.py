"""Learning curves: a figure over the amount of training data, and the smallest amount that reaches a target accuracy.

The figure is the accuracy or another metric. The target is always an accuracy: a table shows for each column of a board
and each curve how many examples reach it.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from django.utils import timezone

from generation.engine.items import Column
from generation.engine.scoring.counts.metrics import Better, Metric
from generation.engine.scoring.figures import Averaged, points, rounded_or_none
from generation.engine.scoring.sample_complexity import SizeInterval
from generation.engine.worlds.breakdowns import Tasks
from generation.models import Split
from webapp.leaderboards.analysis.downloads import Table
from webapp.leaderboards.analysis.slices import SliceCell
from webapp.leaderboards.entries import Entry, distinguish, together
from webapp.leaderboards.metrics import MetricCell, MetricFigure
from webapp.leaderboards.models import Score

TRAIN_SIZE, EXAMPLES_SEEN = "train-size", "examples-seen"
ALONG = {TRAIN_SIZE: "training examples", EXAMPLES_SEEN: "examples seen"}


class FigureCell(NamedTuple):
    """An accuracy or another figure of a method's runs for charts, tables and files, and the address of details.

    `mean` is None if there are too few questions, or if the predictions do not have what the metric needs.
    """

    address: str
    mean: float | None
    text: str
    beside: str
    json: Mapping[str, float | int | None]

    @property
    def chart_values(self) -> dict[str, float | None]:
        return {"share": self.mean, "low": self.json.get("low"), "high": self.json.get("high")}


class FigurePoint(NamedTuple):
    at: float  # a training size, or another number
    cell: FigureCell


class FigureCurve(NamedTuple):
    """The figures of a method; the other fields are those of `Curve`."""

    label: str
    points: Sequence[FigurePoint]
    trained: str = ""
    reached: int | None = None

    @property
    def short(self) -> str:
        return short_label(self.label, self.trained)


def metric_cell(metric: Metric, figure: MetricFigure | None, address: str) -> FigureCell:
    """Return a figure of a metric; `address` is the page of metrics with the chosen row, and None is no figure."""
    cell = MetricCell(metric, figure)
    known = figure or MetricFigure(0, 0)
    details = "" if figure is None else f"{address}&metric={metric.name}"
    return FigureCell(details, known.value, cell.text, cell.beside, known.to_json())


class Run(NamedTuple):
    """A row of a board as a possible point of a curve: its method, its training data, and its accuracy.

    `source` is the key of the training split, since different splits may have the same name, for example splits that
    the visitor may not see. `address` links to details. `series` names the series of a view that the point is about, if
    there is one. `parts` is the accuracy on each column of the board. `method` is the key of the method, since the
    methods of two accounts may have the same name. `figure` is the figure of another metric than the accuracy, if the
    visitor chose one.
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
    method: int | None = None
    figure: FigureCell | None = None


def accuracy_cell(run: Run) -> FigureCell:
    cell = SliceCell(run.averaged, run.address)
    json = point_json(0, cell)
    json["value"] = json.pop("accuracy")
    return FigureCell(run.address, cell.mean, cell.text, cell.beside, json)


class CurvePoint(NamedTuple):
    size: int
    cell: SliceCell


class ReachedTarget(NamedTuple):
    size: int | None
    best: float | None  # the highest mean


class Curve(NamedTuple):
    """The points of a curve by size; `reached` is the smallest size whose mean reaches the target.

    `parts` has the same for each column of the board. `trained` is the part of the label about the training split.
    `method` and `source` are the keys of the method and of the training split. `figures` has the points of another
    metric than the accuracy, if the visitor chose one.
    """

    label: str
    points: list[CurvePoint]
    reached: int | None
    parts: tuple[ReachedTarget, ...] = ()
    trained: str = ""
    method: int | None = None
    source: int | None = None
    figures: tuple[FigurePoint, ...] = ()

    @property
    def short(self) -> str:
        return short_label(self.label, self.trained)

    @property
    def of_metric(self) -> FigureCurve:
        return FigureCurve(self.label, self.figures, self.trained, self.reached)

    def points_json(self) -> list[dict[str, float | int | None]]:
        if self.figures:
            return [{"size": size, **cell.json} for size, cell in self.figures]
        return [point_json(size, cell) for size, cell in self.points]


def short_label(label: str, trained: str) -> str:
    return label.replace(f", {trained}", "", 1) if trained else label


def curve_entries(user: Any, split: Split) -> list[Entry]:
    return distinguish(
        together(user, split, Score.objects.known_to(user, split).filter(submission__method__baseline=""))
    )


def run_of(entry: Entry, address: str) -> Run:
    """Return an entry with submissions as a possible point of a curve."""
    first = entry.submissions[0]
    return Run(
        entry.name,
        first.trained_on_id,
        entry.trained_on,
        first.train_size,
        first.examples_seen,
        entry.averaged,
        address,
        method=first.method_id,
    )


def curves(found: Sequence[Run], *, along: str, target: Fraction) -> list[Curve]:
    """Return the curves of a board: one for each method and training split.

    If the horizontal axis is the number of examples seen, there is one curve for each size of the training set as well.
    If it is that size, then of several runs the one that saw the most examples counts.

    Parameters
    ----------
    found : sequence of Run
        Each method with each of its configurations.
    along : str
        `TRAIN_SIZE` or `EXAMPLES_SEEN`.
    target : Fraction
        The target accuracy.
    """
    made = []
    for label, sized in _grouped(found, along=along).items():
        runs = sorted(sized.items())
        points = [CurvePoint(size, SliceCell(one.averaged, one.address)) for size, one in runs]
        parts = zip(*([CurvePoint(size, SliceCell(part, "")) for part in one.parts] for size, one in runs), strict=True)
        found_parts = tuple(reached(part, target) for part in parts)
        first = runs[0][1]
        trained = _trained(first, along=along)
        size = reached(points, target).size
        figures = tuple(FigurePoint(at, one.figure) for at, one in runs if one.figure is not None)
        made.append(Curve(label, points, size, found_parts, trained, first.method, first.source, figures))
    return sorted(made, key=lambda curve: curve.label)


def _grouped(found: Sequence[Run], *, along: str) -> dict[str, dict[int, Run]]:
    """Return the runs of each curve by size, by a unique label; equal labels are numbered."""
    grouped: dict[tuple[str, str, int | None, int | None], dict[int, Run]] = {}
    for one in sorted(found, key=lambda one: one.examples_seen or 0):
        size = size_of(one, along=along)
        if size is not None:
            grouped.setdefault((label_of(one, along=along), one.series, one.method, one.source), {})[size] = one
    numbers = number_equal((label, series) for label, series, *_ in grouped)
    return {
        f"{label}{number}: {series}" if series else f"{label}{number}": sized
        for ((label, series, *_), sized), number in zip(grouped.items(), numbers, strict=True)
    }


def size_of(one: Run, *, along: str) -> int | None:
    return one.train_size if along == TRAIN_SIZE else one.examples_seen


def number_equal(labels: Iterable[Hashable]) -> list[str]:
    """Return for each label the suffix that makes it unique: empty for the first of equal labels, then ` (2)`, ..."""
    counts, found = Counter[Hashable](), []
    for label in labels:
        counts[label] += 1
        found.append("" if counts[label] == 1 else f" ({counts[label]})")
    return found


def label_of(one: Run, *, along: str) -> str:
    trained = _trained(one, along=along)
    return f"{one.label}, {trained}" if trained else one.label


def _trained(one: Run, *, along: str) -> str:
    of = f"{one.train_size:,} of " if along == EXAMPLES_SEEN and one.train_size is not None else ""
    return f"trained on {of}{one.trained_on}" if one.trained_on else ""


def reached(points: Sequence[CurvePoint], target: Fraction) -> ReachedTarget:
    known = _known(points)
    sizes = (size for size, cell in known if cell.averaged.exact_mean >= target)
    return ReachedTarget(next(sizes, None), max((cell.mean or 0.0 for _, cell in known), default=None))


def reached_between(points: Sequence[CurvePoint], target: Fraction) -> SizeInterval:
    """Return the sizes at which the upper and the lower end of the accuracy's interval reach the target."""
    ends = [(size, cell.figure.low, cell.figure.high) for size, cell in _known(points)]
    low = next((size for size, _, high in ends if high is not None and high >= target), None)
    high = next((size for size, low, _ in ends if low is not None and low >= target), None)
    return SizeInterval(low, high)


def _known(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    return [one for one in points if one.cell.mean is not None]


def point_json(size: float, cell: SliceCell) -> dict[str, float | int | None]:
    found = cell.figure
    deviation = rounded_or_none(found.deviation)
    return {"size": size, "n": found.n, "runs": found.runs, **found.shares(), "deviation": deviation}


def metric_json(metric: Metric | None) -> dict[str, str]:
    if metric is None:
        return {"metric": "accuracy", "is_better": str(Better.HIGHER)}
    return {"metric": metric.name, "is_better": str(metric.is_better)}


def curves_table(split: Split, found: Sequence[Curve], along: str, metric: Metric | None) -> Table:
    """Return the points of curves as a table with a row for each point."""
    label = "Accuracy" if metric is None else metric.label
    names = POINT_NAMES if metric is None else ("metric", *FIGURE_NAMES)
    lines = [{"curve": curve.label, **metric_json(metric), **point} for curve in found for point in curve.points_json()]
    caption = (
        f"{label} over {ALONG[along]} on {split} ({split.questions:,} questions, content hash "
        f"{split.fingerprint[:16]}), means over runs with 95 percent intervals; {timezone.localdate().isoformat()}."
    )
    return Table(
        title=f"Curves of {split}",
        caption=caption,
        heads=["Curve", ALONG[along].capitalize(), label, "95 % interval and n"],
        texts=1,
        printed=[
            [curve.label, f"{size:,}", cell.text, cell.beside]
            for curve in found
            for size, cell in (curve.figures or curve.points)
        ],
        heads_of_all=names,
        rows=[[line[name] for name in names] for line in lines],
        data={
            "split": str(split),
            "fingerprint": split.fingerprint,
            "along": along,
            **metric_json(metric),
            "points": [{name: line[name] for name in names if name != "metric"} for line in lines],
        },
    )


POINT_NAMES = ("curve", "size", "n", "runs", "accuracy", "low", "high", "deviation")
FIGURE_NAMES = ("curve", "size", *MetricFigure._fields)


FAIL = "FAIL"  # no measured size reaches the target
UNTOLD = "–"  # too few questions


class TargetRow(NamedTuple):
    """A column of the board, with the size that each curve needs for it."""

    label: str
    title: str
    found: list[ReachedTarget]

    @property
    def cells(self) -> list[tuple[str, str]]:
        return [(text_of(one), "" if one.size is not None else best_of(one)) for one in self.found]


class CurveNeeds(NamedTuple):
    """The sizes that curves need: a row for each column, and for each curve how many columns miss the target.

    `noun` is the name for a column.
    """

    curves: list[str]
    lines: list[TargetRow]
    failed: list[int]
    noun: str


def text_of(one: ReachedTarget) -> str:
    if one.size is not None:
        return f"{one.size:,}"
    return UNTOLD if one.best is None else FAIL


def best_of(one: ReachedTarget) -> str:
    return "" if one.best is None else points(one.best)


def curve_needs(curves: Sequence[Curve], columns: Sequence[Column], tasks: Tasks | None) -> CurveNeeds:
    """Return what each curve needs for each column; only for columns that are tasks, if there are any."""
    chosen = [at for at, column in enumerate(columns) if tasks is None or column.facet == tasks.facet]
    lines = [
        TargetRow(columns[at].label, columns[at].title or columns[at].label, [curve.parts[at] for curve in curves])
        for at in chosen
    ]
    failed = [sum(text_of(line.found[at]) == FAIL for line in lines) for at in range(len(curves))]
    return CurveNeeds([curve.label for curve in curves], lines, failed, tasks.noun if tasks is not None else "column")


def table_of(split: Split, found: CurveNeeds, along: str, target: str) -> Table:
    """Return the sizes that reach the target as a table; `FAIL` if no measured size reaches it."""
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
    found = zip(curves, line.found, strict=True)
    return {"column": line.label, "title": line.title, "curves": {curve: reached_json(one) for curve, one in found}}


def reached_json(one: ReachedTarget) -> dict[str, float | int | None]:
    return {"reached": one.size, "highest": rounded_or_none(one.best)}


def _cells(one: ReachedTarget) -> list[str | int | float | None]:
    size = None if one.best is None else FAIL
    return [one.size if one.size is not None else size, rounded_or_none(one.best)]
