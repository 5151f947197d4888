"""Question families: a program template with parameters, and texts that ask the question.

Families refer to objects with attributes and to relations between them; the `Language` lists these. `family_files`
reads families and translates their nodes to the few operations below, which the search can run.
"""

from enum import IntEnum
from typing import NamedTuple

from generation.engine.language.wording import Wording

RELATION = "Relation"


class Language(NamedTuple):
    """The attributes and relations that families may use.

    Attributes
    ----------
    attributes : tuple of (str, tuple of str)
        Each attribute's name with its values. The position of a value is its code.
    relations : tuple of str
        The relations between two objects. The position of a relation is its code.
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
        """Return the values of a parameter type: `Relation`, or an attribute's name with a capital letter."""
        if parameter_type == RELATION:
            return self.relations
        return dict(self.attributes)[parameter_type.lower()]


class Op(IntEnum):
    """The operations of the search."""

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
    """The step that follows a filter. It decides which values the search tries."""

    SET = 0
    UNIQUE = 1
    COUNT = 2
    EXIST = 3


class Operation(NamedTuple):
    """One operation of a translated family.

    Attributes
    ----------
    op : Op
    inputs : tuple of int
        Earlier operations of the family.
    attribute : int
        The attribute of SAME, QUERY, EQUAL_VALUE and FILTER_ONE; -1 for other operations.
    mode : Mode
    params : tuple of int
        The parameters that it binds: the relation first, then one for each attribute; -1 for an empty slot.
    null : int
        Bit `a` is set if the parameter of attribute `a` must stay unset.
    """

    op: Op
    inputs: tuple[int, ...] = ()
    attribute: int = -1
    mode: Mode = Mode.SET
    params: tuple[int, ...] = ()
    null: int = 0


class Param(NamedTuple):
    """A parameter: its type, `Relation` or an attribute's capitalised name, and its placeholder such as `<Z2>`."""

    type: str
    name: str


class Family(NamedTuple):
    """A question family, read and checked.

    Attributes
    ----------
    number : int
        The number by which questions refer to the family.
    source : str
        The file from which it was read.
    params : tuple of Param
    wordings : tuple of Wording
        The texts that ask the question, all equally likely.
    operations : tuple of Operation
        Each operation comes after its inputs; the last one gives the answer.
    differ : tuple of (int, int)
        Pairs of operations whose outputs must differ.
    unequal : tuple of (int, int)
        Pairs of parameters whose values must differ.
    answers : tuple of str
        Its possible answers. The position of an answer is the code in the search.
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
        """Whether the family has at least two possible answers. With fewer, its questions would ask nothing."""
        return len(self.answers) > 1
