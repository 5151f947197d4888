"""The list of questions: its pages, and the sidebar with the values of each facet and their numbers of questions."""

import functools
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import quote_plus, urlencode

import numpy as np
from django.core.paginator import Paginator
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from generation.engine.items import FacetKind
from generation.splits.query_string import HIGHEST, LOWEST, FilterFacet, Query, label_of

PER_PAGE = 50
AROUND = 2  # page numbers on each side of the current one


class NoSuchPage(Exception):
    """The page is after the end; the text says how many pages there are."""


class PageLink(NamedTuple):
    number: int | None  # None for a gap
    address: str
    current: bool


class Page(NamedTuple):
    """A part of a list: `start` and `stop` of a slice, and `total`, the length of the list."""

    number: int
    pages: int
    start: int
    stop: int
    total: int
    links: list[PageLink]
    previous: str
    next: str

    @property
    def first(self) -> int:
        return self.start + 1 if self.total else 0


def page_of(query: Query, total: int, *, size: int = PER_PAGE, of: str = "questions") -> Page:
    """Return the page of a query for a list of `total` entries, called `of` in messages. An empty list has one page.

    Raises
    ------
    NoSuchPage
        If the page is after the end of the list.
    """
    pages = max(1, -(-total // size))
    number = query.page
    if number > pages:
        raise NoSuchPage(f"Expected a page from 1 to {pages:,}, got {number:,} ({of}: {total:,}).")
    start = (number - 1) * size
    return Page(
        number=number,
        pages=pages,
        start=start,
        stop=min(start + size, total),
        total=total,
        links=_links(query, pages),
        previous=query.on_page(number - 1).address if number > 1 else "",
        next=query.on_page(number + 1).address if number < pages else "",
    )


def _links(query: Query, pages: int) -> list[PageLink]:
    """Return links to the first, last, current and neighbouring pages, with gaps."""
    numbers = Paginator(range(pages), 1).get_elided_page_range(query.page, on_each_side=AROUND, on_ends=1)
    return [
        PageLink(number, query.on_page(number).address, number == query.page)
        if isinstance(number, int)
        else PageLink(None, "", False)
        for number in numbers
    ]


Counts = Mapping[str, NDArray[np.int64]]

OPEN = "open"  # parameter with the name of a facet whose values are listed
OPEN_UP_TO = 16  # a facet with more values is closed until it is used
ITEM = (
    '<li{none}><a id="{facet}-{code}" href="{address}" rel="nofollow"{current}><span class="box" aria-hidden="true">'
    '</span><span class="name">{label}</span><span class="count">{n:,}</span></a></li>'
)


class FacetValueLink(NamedTuple):
    """One value of a facet: its address switches it on or off, and `n` questions have it."""

    code: int
    label: str
    n: int
    chosen: bool
    address: str


class Chip(NamedTuple):
    name: str
    value: str
    address: str  # removes the filter


class Panel(NamedTuple):
    """One facet of the sidebar.

    Attributes
    ----------
    name, label : str
    values : int
        Number of values that occur.
    choices : list of FacetValueLink
        The values that occur in the split, or are selected.
    is_open : bool
        Whether its choices are on the page. Otherwise they are loaded when it is opened.
    address : str
        The same page with this facet open.
    is_range : bool
    lowest, highest : str
        Names of the two fields for a range.
    first, last : str
        The ends of the active range, or empty.
    kept : list of (name, value)
        The other parameters of the address, for the form of the range.
    """

    name: str
    label: str
    values: int
    choices: list[FacetValueLink]
    is_open: bool
    is_range: bool
    lowest: str
    highest: str
    first: str
    last: str
    kept: list[tuple[str, str]]
    address: str

    @property
    def items(self) -> SafeString:
        """Return the choices as HTML list items. There are hundreds on a page, for which a template is slow."""
        return SafeString(
            "".join(
                ITEM.format(
                    none="" if choice.n else ' class="none"',
                    facet=self.name,
                    code=choice.code,
                    address=escape(choice.address),
                    current=' aria-current="true"' if choice.chosen else "",
                    label=_escaped(choice.label),
                    n=choice.n,
                )
                for choice in self.choices
            )
        )


def panels(
    facets: Sequence[FilterFacet], *, counts: Counts, query: Query, of_all: Counts, opened: Collection[str] = ()
) -> list[Panel]:
    """Return the sidebar of a query. Facets without values in the split are left out.

    Parameters
    ----------
    facets : sequence of FilterFacet
        The facets by which the user may filter.
    counts : mapping of str to array (values,)
        How many questions each value would give, with the other filters applied.
    query : Query
    of_all : mapping of str to array (values,)
        How many questions have each value without filters.
    opened : collection of str
        Names of facets that the user opened.
    """
    shown = [facet for facet in facets if of_all[facet.name].any() or facet.name in query.filters]
    return [
        _panel(
            facet,
            counts[facet.name].tolist(),
            query,
            occurring=of_all[facet.name].astype(bool).tolist(),
            is_opened=facet.name in opened,
        )
        for facet in shown
    ]


def chips(query: Query) -> list[Chip]:
    """Return the active filters, each with the address without it."""
    made = [Chip(one.facet.label, one.label, query.toggled(one).address) for one in query.conditions]
    if query.words:
        made.append(Chip("words", query.words, query.with_words("").address))
    return made


def _panel(
    facet: FilterFacet, counts: Sequence[int], query: Query, *, occurring: Sequence[bool], is_opened: bool
) -> Panel:
    is_open = is_opened or facet.name in query.filters or sum(occurring) <= OPEN_UP_TO
    mine = [one for one in query.conditions if one.facet.name == facet.name]
    without = query.without(facet.name)
    ranges = [one.value for one in mine if ".." in one.value]
    first, _, last = ranges[-1].partition("..") if ranges else ("", "", "")
    return Panel(
        name=facet.name,
        label=facet.label,
        values=sum(occurring),
        choices=_choices(facet, counts, query, occurring=occurring) if is_open else [],
        is_open=is_open,
        is_range=facet.kind is FacetKind.INTEGER,
        lowest=facet.name + LOWEST,
        highest=facet.name + HIGHEST,
        first=first,
        last=last,
        kept=without.pairs,
        address="?" + urlencode([*query.pairs, (OPEN, facet.name)], safe=","),
    )


def _choices(
    facet: FilterFacet, counts: Sequence[int], query: Query, *, occurring: Sequence[bool]
) -> list[FacetValueLink]:
    """Return the values of a facet that occur or are selected, with their addresses."""
    chosen = set(query.filters.get(facet.name, ()))
    before, after = query.around(facet)
    made = []
    for code, count in enumerate(counts):
        if code in chosen:
            made.append(FacetValueLink(code, label_of(facet, code), count, True, query.switched(facet, code).address))
        elif occurring[code]:
            address = f"{before}{_quoted(facet.values[code])}{after}"
            made.append(FacetValueLink(code, label_of(facet, code), count, False, address))
    return made


@functools.lru_cache(maxsize=8192)
def _quoted(value: str) -> str:
    return quote_plus(value)


@functools.lru_cache(maxsize=8192)
def _escaped(label: str) -> str:
    return escape(label)
