"""Descriptions of breakdowns of accuracy, which worlds offer for boards."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

Filters = Mapping[str, tuple[str, ...]]
"""The allowed values of some facets; a question passes if it has an allowed value of each of them."""

EVERYTHING: Filters = MappingProxyType({})


class Series(NamedTuple):
    """A part of a view's questions, drawn as one series."""

    label: str
    filters: Filters


class BoardView(NamedTuple):
    """A breakdown of accuracy that a world offers.

    Attributes
    ----------
    name : str
        The name in addresses and file names: small letters, digits and hyphens.
    title : str
        The heading that people see.
    by : str
        The facet by whose values accuracy is broken down: an integer facet as a line, any other as a list.
    axis : str
        The label of the facet's axis.
    filters : Filters
        The questions that the view covers.
    series : tuple of Series
        The series that the view compares; if empty, all questions are one series. In learning curves each is a curve.
    is_across : bool
        Whether the view also shows the other splits that have the same reference. If so, its series are shown as curves
        only.
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
        """Return the names of all facets that the view reads."""
        return frozenset({self.by, *self.filters}.union(*(one.filters for one in self.series)))


class Reweighting(NamedTuple):
    """The facets by whose values questions are weighted for the reweighted accuracy.

    Attributes
    ----------
    facets : tuple of str
        A question's weight is the inverse of how often its values of these facets are expected in the train split.
    are_different : bool
        Whether there are two facets with the same values, which are different in each question.
    """

    facets: tuple[str, ...]
    are_different: bool = False


class Tasks(NamedTuple):
    """The columns of a board that are tasks; each task is passed or failed.

    Boards then show the mean over tasks and the number of failed tasks; learning curves show how many examples are
    needed to pass each task.

    Attributes
    ----------
    facet : str
        The tasks are the columns of this facet's values.
    noun : str
        The noun for one task; its plural ends in s.
    passed : Fraction
        The share of right answers that is needed to pass a task.
    """

    facet: str
    noun: str
    passed: Fraction

    @property
    def percent(self) -> str:
        """Return the share that is needed to pass a task, in per cent."""
        return f"{float(100 * self.passed):g}"
