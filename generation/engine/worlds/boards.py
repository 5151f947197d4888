"""What worlds have ready for boards: breakdowns of accuracy that a paper, or a question of its kind, asks for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Filters = Mapping[str, tuple[str, ...]]
"""Of some facets the values that questions may have; a question passes when each of them has one."""

EVERYTHING: Filters = MappingProxyType({})


class Series(NamedTuple):
    """Some of a view's questions, drawn beside the others."""

    label: str
    filters: Filters


class BoardView(NamedTuple):
    """A ready-made breakdown of accuracy.

    Attributes
    ----------
    name : str
        In addresses and file names: small letters, digits and hyphens.
    title : str
        For people.
    by : str
        The facet that it is broken down by: integers along a line, any other as a list.
    axis : str
        What its values are, as an axis says it.
    filters : Filters
        Which questions it is about.
    series : tuple of Series
        Which of these are told apart; none: all are one.
    is_across : bool
        Whether it stands beside the same of the other splits that have the split's reference.
    """

    name: str
    title: str
    by: str
    axis: str
    filters: Filters = EVERYTHING
    series: tuple[Series, ...] = ()
    is_across: bool = False

    @property
    def facets(self) -> frozenset[str]:
        """Return the names of all facets that it reads."""
        return frozenset({self.by, *self.filters}.union(*(one.filters for one in self.series)))
