"""Charts of a dataset: how often each value of a facet occurs, for several splits. The world lists its charts.

This module counts what a user may see; `charts.vega` defines the look, and `charts.drawing` draws.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from generation.access import Visitor, What, may_see, may_see_facet
from generation.engine.errors import BadSpec
from generation.engine.formats.spreadsheets import csv_lines
from generation.engine.items import ChartView, FacetKind
from generation.engine.scoring.figures import is_too_few, percent
from generation.engine.scoring.goodness_of_fit import Fit, chi_square
from generation.models import Dataset, Split
from generation.storage.split_index import IndexedFacet, NotIndexed, SplitIndex, counts_of_all

SIDE_BY_SIDE = 5  # splits in a chart; if there are more, a chart shows one split at a time

log = logging.getLogger(__name__)


class CountColumn(NamedTuple):
    """A split that is counted, its number of questions, and the test of its counts against the spec, if any."""

    split: str
    n: int
    fit: Fit | None = None

    @property
    def is_too_small(self) -> bool:
        return is_too_few(self.n)


class CountCell(NamedTuple):
    """How many questions of a split have a value, and the address that lists them. A small split has no share.

    `expected` is the share that the spec asks for, if it asks for one.
    """

    n: int
    share: float | None
    address: str
    expected: float | None = None

    @property
    def percent(self) -> str:
        return "" if self.share is None else percent(self.share)


class CountRow(NamedTuple):
    value: str  # or bin
    label: str
    cells: list[CountCell]  # one for each column


class Chart(NamedTuple):
    """A counted chart of a dataset.

    Attributes
    ----------
    view : ChartView
    is_along : bool
        Whether the values are numbers, which are drawn along an axis.
    columns : list of CountColumn
    rows : list of CountRow
        The values that occur. For numbers, all between the smallest and the largest that occur.
    withheld : list of str
        The splits whose counts this user may not see.
    """

    view: ChartView
    is_along: bool
    columns: list[CountColumn]
    rows: list[CountRow]
    withheld: list[str]

    @property
    def drawn(self) -> list[int]:
        return [at for at, column in enumerate(self.columns) if not column.is_too_small]

    @property
    def is_expected(self) -> bool:
        return any(cell.expected is not None for row in self.rows for cell in row.cells)

    @property
    def left_out(self) -> list[str]:
        too_small = [f"{column.split}: too few (n = {column.n:,})" for column in self.columns if column.is_too_small]
        return [*too_small, *(f"{split}: answers withheld" for split in self.withheld)]


def charts_of(user: Visitor, dataset: Dataset, splits: Sequence[Split]) -> list[Chart]:
    indexed = [(split, index) for split in splits if (index := _index(split)) is not None]
    charts = [_chart(view, user, indexed) for view in _views(dataset)]
    return [chart for chart in charts if chart.rows or chart.withheld]


def side_by_side(splits: Sequence[Split], wanted: str | None) -> list[Split]:
    """Return the complete splits that charts show: the wanted one, otherwise all, or the first if there are many.

    Derived splits are shown only if wanted. The list is empty if there is no complete split of the wanted name.
    """
    complete = [split for split in splits if split.is_complete]
    if wanted is not None:
        return [split for split in complete if split.name == wanted]
    complete = [split for split in complete if not split.is_derived]
    return complete if len(complete) <= SIDE_BY_SIDE else complete[:1]


def as_csv(chart: Chart) -> str:
    """Return a chart's counts as CSV, a line for each value and split."""
    more = ["expected"] if chart.is_expected else []
    rows: list[list[object]] = [["split", chart.view.facet, "label", "n", "questions", "share", *more]]
    for row in chart.rows:
        for column, cell in zip(chart.columns, row.cells, strict=True):
            shares = [cell.share, cell.expected] if more else [cell.share]
            texts = ["" if share is None else f"{share:.6f}" for share in shares]
            rows.append([column.split, row.value, row.label, cell.n, column.n, *texts])
    return "".join(csv_lines(rows))


def _views(dataset: Dataset) -> tuple[ChartView, ...]:
    """Return the charts of the dataset's world; none if the world is not installed."""
    try:
        return dataset.get_world().views
    except BadSpec:
        return ()


def _index(split: Split) -> SplitIndex | None:
    """Return the index of a complete split; None if it is missing, so that the page can show the rest."""
    try:
        return SplitIndex.open(split)
    except (NotIndexed, OSError) as error:
        log.error("Expected the index of %s, got: %s", split, error)
        return None


