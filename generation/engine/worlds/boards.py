"""What worlds have ready for boards: breakdowns of accuracy that a paper, or a question of its kind, asks for."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

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
        Which of these are told apart; none: all are one. Over examples learned from, each is a curve of its own.
    is_across : bool
        Whether it stands beside the same of the other splits that have the split's reference; its series are told
        apart by curves alone.
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


class Tasks(NamedTuple):
    """Columns of a board that are tasks, each of them passed or failed for itself.

    Boards then tell the mean over tasks and how many are failed, curves with how many examples each is passed.

    Attributes
    ----------
    facet : str
        The columns that are about its values are the tasks.
    noun : str
        What one is called; an s makes it several.
    passed : Fraction
        The share of right answers from which a task is passed.
    """

    facet: str
    noun: str
    passed: Fraction

    @property
    def percent(self) -> str:
        """Return the share from which a task is passed, in per cent."""
        return f"{float(100 * self.passed):g}"


@runtime_checkable
class HasTasks(Protocol):
    """A world some of whose columns are tasks."""

    tasks: ClassVar[Tasks]


def tasks_of(world: object) -> Tasks | None:
    """Return which of a world's columns are tasks; None where none are."""
    return world.tasks if isinstance(world, HasTasks) else None
