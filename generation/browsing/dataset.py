"""Datasets on pages: cards for lists and the front page, the overview of a dataset, and its repeats."""

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.utils.safestring import SafeString, mark_safe
from numpy.typing import NDArray

from generation.access import Visitor, What, may_list, may_see
from generation.browsing import stories
from generation.browsing.pictures import Picture, strips
from generation.browsing.sidebar import Page, page_of
from generation.browsing.stories import Beginning
from generation.charts.counts import Chart, charts_of
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import OF_THE_PAGE, most_frequent, spec_of
from generation.engine.errors import BadSpec
from generation.engine.items import Facet as WorldFacet
from generation.engine.items import FacetKind
from generation.engine.worlds import usable
from generation.engine.worlds.base import Repeatable, World
from generation.models import Dataset, Split
from generation.models.datasets import DatasetQuerySet
from generation.splits.query_string import BadAddress, FilterFacet, Query, QueryString, read_query
from generation.storage.split_index import NotIndexed, SplitIndex, open_digest


class DistinctCount(NamedTuple):
    all: int
    different: int


class RepeatRow(NamedTuple):
    """A facet value, or all questions, with the counts for each split and each kind of thing; None for no things.

    `spaces` has, for each kind of thing, how many different ones are possible; None if unknown.
    """

    label: str
    cells: list[DistinctCount | None]
    spaces: list[int | None]

    @property
    def is_plain(self) -> bool:
        return not any(self.spaces) and all(cell is None or cell.all == cell.different for cell in self.cells)


class Repeats(NamedTuple):
    """The repeats in a dataset: columns, and a row for all questions before the rows of values that have repeats."""

    splits: list[str]
    labels: list[str]
    rows: list[RepeatRow]
    plain: list[str]

    @property
    def has_spaces(self) -> bool:
        return any(any(row.spaces) for row in self.rows)


def repeats_of(user: Visitor, dataset: Dataset, splits: Sequence[Split]) -> Repeats | None:
    """Return the repeats in these complete splits; None if the world counts none or the user may not see the splits."""
    try:
        world = dataset.get_world()
    except BadSpec:
        return None
    if not world.repeats or not all(may_see(user, split, What.QUESTION) for split in splits):
        return None
    found = [(split, index) for split in splits if (index := _index(split, world)) is not None]
    if not found:
        return None
    facet = found[0][1].facets[world.repeats_by]
    spaces = _spaces(world, splits)
    counted = [_by_value(split.index_digest, one, world.repeats_by) for split, _ in found for one in world.repeats]
    rows = [RepeatRow("all", [column[-1] for column in counted], [None] * len(world.repeats))]
    for code, value in enumerate(facet.values):
        cells = [column[code] for column in counted]
        if any(cells):
            known = spaces.get(value, {})
            rows.append(RepeatRow(facet.labels[code], cells, [known.get(one.facet) for one in world.repeats]))
    told = [row for row in rows[1:] if not row.is_plain]
    return Repeats(
        [split.name for split, _ in found],
        [one.label for one in world.repeats],
        [rows[0], *told],
        [row.label for row in rows[1:] if row.is_plain],
    )


def _spaces(world: World, splits: Sequence[Split]) -> Mapping[str, Mapping[str, int]]:
    first, *others = [world.spaces(split.read_spec()) for split in splits]
    return first if all(other == first for other in others) else {}


def _index(split: Split, world: World) -> SplitIndex | None:
    """Return a split's index, or None if it lacks the keys to count repeats."""
    try:
        index = SplitIndex.open(split)
    except NotIndexed:
        return None
    return index if all(one.facet in index.keys for one in world.repeats) else None


@functools.lru_cache(maxsize=256)
def _by_value(digest: str, repeatable: Repeatable, by: str) -> Mapping[int, DistinctCount | None]:
    """Return the counts for each value's code, and those of all questions under -1."""
    index = open_digest(digest)
    keys, codes = index.keys[repeatable.facet], index.facets[by].codes
    has_one = np.flatnonzero(np.diff(keys.starts.astype(np.int64)) == 1)
    places = keys.places[keys.starts[has_one]].astype(np.int64)
    things = index.scenes[has_one].astype(np.int64) if repeatable.is_of_item else has_one
    found: dict[int, DistinctCount | None] = {-1: _counted(things, places)}
    of = codes[has_one]
    for code in range(len(index.facets[by].values)):
        some = of == code
        found[code] = _counted(things[some], places[some]) if some.any() else None
    return found


def _counted(things: NDArray[np.int64], places: NDArray[np.int64]) -> DistinctCount:
    return DistinctCount(len(np.unique(things)), len(np.unique(places)))


PICTURES = 4
PER_PAGE = 24  # cards; fills rows of two and of three
MOST_WORDS = 12
STATES = {
    Dataset.State.COMPLETE: "complete",
    Dataset.State.MAKING: "making",
    Dataset.State.FAILED: "failed",
    Dataset.State.CANCELLED: "cancelled",
}
SEEN_BY = {
    Dataset.Visibility.PUBLIC: "everybody",
    Dataset.Visibility.LINK: "everybody who has the link",
    Dataset.Visibility.PRIVATE: "its owner",
}


class DatasetCard(NamedTuple):
    """A dataset with the data that a list shows."""

    dataset: Dataset
    world: str
    pictures: list[Picture]
    story: Beginning | None


class Choices(NamedTuple):
    """A facet of the list as a form field: every value with its label, and the selected value."""

    name: str
    label: str
    values: list[tuple[str, str]]
    chosen: str