def _chart(view: ChartView, user: Visitor, indexed: Sequence[tuple[Split, SplitIndex]]) -> Chart:
    """Return the chart of a view, for the splits that have its facet."""
    counted: list[tuple[Split, IndexedFacet]] = []
    withheld = []
    for split, index in indexed:
        facet = index.facets.get(view.facet)
        if facet is None:
            continue
        if _may_see(user, split, facet):
            counted.append((split, facet))
        else:
            withheld.append(split.name)
    expected = [_expected(split, facet) for split, facet in counted]
    columns = [
        CountColumn(split.name, len(facet.codes), None if shares is None else _fit(split, facet, shares))
        for (split, facet), shares in zip(counted, expected, strict=True)
    ]
    is_along = any(facet.kind is FacetKind.INTEGER for _, facet in counted)
    rows = list((_numbers if is_along else _categories)(counted, expected))
    return Chart(view, is_along, columns, rows, withheld)


def _expected(split: Split, facet: IndexedFacet) -> dict[str, float] | None:
    """Return the share that the spec asks for, by value; None for a facet without them, or a split not made from it."""
    if split.kind != Split.Kind.GENERATED:
        return None
    spec = split.read_spec()
    shares = split.dataset.get_world().expected_shares(spec).get(facet.name)
    return None if shares is None else dict(zip(facet.values, shares, strict=True))


def _fit(split: Split, facet: IndexedFacet, shares: Mapping[str, float]) -> Fit | None:
    counts = _counts(split, facet)
    return chi_square([counts[value] for value in shares], list(shares.values()))


def _may_see(user: Visitor, split: Split, facet: IndexedFacet) -> bool:
    return may_see_facet(user, split, facet) and (not facet.reveals or may_see(user, split, What.ANSWER))


def _counts(split: Split, facet: IndexedFacet) -> dict[str, int]:
    counts = counts_of_all(split.index_digest, split.seen_digest)[facet.name]
    return dict(zip(facet.values, counts.tolist(), strict=True))


def _categories(
    counted: Sequence[tuple[Split, IndexedFacet]], expected: Sequence[Mapping[str, float] | None]
) -> Iterator[CountRow]:
    """Yield a row for each value that occurs, in the order of the first split."""
    counts = [_counts(split, facet) for split, facet in counted]
    labels = {
        value: label for _, facet in reversed(counted) for value, label in zip(facet.values, facet.labels, strict=True)
    }
    alike = Counter(labels.values())
    for value in dict.fromkeys(value for _, facet in counted for value in facet.values):
        numbers = [one.get(value, 0) for one in counts]
        if any(numbers):
            label = labels[value] if alike[labels[value]] == 1 else f"{labels[value]} ({value})"
            wanted = [None if shares is None else shares.get(value) for shares in expected]
            yield CountRow(value, label, _cells(counted, value, numbers, wanted))


def _numbers(
    counted: Sequence[tuple[Split, IndexedFacet]], expected: Sequence[Mapping[str, float] | None]
) -> Iterator[CountRow]:
    """Yield a row for each number or bin, from the smallest to the largest that occurs."""
    counts = [{int(value): n for value, n in _counts(split, facet).items()} for split, facet in counted]
    found = [number for one in counts for number, n in one.items() if n]
    for low, high in _bins(counted[0][1], max(found)) if found else ():
        numbers = [sum(n for number, n in one.items() if low <= number <= high) for one in counts]
        if high >= min(found):
            one = low == high
            value = str(low) if one else f"{low}..{high}"
            wanted = [
                None if shares is None else sum(share for number, share in shares.items() if low <= int(number) <= high)
                for shares in expected
            ]
            yield CountRow(value, str(low) if one else f"{low}–{high}", _cells(counted, value, numbers, wanted))


def _bins(facet: IndexedFacet, most: int) -> list[tuple[int, int]]:
    firsts = list(facet.bins) or list(range(min(int(value) for value in facet.values), most + 1))
    ends = [*(first - 1 for first in firsts[1:]), max(most, *map(int, facet.values))]
    return [(low, high) for low, high in zip(firsts, ends, strict=True) if low <= most]


def _cells(
    counted: Sequence[tuple[Split, IndexedFacet]],
    value: str,
    numbers: Sequence[int],
    expected: Sequence[float | None],
) -> list[CountCell]:
    cells = []
    for (split, facet), n, wanted in zip(counted, numbers, expected, strict=True):
        of = len(facet.codes)
        share = None if is_too_few(of) else n / of
        cells.append(CountCell(n, share, f"{split.get_absolute_url()}?{urlencode([(facet.name, value)])}", wanted))
    return cells
