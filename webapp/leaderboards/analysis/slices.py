"""Accuracy by a facet, by two crossed facets, or by a view that the world defines.

Everything is a list of panels. A panel is a table with a chart: rows are values of a facet, columns methods or series.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from annotations.results.study_statistics import DASH, slicing_of, values_of
from generation.engine.items import FacetKind
from generation.engine.scoring.figures import Averaged, Figure, figure, rounded_or_none
from generation.engine.scoring.score import Slicing, in_bands, score
from generation.engine.worlds.breakdowns import BoardView, Filters, Series
from generation.reports.scoring import truth_of
from generation.storage.split_index import IndexedFacet, SplitIndex
from webapp.leaderboards.entries import Codes, Contender
from webapp.leaderboards.ranking.board_rows import shade

MOST_BANDS = 50
Band = tuple[int, int]
ENTRY = "entry"  # the parameter of URLs that names a row
Mask = NDArray[np.bool_]


class BadBands(ValueError):
    """Invalid ranges of numbers; the text says what was expected."""


class FacetPartition(NamedTuple):
    """A facet and the parts that it is broken down into, with their names in URLs and their labels."""

    facet: IndexedFacet
    slicing: Slicing
    values: Sequence[str]
    labels: Sequence[str]

    @property
    def is_along(self) -> bool:
        return self.facet.kind == FacetKind.INTEGER


@dataclass(frozen=True)
class SliceCell:
    """The accuracy of a method's runs on some questions; `address` links to them, empty if there are none."""

    averaged: Averaged
    address: str

    @functools.cached_property
    def figure(self) -> Figure:
        return figure(self.averaged)

    @property
    def n(self) -> int:
        return self.averaged.n

    @property
    def mean(self) -> float | None:
        return self.figure.share

    @property
    def text(self) -> str:
        return self.figure.text if self.n else ""

    @property
    def points(self) -> str:
        return "" if not self.n else f"n = {self.n:,}" if self.mean is None else f"{100 * self.mean:.0f}"

    @property
    def shade(self) -> str:
        return shade(self.mean)

    @property
    def said(self) -> str:
        return f"{self.text} ({self.beside})" if self.beside else self.text

    @property
    def beside(self) -> str:
        """Return interval, deviation and n as text."""
        if self.mean is None:
            return ""
        over = f", {self.figure.deviation_text} over {self.figure.runs} runs" if self.figure.deviation else ""
        return f"{self.figure.interval_text}{over}, n = {self.n:,}"

    @property
    def chart_values(self) -> dict[str, float | None]:
        found = self.figure.shares()
        return {"share": found.pop("accuracy"), **found}


class SliceRow(NamedTuple):
    value: str
    label: str
    cells: list[SliceCell]


class SlicePanel(NamedTuple):
    """A table and its chart: `rows` by `axis`, and each column's total in `whole`.

    If two facets are crossed (`is_crossed`), the table is a map of cells shaded by accuracy.
    """

    title: str
    axis: str
    columns: list[str]
    whole: SliceRow
    rows: list[SliceRow]
    is_along: bool
    is_crossed: bool = False


class SliceColumn(NamedTuple):
    """A column: the runs of a method, the questions that count, the filter that selects these in URLs, and its row."""

    label: str
    runs: Sequence[Codes]
    among: Mask | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    key: str = ""


@dataclass(frozen=True)
class SliceContext:
    index: SplitIndex
    address: str  # of the split's questions
    asked: Mask | None = None  # the questions that people were asked
    names_rows: bool = False  # whether addresses name the row whose answers they show


def partition(facet: IndexedFacet, bands: Sequence[Band] = ()) -> FacetPartition:
    """Return a facet broken down by these bands, otherwise by its own bins, otherwise by its values."""
    if not bands:
        slicing, labels = slicing_of(facet)
        return FacetPartition(facet, slicing, values_of(facet), labels)
    numbers = [int(value) for value in facet.values]
    values = [str(low) if low == high else f"{low}..{high}" for low, high in bands]
    return FacetPartition(
        facet, in_bands(facet.codes, numbers, bands), values, [one.replace("..", DASH) for one in values]
    )


def every_number(facet: IndexedFacet) -> FacetPartition:
    slicing = Slicing(facet.codes, len(facet.values), facet.kind == FacetKind.FLAGS)
    return FacetPartition(facet, slicing, facet.values, facet.labels)


def read_bands(text: str) -> list[Band]:
    """Return the bands in a text such as `1..4, 5, 6..9`; raise `BadBands`."""
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


def by_one(ground: SliceContext, contenders: Sequence[Contender], one: FacetPartition) -> list[SlicePanel]:
    columns = [SliceColumn(contender.label, contender.runs, key=contender.key) for contender in contenders]
    return [panel(ground, columns, one, title=f"By {one.facet.label}", axis=one.facet.label)]


def by_two(
    ground: SliceContext, contenders: Sequence[Contender], one: FacetPartition, two: FacetPartition
) -> list[SlicePanel]:
    """Return accuracy by two crossed facets: a panel for each method, a column for each part of the second facet."""
    found = []
    for contender in contenders:
        columns = []
        for value, label, among in _parts_of(two, ground):
            if among.any():
                columns.append(SliceColumn(label, contender.runs, among, ((two.facet.name, value),), contender.key))
        title = f"{contender.label}, by {one.facet.label} and {two.facet.label}"
        found.append(panel(ground, columns, one, title=title, axis=one.facet.label)._replace(is_crossed=True))
    return found


