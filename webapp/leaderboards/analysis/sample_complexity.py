"""Grids: for each method and target, the smallest training size that reaches the target for each k of a suite.

The points are those of learning curves, one board for each k. The interval of a size is over runs; if a size has a
single run, it is over questions, as for learning curves. The slope of log n over log k says how the size grows with the
world.
"""

import functools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils import timezone

from generation.access import may_see_exact_figures
from generation.engine.scoring.figures import Interval, rounded, rounded_or_none
from generation.engine.scoring.sample_complexity import (
    MeasuredSize,
    SizeInterval,
    size_interval,
    slope,
    slope_interval,
)
from generation.models import Split
from webapp.leaderboards.analysis.downloads import Table
from webapp.leaderboards.analysis.learning_curves import (
    FAIL,
    TRAIN_SIZE,
    Curve,
    CurvePoint,
    ReachedTarget,
    Run,
    best_of,
    curve_entries,
    curves,
    label_of,
    number_equal,
    reached,
    reached_between,
    run_of,
    text_of,
)
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.models import Suite, SuiteMember
from webapp.leaderboards.suites import members_for

TARGETS = (75, 85, 90, 95)  # percent, those of the paper
USUAL = 90
TOO_FEW_K = "too few"
SIZES = "training examples"
ONE_RUN = "*"  # behind an interval over questions
OF_ONE_RUN = f" ({ONE_RUN}: over questions, because some n has a single run)"
RUNS, QUESTIONS = "runs", "questions"


class NeededSize(NamedTuple):
    """The smallest size with which a method reaches a target for one k.

    Attributes
    ----------
    k : float
    reached : ReachedTarget
    between : SizeInterval
    is_over_runs : bool
        Whether the interval is over runs. Otherwise it is over questions, because a size has a single run.
    sizes : tuple of int
        The measured sizes with enough questions, in order.
    address : str
        URL of the curves of this k.
    """

    k: float
    reached: ReachedTarget
    between: SizeInterval
    is_over_runs: bool
    sizes: tuple[int, ...]
    address: str

    @property
    def is_known(self) -> bool:
        return self.reached.best is not None

    @property
    def text(self) -> str:
        return text_of(self.reached)

    @property
    def beside(self) -> str:
        """Return the interval of the size, or the highest accuracy if the target is not reached, as text."""
        if not self.is_known:
            return ""
        best = "" if self.reached.size is not None else f"at most {best_of(self.reached)} %"
        return "; ".join(part for part in (best, self.interval_text) if part)

    @property
    def interval_text(self) -> str:
        """Return the interval of the size; empty if nothing is known, or if both ends are above the largest size."""
        if not self.is_known or self.between == (None, None):
            return ""
        low, high = (f"{size:,}" if size is not None else FAIL for size in self.between)
        return f"{low}–{high}{'' if self.is_over_runs else ONE_RUN}"

    @property
    def printed(self) -> str:
        return f"{self.text} ({self.interval_text})" if self.interval_text else self.text

    def to_json(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "reached": self.reached.size,
            **self.between._asdict(),
            "interval_over": (RUNS if self.is_over_runs else QUESTIONS) if self.is_known else None,
            "highest": rounded_or_none(self.reached.best),
            "largest": max(self.sizes, default=None),
        }


