"""Cards of datasets, as the list and the front page show them, and what the list may be filtered by."""

from collections.abc import Iterable
from typing import NamedTuple

from generation.access import Visitor, may_list
from generation.browsing import stories
from generation.browsing.paging import Page, page_of
from generation.browsing.pictures import Picture, strips
from generation.browsing.stories import Beginning
from generation.engine.errors import BadSpec
from generation.engine.worlds import Facet as WorldFacet
from generation.engine.worlds import FacetKind, usable
from generation.models import Dataset
from generation.models.datasets import DatasetQuerySet
from generation.splits.filters import BadAddress, Facet, Query, read_query

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
    Dataset.Visibility.LINK: "whoever has the link",
    Dataset.Visibility.PRIVATE: "its owner",
}


class Card(NamedTuple):
    """A dataset with what a list shows of it."""

    dataset: Dataset
    world: str
    pictures: list[Picture]
    story: Beginning | None


class Choices(NamedTuple):
    """A facet of the list as a field of its form: every value with its label, and the one that is on."""

    name: str
    label: str
    values: list[tuple[str, str]]
    chosen: str


def newest_cards(user: Visitor, *, most: int) -> list[Card]:
    """Return the newest complete datasets that lists show this visitor."""
    complete = Dataset.objects.visible_to(user).matching(state=[Dataset.State.COMPLETE])
    return _cards(user, complete, start=0, stop=most)


def cards_of(user: Visitor, query: Query) -> tuple[list[Card], Page]:
    """Return the page of datasets that an address asks for, newest first; raise `NoSuchPage` past the end."""
    found = Dataset.objects.visible_to(user).matching(words=query.words.split(), **_values(query))
    page = page_of(query, found.count(), size=PER_PAGE, of="datasets")
    return _cards(user, found, start=page.start, stop=page.stop), page


def read_list_query(pairs: Iterable[tuple[str, str]]) -> Query:
    """Return what the names and values of the list's address ask for; raise `BadAddress` where it makes no sense."""
    query = read_query(pairs, facets=facets())
    count = len(query.words.split())
    if count > MOST_WORDS:
        raise BadAddress(f"Search words: expected at most {MOST_WORDS} words, got {count}.")
    return query


def facets() -> list[Facet]:
    """Return what datasets are filtered by."""
    worlds = {world.name: world.label for world in usable()}
    return [
        _facet("world", "world", worlds),
        _facet("state", "state", {str(state): label for state, label in STATES.items()}),
        _facet("visibility", "seen by", {str(visibility): label for visibility, label in SEEN_BY.items()}),
    ]


def choices(query: Query, *, names: Iterable[str]) -> list[Choices]:
    """Return the fields of the list's form, for these facets."""
    made = []
    for facet in facets():
        if facet.name in names:
            chosen = [one.value for one in query.conditions if one.facet.name == facet.name]
            values = list(zip(facet.values, facet.labels, strict=True))
            made.append(Choices(facet.name, facet.label, values, chosen[0] if chosen else ""))
    return made


def world_label(dataset: Dataset) -> str:
    """Return what people call its world; of one that this program does not have, the bare name."""
    try:
        return dataset.get_world().label
    except BadSpec:
        return dataset.world


def _facet(name: str, label: str, values: dict[str, str]) -> Facet:
    return WorldFacet(
        name=name,
        label=label,
        kind=FacetKind.CATEGORY,
        values=tuple(values),
        labels=tuple(values.values()),
        reveals=False,
    )


def _values(query: Query) -> dict[str, list[str]]:
    """Return, for each facet with a condition, the values it may have."""
    wanted: dict[str, list[str]] = {}
    for condition in query.conditions:
        wanted.setdefault(condition.facet.name, []).append(condition.value)
    return wanted


def _cards(user: Visitor, found: DatasetQuerySet, *, start: int, stop: int) -> list[Card]:
    """Return a part of these datasets, newest first, in four queries however many there are, five with stories."""
    keys = list(found.newest_first().values_list("pk", flat=True)[start:stop])
    shown = [one for one in Dataset.objects.filter(pk__in=keys).for_list() if may_list(user, one)]
    strip, told = strips(shown, user=user, pictures=PICTURES), stories.strips(shown, user=user, stories=1)
    return [
        Card(dataset, world_label(dataset), strip.get(dataset.pk, []), next(iter(told.get(dataset.pk, [])), None))
        for dataset in shown
    ]
