"""Where a method fails: accuracy by a facet, by two crossed, or by a view that the world has ready.

Everything is a list of panels, each a table with one chart: rows are values of a facet, columns methods or series.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from annotations.results.figures import DASH, sliced, values_of
from generation.engine.items import FacetKind
from generation.engine.scoring.score import Slicing, banded, score
from generation.engine.scoring.statistics import Averaged, Interval, wilson
from generation.engine.worlds.boards import BoardView, Filters, Series
from generation.reports.scoring import truth_of
from generation.storage.index import IndexedFacet, SplitIndex
from webapp.leaderboards.disclosure.figures import SMALLEST, shade
from webapp.leaderboards.entries import Codes, Contender

LEAST = SMALLEST
MOST_BANDS = 50
Band = tuple[int, int]
Mask = NDArray[np.bool_]


class BadBands(ValueError):
    """Ranges of numbers that make no sense; the text says what was expected."""


class Divided(NamedTuple):
    """A facet and the parts that it is broken down into, as addresses and as people call them."""

    facet: IndexedFacet
    slicing: Slicing
    values: Sequence[str]
    labels: Sequence[str]

    @property
    def is_along(self) -> bool:
        return self.facet.kind == FacetKind.INTEGER


class SliceCell(NamedTuple):
    """How right the runs of a method are on some questions. Its address shows them; empty of no questions."""

    averaged: Averaged
    address: str

    @property
    def n(self) -> int:
        return self.averaged.n

    @property
    def mean(self) -> float | None:
        """Return the mean share; None where there are too few questions."""
        mean = self.averaged.mean
        return None if mean is None or self.n < LEAST else mean

    @property
    def interval(self) -> Interval:
        return wilson((self.mean or 0.0) * self.n, self.n)

    @property
    def deviation(self) -> float | None:
        """Return the standard deviation over runs, where there are several."""
        return None if self.mean is None else self.averaged.deviation

    @property
    def text(self) -> str:
        if not self.n:
            return ""
        return f"too few (n = {self.n:,})" if self.mean is None else f"{100 * self.mean:.1f} %"

    @property
    def points(self) -> str:
        """Return the mean share in whole points, or n where there are too few questions; empty of none."""
        return "" if not self.n else f"n = {self.n:,}" if self.mean is None else f"{100 * self.mean:.0f}"

    @property
    def shade(self) -> str:
        """Return the class by which a map shades it."""
        return shade(self.mean)

    @property
    def said(self) -> str:
        return f"{self.text} ({self.beside})" if self.beside else self.text

    @property
    def beside(self) -> str:
        """Return interval, deviation and n for people."""
        if self.mean is None:
            return ""
        over = f", ± {100 * self.deviation:.1f} over {len(self.averaged.rights)} runs" if self.deviation else ""
        return f"{100 * self.interval.low:.1f}{DASH}{100 * self.interval.high:.1f}{over}, n = {self.n:,}"


class SliceRow(NamedTuple):
    """A part of a facet, with a cell for each column."""

    value: str
    label: str
    cells: list[SliceCell]


class SlicePanel(NamedTuple):
    """A table and its chart: `rows` by `axis`, the whole of each column in `whole`.

    Of two facets crossed (`is_crossed`) both are a map of cells that are shaded by accuracy.
    """

    title: str
    axis: str
    columns: list[str]
    whole: SliceRow
    rows: list[SliceRow]
    is_along: bool
    is_crossed: bool = False


class SliceColumn(NamedTuple):
    """What a column counts: the runs of a method on those questions, which its address finds."""

    label: str
    runs: Sequence[Codes]
    among: Mask | None = None
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Ground:
    """What panels are made of: a split's index, where its questions are browsed, and who is asked."""

    index: SplitIndex
    address: str
    asked: Mask | None = None