class TargetLine(NamedTuple):
    """The sizes that a method needs for one target in percent, by k, and the slope of log n over log k."""

    target: int
    cells: tuple[NeededSize, ...]
    slope: float | None
    interval: Interval | None

    @property
    def slope_text(self) -> str:
        return TOO_FEW_K if self.slope is None else decimal(self.slope)

    @property
    def interval_text(self) -> str:
        return "" if self.interval is None else f"{decimal(self.interval.low)} to {decimal(self.interval.high)}"

    def to_json(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        found = {"slope": self.slope, "slope_low": low, "slope_high": high}
        return {
            "target": self.target,
            **{name: None if value is None else rounded(value) + 0.0 for name, value in found.items()},  # 0, not -0
            "sizes": [cell.to_json() for cell in self.cells],
        }


class GridMethod(NamedTuple):
    """A method on a grid, with a line for each target; `key` names it in URLs."""

    key: str
    label: str
    lines: tuple[TargetLine, ...]

    @property
    def has_single_runs(self) -> bool:
        return any(cell.is_known and not cell.is_over_runs for line in self.lines for cell in line.cells)

    def at(self, target: int) -> TargetLine:
        return next(line for line in self.lines if line.target == target)


class Grid(NamedTuple):
    """A grid as one visitor sees it.

    Attributes
    ----------
    suite : Suite
    members : list of SuiteMember
        Those with a k above 0 whose exact figures the visitor may see, in order of k.
    withheld, missing : int
        The number of members whose answers are withheld, and of those that the visitor may not see at all.
    methods : list of GridMethod
    sizes : list of int
        All measured sizes, in order.
    """

    suite: Suite
    members: list[SuiteMember]
    withheld: int
    missing: int
    methods: list[GridMethod]
    sizes: list[int]

    @property
    def has_single_runs(self) -> bool:
        return any(method.has_single_runs for method in self.methods)  # their intervals of sizes are over questions


def decimal(value: float) -> str:
    return f"{value:z.2f}".replace("-", "−")


def grid_of(user: Any, suite: Suite) -> Grid:
    """Return a suite as a grid as this visitor may see it; boards with withheld answers are left out."""
    every, shown = members_for(user, suite)
    found = sorted((one for one in shown if one.k), key=lambda one: one.k or 0.0)
    members = [one for one in found if may_see_exact_figures(user, one.split)]
    methods = _methods(members, [_curves_of(user, member.split) for member in members])
    sizes = {size for method in methods for cell in method.lines[0].cells for size in cell.sizes}
    return Grid(suite, members, len(found) - len(members), len(every) - len(shown), methods, sorted(sizes))


CurveKey = tuple[int, int | None]
"""The key of a method, and the number of its training split; None if it is trained on the data of the board's split."""


class LabelledCurve(NamedTuple):
    label: str  # the same on all boards of a grid
    curve: Curve


def _methods(members: Sequence[SuiteMember], boards: Sequence[dict[CurveKey, LabelledCurve]]) -> list[GridMethod]:
    """Return the methods of a grid by label, from the curves of each member's board."""
    keys = sorted({key for board in boards for key in board}, key=lambda key: (key[0], key[1] or 0))
    labels = [next(board[key].label for board in boards if key in board) for key in keys]
    found = []
    for key, label, number in zip(keys, labels, number_equal(labels), strict=True):
        method, source = key
        mine = [board[key].curve.points if key in board else [] for board in boards]
        lines = tuple(_line(members, mine, target) for target in TARGETS)
        found.append(GridMethod(f"m{method}" if source is None else f"m{method}-{source}", f"{label}{number}", lines))
    return sorted(found, key=lambda method: method.label)


def _curves_of(user: Any, split: Split) -> dict[CurveKey, LabelledCurve]:
    """Return the curves of a split's board.

    Each k has its own training data, so curves of runs that are trained on the data of this split, or that do not state
    their training split, have no training split in their key and label.
    """
    address = reverse("board_curves", args=[split.dataset.slug, split.name])
    runs = [run_on_own_data(split, entry, address) for entry in curve_entries(user, split)]
    labels = {(run.method, run.source): label_of(run, along=TRAIN_SIZE) for run in runs}
    found = curves(runs, along=TRAIN_SIZE, target=Fraction(USUAL, 100))
    return {
        (one.method, one.source): LabelledCurve(labels[one.method, one.source], one)
        for one in found
        if one.method is not None
    }


def run_on_own_data(split: Split, entry: Entry, address: str) -> Run:
    """Return an entry as a point of a curve, without its training split if that is the reference or a part of it."""
    run, source = run_of(entry, address), entry.submissions[0].trained_on
    if source is None:
        is_own = not entry.trained_on  # a deleted training split has a name
    elif split.reference_id is None:
        is_own = source.dataset_id == split.dataset_id
    else:
        is_own = split.reference_id in (source.pk, source.parent_id)
    return run._replace(source=None, trained_on="") if is_own else run._replace(source=entry.configuration[0])


def _line(members: Sequence[SuiteMember], boards: Sequence[Sequence[CurvePoint]], target: int) -> TargetLine:
    """Return what a method needs for one target; `boards` has its points for each member."""
    share = Fraction(target, 100)
    cells, measured = [], []
    for member, points in zip(members, boards, strict=True):
        k = member.k or 0.0
        known = [one for one in points if one.cell.mean is not None]
        sizes = tuple(MeasuredSize(size, cell.averaged) for size, cell in known)
        over_runs = _size_interval(sizes, share)
        measured.append((k, sizes))
        cells.append(
            NeededSize(
                k,
                reached(points, share),
                over_runs or reached_between(points, share),
                over_runs is not None,
                tuple(size for size, _ in known),
                f"{known[0].cell.address}?target={target}" if known else "",
            )
        )
    found = [(cell.k, cell.reached.size) for cell in cells if cell.reached.size is not None]
    return TargetLine(target, tuple(cells), slope(found), _slope_interval(tuple(measured), share))


@functools.lru_cache(maxsize=20_000)
def _size_interval(measured: tuple[MeasuredSize, ...], target: Fraction) -> SizeInterval | None:
    return size_interval(measured, target)  # takes about half a millisecond


@functools.lru_cache(maxsize=5_000)
def _slope_interval(measured: tuple[tuple[float, tuple[MeasuredSize, ...]], ...], target: Fraction) -> Interval | None:
    return slope_interval(dict(measured), target)  # takes about 5 ms for a method


# Files


def table_of(grid: Grid, *, site: str) -> Table:
    """Return a grid as a table: printed with a row for each target, as CSV with a row for each k as well."""
    suite, members = grid.suite, grid.members
    hashes = ", ".join(f"{one.k_text}: {one.split} {one.split.fingerprint[:16]}" for one in members)
    return Table(
        title=f"Training examples that {suite.title} needs",
        caption=(
            f"{suite.title}: {SIZES} with which each target is reached, by k ({suite.k_name}; {hashes}), and the slope "
            f"of log n over log k, with 95 percent intervals over runs{OF_ONE_RUN if grid.has_single_runs else ''}; "
            f"{timezone.localdate().isoformat()}."
        ),
        heads=["Method", "Target", *(f"k = {one.k_text}" for one in members), "Slope", "Interval"],
        texts=1,
        printed=[_printed(method, line) for method in grid.methods for line in method.lines],
        heads_of_all=["method", "target", "k", "split", *SIZE_NAMES, *SLOPE_NAMES],
        rows=[row for method in grid.methods for line in method.lines for row in _rows(members, method.label, line)],
        data={"address": f"{site}{reverse('suite_grid', args=[suite.address_name])}", **grid_json(grid)},
    )


SIZE_NAMES = ("reached", "low", "high", "interval_over", "highest", "largest")
SLOPE_NAMES = ("slope", "slope_low", "slope_high")


def grid_json(grid: Grid) -> dict[str, Any]:
    """Return a grid as JSON data."""
    return {
        "suite": grid.suite.slug,
        "k_name": grid.suite.k_name,
        "members": [{"label": one.label, "split": str(one.split), "k": one.k} for one in grid.members],
        "methods": [
            {"key": method.key, "label": method.label, "targets": [line.to_json() for line in method.lines]}
            for method in grid.methods
        ],
    }


def _printed(method: GridMethod, line: TargetLine) -> list[str]:
    name = method.label if line is method.lines[0] else ""
    return [name, f"{line.target} %", *(cell.printed for cell in line.cells), line.slope_text, line.interval_text]


def _rows(members: Sequence[SuiteMember], label: str, line: TargetLine) -> Iterator[list[Any]]:
    """Yield a row of the CSV file for each k; `FAIL` in place of a size that no measured size reaches."""
    slopes = [line.to_json()[name] for name in SLOPE_NAMES]
    for member, cell in zip(members, line.cells, strict=True):
        found = cell.to_json()
        if cell.is_known:
            found |= {name: found[name] or FAIL for name in SIZE_NAMES[:3]}
        yield [label, line.target, cell.k, str(member.split), *(found[name] for name in SIZE_NAMES), *slopes]
