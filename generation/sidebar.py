"""The sidebar of filters: for each facet its values, each a link with the number of questions behind it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote_plus

import numpy as np
from numpy.typing import NDArray

from generation.browse import HIGHEST, LOWEST, Facet, Query, label_of
from generation.engine.worlds import FacetKind

Counts = Mapping[str, NDArray[np.int64]]

OPEN_UP_TO = 16  # a facet with more values is folded until it is used


class Choice(NamedTuple):
    """One value of a facet: its address puts it on or off; `percent` is of the most frequent value's questions.

    `key` and `shown` are its code and its number as pages write them: there are hundreds on a page.
    """

    code: int
    label: str
    n: int
    percent: float
    chosen: bool
    address: str
    key: str
    shown: str


class Chip(NamedTuple):
    """A filter that is on: its address takes it off."""

    name: str
    value: str
    address: str


class Panel(NamedTuple):
    """One facet of the sidebar.

    Attributes
    ----------
    name, label : str
    values : int
        How many of its values occur.
    choices : list of Choice
        Those that occur in the split, or are chosen.
    is_open : bool
    is_range : bool
    lowest, highest : str
        Names of the two fields of a range.
    first, last : str
        The ends of the range that is on, else empty.
    kept : list of (name, value)
        The rest of the address, for the form of the range.
    """

    name: str
    label: str
    values: int
    choices: list[Choice]
    is_open: bool
    is_range: bool
    lowest: str
    highest: str
    first: str
    last: str
    kept: list[tuple[str, str]]


def panels(facets: Sequence[Facet], *, counts: Counts, query: Query, of_all: Counts) -> list[Panel]:
    """Return the sidebar of a query.

    Parameters
    ----------
    facets : sequence of Facet
        Those that may be filtered by.
    counts : mapping of str to array (values,)
        How many questions each value would give, the other filters holding.
    query : Query
    of_all : mapping of str to array (values,)
        How many questions have each value when nothing is filtered: those of none are left out.
    """
    return [
        _panel(facet, counts[facet.name].tolist(), query, occurring=of_all[facet.name].astype(bool).tolist())
        for facet in facets
    ]


def chips(query: Query) -> list[Chip]:
    """Return the filters that are on, each with the address without it."""
    made = [Chip(one.facet.label, one.label, query.toggled(one).address) for one in query.conditions]
    if query.words:
        made.append(Chip("words", query.words, query.with_words("").address))
    return made


def choices_of(facet: Facet, counts: Sequence[int], query: Query, *, occurring: Sequence[bool]) -> list[Choice]:
    """Return the values of a facet that occur, or are chosen, with their addresses."""
    chosen = set(query.filters.get(facet.name, ()))
    most = max(counts, default=0) or 1
    before, after = query.around(facet)
    made = []
    for code, count in enumerate(counts):
        if occurring[code] or code in chosen:
            if code in chosen:
                address = query.switched(facet, code).address
            else:
                address = before + quote_plus(facet.values[code]) + after
            percent = round(100 * count / most, 1)
            label = label_of(facet, code)
            made.append(Choice(code, label, count, percent, code in chosen, address, str(code), f"{count:,}"))
    return made


def _panel(facet: Facet, counts: Sequence[int], query: Query, *, occurring: Sequence[bool]) -> Panel:
    mine = [one for one in query.conditions if one.facet.name == facet.name]
    without = query.without(facet.name)
    ranges = [one.value for one in mine if ".." in one.value]
    first, _, last = ranges[-1].partition("..") if ranges else ("", "", "")
    return Panel(
        name=facet.name,
        label=facet.label,
        values=sum(occurring),
        choices=choices_of(facet, counts, query, occurring=occurring),
        is_open=bool(mine) or sum(occurring) <= OPEN_UP_TO,
        is_range=facet.kind is FacetKind.INTEGER,
        lowest=facet.name + LOWEST,
        highest=facet.name + HIGHEST,
        first=first,
        last=last,
        kept=without.pairs,
    )