def newest_cards(user: Visitor, *, most: int) -> list[DatasetCard]:
    complete = Dataset.objects.visible_to(user).matching(state=[Dataset.State.COMPLETE])
    return _cards(user, complete, start=0, stop=most)


def cards_of(user: Visitor, query: Query) -> tuple[list[DatasetCard], Page]:
    found = Dataset.objects.visible_to(user).matching(words=query.words.split(), **_values(query))
    page = page_of(query, found.count(), size=PER_PAGE, of="datasets")
    return _cards(user, found, start=page.start, stop=page.stop), page


def read_list_query(asked: QueryString) -> Query:
    """Return the query in the address of the list; raise `BadAddress` for an invalid one."""
    query = read_query(asked.pairs, facets=facets())
    count = len(query.words.split())
    if count > MOST_WORDS:
        raise BadAddress(f"Search words: expected at most {MOST_WORDS} words, got {count}.")
    return query


def facets() -> list[FilterFacet]:
    """Return the facets by which datasets are filtered."""
    worlds = {world.name: world.label for world in usable()}
    return [
        _facet("world", "world", worlds),
        _facet("state", "state", {str(state): label for state, label in STATES.items()}),
        _facet("visibility", "seen by", {str(visibility): label for visibility, label in SEEN_BY.items()}),
    ]


def choices(query: Query, *, names: Iterable[str]) -> list[Choices]:
    """Return the fields of the list's form for these facets."""
    made = []
    for facet in facets():
        if facet.name in names:
            chosen = [one.value for one in query.conditions if one.facet.name == facet.name]
            values = list(zip(facet.values, facet.labels, strict=True))
            made.append(Choices(facet.name, facet.label, values, chosen[0] if chosen else ""))
    return made


def world_label(dataset: Dataset) -> str:
    """Return the label of a dataset's world, or its name if the world is not installed."""
    try:
        return dataset.get_world().label
    except BadSpec:
        return dataset.world


def _facet(name: str, label: str, values: dict[str, str]) -> FilterFacet:
    return WorldFacet(
        name=name,
        label=label,
        kind=FacetKind.CATEGORY,
        values=tuple(values),
        labels=tuple(values.values()),
        reveals=False,
    )


def _values(query: Query) -> dict[str, list[str]]:
    """Return, for each facet with a condition, its accepted values."""
    wanted: dict[str, list[str]] = {}
    for condition in query.conditions:
        wanted.setdefault(condition.facet.name, []).append(condition.value)
    return wanted


def _cards(user: Visitor, found: DatasetQuerySet, *, start: int, stop: int) -> list[DatasetCard]:
    """Return a part of these datasets, newest first, in four queries for any number of them, five with stories."""
    keys = list(found.newest_first().values_list("pk", flat=True)[start:stop])
    shown = [one for one in Dataset.objects.filter(pk__in=keys).for_list() if may_list(user, one)]
    strip, told = strips(shown, user=user, pictures=PICTURES), stories.strips(shown, user=user, stories=1)
    return [
        DatasetCard(
            dataset, world_label(dataset), strip.get(dataset.pk, []), next(iter(told.get(dataset.pk, [])), None)
        )
        for dataset in shown
    ]


TALL = 16  # a chart with more bars below one another takes the space of two charts


class ShownChart(NamedTuple):
    """A chart on the overview.

    Attributes
    ----------
    chart : Chart
    is_drawable : bool
        Whether any split has enough questions.
    drawing : str
        SVG that is safe in a page; empty if there is nothing to draw or drawing failed.
    bars : int
        Number of values that are drawn.
    """

    chart: Chart
    is_drawable: bool
    drawing: SafeString
    bars: int

    @property
    def is_tall(self) -> bool:
        return self.is_drawable and not self.chart.is_along and self.bars > TALL

    @property
    def has_more(self) -> bool:
        return self.is_drawable and self.bars < len(self.chart.rows)


class Section(NamedTuple):
    name: str
    summary: str
    text: str  # JSON


def shown_charts(
    user: Visitor, dataset: Dataset, splits: Sequence[Split], *, wait: float | None = None
) -> list[ShownChart]:
    """Return a dataset's charts with the counts that this user may see in these splits, drawn within `wait` seconds."""
    charts = charts_of(user, dataset, splits)
    specs = [spec_of(chart, colors=OF_THE_PAGE) for chart in charts]
    drawn = iter(drawings(dataset.slug, [DrawingOrder(spec) for spec in specs if spec is not None], wait=wait))
    shown = []
    for chart, spec in zip(charts, specs, strict=True):
        drawing = next(drawn) if spec is not None else None
        svg = mark_safe((drawing or b"").decode())  # noqa: S308 - only allowed elements, with escaped text
        shown.append(ShownChart(chart, spec is not None, svg, len(most_frequent(chart))))
    return shown


def sections_of(spec: dict[str, Any]) -> list[Section]:
    parts = [(name, value) for name, value in spec.items() if isinstance(value, dict | list)]
    return [Section(name, _amount(value), json.dumps(value, indent=2, ensure_ascii=False)) for name, value in parts]


def singles_of(spec: dict[str, Any]) -> list[tuple[str, str]]:
    singles = [(name, value) for name, value in spec.items() if not isinstance(value, dict | list)]
    return [(name, json.dumps(value, ensure_ascii=False)) for name, value in singles]


def _amount(value: dict[str, Any] | list[Any]) -> str:
    keys = ", ".join(list(value)[:6]) if isinstance(value, dict) else ""
    more = ", …" if len(value) > 6 and keys else ""
    return f"{keys}{more}" if keys else f"{len(value)} entries"