def divided(facet: IndexedFacet, bands: Sequence[Band] = ()) -> Divided:
    """Return a facet broken down by these bands, else in the bins that it has, else by its values."""
    if not bands:
        slicing, labels = sliced(facet)
        return Divided(facet, slicing, values_of(facet), labels)
    numbers = [int(value) for value in facet.values]
    values = [str(low) if low == high else f"{low}..{high}" for low, high in bands]
    return Divided(facet, banded(facet.codes, numbers, bands), values, [one.replace("..", DASH) for one in values])


def every_number(facet: IndexedFacet) -> Divided:
    """Return a facet by its values, even where it has bins."""
    slicing = Slicing(facet.codes, len(facet.values), facet.kind == FacetKind.FLAGS)
    return Divided(facet, slicing, facet.values, facet.labels)


def read_bands(text: str) -> list[Band]:
    """Return the bands that a text such as `1..4, 5, 6..9` says; raise `BadBands`."""
    bands: list[Band] = []
    for part in (part.strip() for part in text.replace(DASH, "..").split(",")):
        low, dots, high = part.partition("..")
        if not (low.isdecimal() and (high.isdecimal() if dots else not high) and len(part) < 24):
            raise BadBands(f"Expected ranges such as 1..4, 5, 6..9, got {part[:40]!r}.")
        bands.append((int(low), int(high or low)))
    if len(bands) > MOST_BANDS or any(low > high for low, high in bands):
        raise BadBands(f"Expected at most {MOST_BANDS} ranges, each from a lower to a higher number.")
    if any(one[1] >= two[0] for one, two in itertools.pairwise(bands)):
        raise BadBands("Expected ranges in order that have no number in common.")
    return bands


def by_one(ground: Ground, contenders: Sequence[Contender], one: Divided) -> list[SlicePanel]:
    """Return accuracy by a facet, a column for each method."""
    columns = [SliceColumn(contender.label, contender.runs) for contender in contenders]
    return [panel(ground, columns, one, title=f"By {one.facet.label}", axis=one.facet.label)]


def by_two(ground: Ground, contenders: Sequence[Contender], one: Divided, two: Divided) -> list[SlicePanel]:
    """Return accuracy by two facets crossed, a panel for each method and a column for each part of the second."""
    found = []
    for contender in contenders:
        columns = []
        for value, label, among in _parts_of(two, ground):
            if among.any():
                columns.append(SliceColumn(label, contender.runs, among, ((two.facet.name, value),)))
        title = f"{contender.label}, by {one.facet.label} and {two.facet.label}"
        found.append(panel(ground, columns, one, title=title, axis=one.facet.label)._replace(is_crossed=True))
    return found


def _parts_of(one: Divided, ground: Ground) -> Iterator[tuple[str, str, Mask]]:
    """Yield each part of a facet as addresses and people call it, with its questions."""
    slicing, none = one.slicing, np.iinfo(one.slicing.codes.dtype).max
    for place, (value, label) in enumerate(zip(one.values, one.labels, strict=True)):
        has = slicing.codes >> place & 1 == 1 if slicing.is_flags else slicing.codes == place
        inside = has & (slicing.codes != none)
        yield value, label, inside if ground.asked is None else inside & ground.asked


def by_view(ground: Ground, contenders: Sequence[Contender], view: BoardView) -> list[SlicePanel]:
    """Return a ready-made view: a panel for each series, or where there is one method a column for each."""
    facet = ground.index.facets[view.by]
    one = every_number(facet)
    counted = []
    for part in view.series or (Series("", {}),):
        filters = {**view.filters, **part.filters}
        counted.append((part.label, within(ground.index, filters), pairs_of(filters)))
    if len(contenders) == 1 and view.series:
        [only] = contenders
        columns = [SliceColumn(label, only.runs, among, pairs) for label, among, pairs in counted]
        return [panel(ground, columns, one, title=f"{view.title}: {only.label}", axis=view.axis)]
    found = []
    for label, among, pairs in counted:
        columns = [SliceColumn(contender.label, contender.runs, among, pairs) for contender in contenders]
        title = f"{view.title}: {label}" if label else view.title
        found.append(panel(ground, columns, one, title=title, axis=view.axis))
    return found


