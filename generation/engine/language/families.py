"""Question families: a template of a program with parameters, and ways to say it.

Families speak of objects with attributes and of relations between them; which, the `Language` says. Reading one
(`family_files`) lowers its nodes to the few operations here, which the search knows.
"""

from enum import IntEnum
from typing import NamedTuple

from generation.engine.language.wording import Wording

RELATION = "Relation"


class Language(NamedTuple):
    """What families may speak of.

    Attributes
    ----------
    attributes : tuple of (str, tuple of str)
        Each attribute's name with its values; the position of a value is its code.
    relations : tuple of str
        The relations between two objects; the position is the code.
    most : int
        The largest number of objects in a scene.
    """

    attributes: tuple[tuple[str, tuple[str, ...]], ...]
    relations: tuple[str, ...]
    most: int

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(name for name, _ in self.attributes)

    def values(self, parameter_type: str) -> tuple[str, ...]:
        """Return the values that a parameter of this type may take (an attribute's type is its capitalised name)."""
        if parameter_type == RELATION:
            return self.relations
        return dict(self.attributes)[parameter_type.lower()]


class Op(IntEnum):
    """What the search can do in one step."""

    SCENE = 0
    FILTER = 1
    RELATE = 2
    RELATE_FILTER = 3
    FILTER_ONE = 4
    SAME = 5
    UNION = 6
    INTERSECT = 7
    UNIQUE = 8
    COUNT = 9
    EXIST = 10
    QUERY = 11
    EQUAL_VALUE = 12
    EQUAL_INTEGER = 13
    LESS_THAN = 14
    GREATER_THAN = 15
    EQUAL_OBJECT = 16


class Mode(IntEnum):
    """What a filter is for: it decides which values are worth trying."""

    SET = 0
    UNIQUE = 1
    COUNT = 2
    EXIST = 3


class Operation(NamedTuple):
    """One operation of a lowered family.

    Attributes
    ----------
    op : Op
    inputs : tuple of int
        Earlier operations of the family.
    attribute : int
        Which attribute SAME, QUERY, EQUAL_VALUE and FILTER_ONE are about; -1 for the rest.
    mode : Mode
    params : tuple of int
        The parameters it binds: relation first, then one an attribute; -1 where a slot isn't there.
    null : int
        Bit `a` is set where the parameter of attribute `a` must stay unset.
    """

    op: Op
    inputs: tuple[int, ...] = ()
    attribute: int = -1
    mode: Mode = Mode.SET
    params: tuple[int, ...] = ()
    null: int = 0


class Param(NamedTuple):
    """A parameter: `Relation` or an attribute's capitalised name, and its placeholder such as `<Z2>`."""

    type: str
    name: str


class Family(NamedTuple):
    """A family, read and checked.

    Attributes
    ----------
    number : int
        What questions name it by.
    source : str
        The file it came from.
    params : tuple of Param
    wordings : tuple of Wording
        Ways to say it, each as likely.
    operations : tuple of Operation
        In an order in which each comes after its inputs; the last gives the answer.
    differ : tuple of (int, int)
        Pairs of operations whose outputs must differ.
    unequal : tuple of (int, int)
        Pairs of parameters whose values must differ.
    answers : tuple of str
        What it may answer; the position is the code that the search gives.
    answer_type : str
        `Bool`, `Integer` or an attribute's capitalised name.
    """

    number: int
    source: str
    params: tuple[Param, ...]
    wordings: tuple[Wording, ...]
    operations: tuple[Operation, ...]
    differ: tuple[tuple[int, int], ...]
    unequal: tuple[tuple[int, int], ...]
    answers: tuple[str, ...]
    answer_type: str

    @property
    def askable(self) -> bool:
        """Whether it can have two different answers; a question with one possible answer asks nothing."""
        return len(self.answers) > 1