def _parts_of(one: FacetPartition, ground: SliceContext) -> Iterator[tuple[str, str, Mask]]:
    """Yield each part of a facet with its name in URLs, its label, and its questions."""
    slicing, none = one.slicing, np.iinfo(one.slicing.codes.dtype).max
    for place, (value, label) in enumerate(zip(one.values, one.labels, strict=True)):
        has = slicing.codes >> place & 1 == 1 if slicing.is_flags else slicing.codes == place
        inside = has & (slicing.codes != none)
        yield value, label, inside if ground.asked is None else inside & ground.asked


def by_view(ground: SliceContext, contenders: Sequence[Contender], view: BoardView) -> list[SlicePanel]:
    """Return a view: a panel for each series; for a single method, one panel with a column for each series."""
    facet = ground.index.facets[view.by]
    one = every_number(facet)
    counted = []
    for part in view.series or (Series("", {}),):
        filters = {**view.filters, **part.filters}
        counted.append((part.label, within(ground.index, filters), pairs_of(filters)))
    if len(contenders) == 1 and view.series:
        [only] = contenders
        columns = [SliceColumn(label, only.runs, among, pairs, only.key) for label, among, pairs in counted]
        return [panel(ground, columns, one, title=f"{view.title}: {only.label}", axis=view.axis)]
    found = []
    for label, among, pairs in counted:
        columns = [
            SliceColumn(contender.label, contender.runs, among, pairs, contender.key) for contender in contenders
        ]
        title = f"{view.title}: {label}" if label else view.title
        found.append(panel(ground, columns, one, title=title, axis=view.axis))
    return found


def on_series(index: SplitIndex, runs: Sequence[Codes], view: BoardView) -> Iterator[tuple[Series, Averaged]]:
    """Yield each series of a view with the runs' right answers on its questions."""
    truth = truth_of(index)
    for series in view.series:
        among = within(index, {**view.filters, **series.filters})
        found = [score(run, truth, {}, among=among) for run in runs]
        yield series, Averaged(found[0].n, tuple(one.right for one in found))


def within(index: SplitIndex, filters: Filters) -> Mask:
    """Return which questions pass the filters, shape (questions,)."""
    inside = np.ones(index.n, np.bool_)
    for name, wanted in filters.items():
        facet = index.facets[name]
        codes = [facet.values.index(value) for value in wanted if value in facet.values]
        inside &= facet.allowed(codes)[facet.codes]
    return inside


def pairs_of(filters: Filters) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, wanted in filters.items() for value in wanted)


def panel(
    ground: SliceContext, columns: Sequence[SliceColumn], one: FacetPartition, *, title: str, axis: str
) -> SlicePanel:
    """Return a panel of some columns; rows without questions are left out."""
    parts, wholes = [], []
    for column in columns:
        whole, slices = _counted(ground, column, one.slicing)
        wholes.append(_cell(ground, whole, column.pairs, key=column.key))
        parts.append(slices)
    rows = []
    for place, (value, label) in enumerate(zip(one.values, one.labels, strict=True)):
        cells = [
            _cell(ground, slices[place], (*column.pairs, (one.facet.name, value)), key=column.key, taken=one.facet.name)
            for column, slices in zip(columns, parts, strict=True)
        ]
        if any(cell.n for cell in cells):
            rows.append(SliceRow(value, label, cells))
    return SlicePanel(
        title, axis, [column.label for column in columns], SliceRow("", "all", wholes), rows, one.is_along
    )


def _counted(ground: SliceContext, column: SliceColumn, slicing: Slicing) -> tuple[Averaged, list[Averaged]]:
    """Return the runs' right answers on all questions of a column, and on each part of a facet."""
    masks = [mask for mask in (column.among, ground.asked) if mask is not None]
    among = np.logical_and.reduce(masks) if masks else None
    truth = truth_of(ground.index)
    scores = [score(run, truth, {"": slicing}, among=among) for run in column.runs]
    n = scores[0].facets[""].n.tolist()
    rights = np.stack([one.facets[""].right for one in scores], axis=1).tolist()
    whole = Averaged(scores[0].n, tuple(one.right for one in scores))
    return whole, [Averaged(count, tuple(each)) for count, each in zip(n, rights, strict=True)]


def _cell(
    ground: SliceContext, found: Averaged, pairs: Sequence[tuple[str, str]], *, key: str, taken: str = ""
) -> SliceCell:
    """Return a cell; its URL filters by the row's own value of the facet `taken`, not by another one."""
    if not found.n:
        return SliceCell(found, "")
    kept = [pair for at, pair in enumerate(pairs) if pair[0] != taken or at == len(pairs) - 1]
    row = [(ENTRY, key)] if ground.names_rows and key else []
    return SliceCell(found, f"{ground.address}?{urlencode([*kept, *row])}")


Numbers = Mapping[str, float | int | str | None]


def lines_of(panels: Sequence[SlicePanel]) -> Iterator[Numbers]:
    """Yield every cell as a row of figures."""
    for one in panels:
        for row in (one.whole, *one.rows):
            for column, cell in zip(one.columns, row.cells, strict=True):
                yield {
                    "panel": one.title,
                    "value": row.value,
                    "label": row.label,
                    "column": column,
                    "n": cell.n,
                    **cell.figure.shares(),
                    "deviation": rounded_or_none(cell.figure.deviation),
                    "runs": cell.figure.runs,
                    "right": " ".join(map(str, cell.averaged.rights)),
                }