def on_series(index: SplitIndex, runs: Sequence[Codes], view: BoardView) -> Iterator[tuple[Series, Averaged]]:
    """Yield each series of a view with how right runs are on its questions."""
    truth = truth_of(index)
    for series in view.series:
        among = within(index, {**view.filters, **series.filters})
        found = [score(run, truth, {}, among=among) for run in runs]
        yield series, Averaged(found[0].n, tuple(one.right for one in found))


def within(index: SplitIndex, filters: Filters) -> Mask:
    """Return (questions,) which questions pass filters."""
    inside = np.ones(index.n, np.bool_)
    for name, wanted in filters.items():
        facet = index.facets[name]
        codes = [facet.values.index(value) for value in wanted if value in facet.values]
        inside &= facet.allowed(codes)[facet.codes]
    return inside


def pairs_of(filters: Filters) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, wanted in filters.items() for value in wanted)


def panel(ground: Ground, columns: Sequence[SliceColumn], one: Divided, *, title: str, axis: str) -> SlicePanel:
    """Return a panel of some columns, with the rows that have questions."""
    parts, wholes = [], []
    for column in columns:
        whole, slices = _counted(ground, column, one.slicing)
        wholes.append(_cell(ground, whole, column.pairs))
        parts.append(slices)
    rows = []
    for place, (value, label) in enumerate(zip(one.values, one.labels, strict=True)):
        cells = [
            _cell(ground, slices[place], (*column.pairs, (one.facet.name, value)), taken=one.facet.name)
            for column, slices in zip(columns, parts, strict=True)
        ]
        if any(cell.n for cell in cells):
            rows.append(SliceRow(value, label, cells))
    return SlicePanel(
        title, axis, [column.label for column in columns], SliceRow("", "all", wholes), rows, one.is_along
    )


def _counted(ground: Ground, column: SliceColumn, slicing: Slicing) -> tuple[Averaged, list[Averaged]]:
    """Return how right the runs are on all questions of a column, and on each part of a facet."""
    masks = [mask for mask in (column.among, ground.asked) if mask is not None]
    among = np.logical_and.reduce(masks) if masks else None
    truth = truth_of(ground.index)
    scores = [score(run, truth, {"": slicing}, among=among) for run in column.runs]
    n = scores[0].facets[""].n.tolist()
    rights = np.stack([one.facets[""].right for one in scores], axis=1).tolist()
    whole = Averaged(scores[0].n, tuple(one.right for one in scores))
    return whole, [Averaged(count, tuple(each)) for count, each in zip(n, rights, strict=True)]


def _cell(ground: Ground, found: Averaged, pairs: Sequence[tuple[str, str]], *, taken: str = "") -> SliceCell:
    """Return a cell; of a facet that the row is by, its own value alone is in the address."""
    if not found.n:
        return SliceCell(found, "")
    kept = [pair for at, pair in enumerate(pairs) if pair[0] != taken or at == len(pairs) - 1]
    return SliceCell(found, f"{ground.address}?{urlencode(kept)}")


Numbers = Mapping[str, float | int | str | None]


def lines_of(panels: Sequence[SlicePanel]) -> Iterator[Numbers]:
    """Yield every cell as a line of figures."""
    for one in panels:
        for row in (one.whole, *one.rows):
            for column, cell in zip(one.columns, row.cells, strict=True):
                yield {
                    "panel": one.title,
                    "value": row.value,
                    "label": row.label,
                    "column": column,
                    "n": cell.n,
                    "accuracy": None if cell.mean is None else round(cell.mean, 6),
                    "low": None if cell.mean is None else round(cell.interval.low, 6),
                    "high": None if cell.mean is None else round(cell.interval.high, 6),
                    "deviation": None if cell.deviation is None else round(cell.deviation, 6),
                    "runs": len(cell.averaged.rights),
                    "right": " ".join(map(str, cell.averaged.rights)),
                }
