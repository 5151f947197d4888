"""The analysis of a question: the structure of its program, the shortest program that suffices, and absoluteness.

The **effective question** of a question on a scene is the smallest program with the same answer that is obtained by
replacing inputs that are objects or sets of objects with all objects of the scene. Each replacement counts as a step.
Cut programs run on sets in place of single objects: `unique` returns its set, functions of one object are applied to
each member and the results are joined, and a program has an answer only if its last step gives a single value.

A question is **absolute** in space if it has the same answer when each relation is replaced by the half of the picture
that it names (for example the left half), whatever its anchor.

References
----------
Johnson et al. 2017, CLEVR, sections 4.5 and 4.6, appendix B.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.language.families import Language
from generation.engine.program import Program, Step, reachable
from generation.engine.programs.cut_programs import (
    COUNT,
    EQUAL_INTEGER,
    EQUAL_OBJECT,
    EQUAL_VALUE,
    EXIST,
    FILTER,
    GREATER_THAN,
    INTERSECT,
    LESS_THAN,
    MOST_CUTS,
    MOST_STATES,
    QUERY,
    RELATE,
    ROOM,
    SAME,
    SCENE,
    UNION,
    UNIQUE,
    diagnose_scene,
)
from generation.engine.search import Objects

_PLAIN = {
    "scene": SCENE,
    "relate": RELATE,
    "union": UNION,
    "intersect": INTERSECT,
    "unique": UNIQUE,
    "count": COUNT,
    "exist": EXIST,
    "equal_integer": EQUAL_INTEGER,
    "less_than": LESS_THAN,
    "greater_than": GREATER_THAN,
    "equal_object": EQUAL_OBJECT,
}
_VERBS = {"filter": FILTER, "same": SAME, "query": QUERY, "equal": EQUAL_VALUE}
_TAKES_OBJECTS = (FILTER, RELATE, SAME, UNION, INTERSECT, UNIQUE, COUNT, EXIST, QUERY, EQUAL_OBJECT)
_COMPARES = (EQUAL_VALUE, EQUAL_INTEGER, LESS_THAN, GREATER_THAN, EQUAL_OBJECT)


class Topology(StrEnum):
    """How the steps of a program are connected."""

    ZERO_HOP = "zero-hop"
    CHAIN = "chain"
    TREE_AND = "tree-and"
    TREE_OR = "tree-or"
    COMPARISON = "comparison"


class Demands(NamedTuple):
    """The properties of a program that do not depend on the scene.

    Attributes
    ----------
    topology : Topology
    spatial : int
        The number of spatial relations.
    same : int
        The number of relations "has the same value as".
    """

    topology: Topology
    spatial: int
    same: int


class Sight(NamedTuple):
    """A scene in the form that the analysis needs.

    Attributes
    ----------
    objects : Objects
    halves : ndarray, shape (relations,), uint64
        For each relation, the objects in the half of the picture that it names.
    """

    objects: Objects
    halves: NDArray[np.uint64]


@lru_cache(maxsize=4096)
def demands(functions: tuple[str, ...]) -> Demands:
    """Return the properties of a program with these functions, in order, that do not depend on the scene."""
    spatial = functions.count("relate")
    same = sum(name.startswith("same_") for name in functions)
    return Demands(_topology(functions, hops=spatial + same), spatial, same)


def _topology(functions: Sequence[str], *, hops: int) -> Topology:
    """Return the type of the last join; without a join, chain or zero-hop, depending on whether it has relations."""
    for name in reversed(functions):
        if _operation(name) in _COMPARES:
            return Topology.COMPARISON
        if name == "intersect":
            return Topology.TREE_AND
        if name == "union":
            return Topology.TREE_OR
    return Topology.CHAIN if hops else Topology.ZERO_HOP


def _operation(name: str) -> int:
    return _PLAIN[name] if name in _PLAIN else _VERBS[name.partition("_")[0]]


class _Shape(NamedTuple):
    """A program as a tree, with its nodes in stack order (postfix).

    A step that is used twice becomes two nodes. `steps` are the numbers of the program's steps. `cut` is the number of
    the input that connects a node to the next one, counted from the answer down, first branches first; -1 if that input
    cannot be cut.
    """

    op: NDArray[np.int64]
    attribute: NDArray[np.int64]
    steps: tuple[int, ...]
    cut: NDArray[np.int64]


class Diagnosis(NamedTuple):
    """The analysis of a program on one scene.

    Attributes
    ----------
    program : Program
    length : int or None
        The number of steps of the effective question. None if there are too many cut programs to search.
    absolute : bool
        Whether the answer stays the same if relations are replaced by halves of the picture.
    answers : bool
        Whether the program has an answer on the scene. If not, the other results have no meaning.
    shape, cuts
        The data from which `effective` is computed.
    """

    program: Program
    length: int | None
    absolute: bool
    answers: bool
    shape: _Shape
    cuts: int

    @property
    def effective(self) -> Program | None:
        """The smallest program that gives the same answer; None if `length` is None.

        Among several, the one whose cuts are nearest to the answer, with first branches before second ones.
        """
        if self.length is None:
            return None
        return _cut(self.program, self.shape, self.cuts) if self.length < len(self.program) else self.program


class Diagnoser:
    """Analyses programs of one language.

    Parameters
    ----------
    language : Language
    """

    def __init__(self, language: Language) -> None:
        self.attributes = {name: number for number, name in enumerate(language.names)}
        self.codes = [{value: code for code, value in enumerate(values)} for _, values in language.attributes]
        self.relations = {name: number for number, name in enumerate(language.relations)}
        self.width = max(len(values) for _, values in language.attributes)
        self.shapes: dict[tuple[tuple[str, tuple[int, ...]], ...], _Shape] = {}
        self.stack = np.zeros((3, ROOM), np.uint64)
        self.found = np.zeros((3, MOST_STATES), np.uint64)

    def diagnose(self, programs: Sequence[Program], sight: Sight) -> list[Diagnosis]:
        """Return the analysis of each program on a scene."""
        if not programs:
            return []
        shapes = [self._shape(program) for program in programs]
        first = np.cumsum([0, *(len(shape.steps) for shape in shapes)])
        values = np.array(
            [
                self._value(program[step])
                for program, shape in zip(programs, shapes, strict=True)
                for step in shape.steps
            ],
            np.int64,
        )
        sizes, cuts, absolute, answers = diagnose_scene(
            sight.objects.codes,
            sight.objects.related,
            sight.halves,
            self.width,
            first,
            np.concatenate([shape.op for shape in shapes]),
            np.concatenate([shape.attribute for shape in shapes]),
            values,
            np.concatenate([shape.cut for shape in shapes]),
            self.stack,
            self.found,
        )
        found = zip(programs, sizes.tolist(), absolute.tolist(), answers.tolist(), shapes, cuts.tolist(), strict=True)
        return [Diagnosis(program, min(size, len(program)) or None, *rest) for program, size, *rest in found]

    def _value(self, step: Step) -> int:
        if not step.values:
            return -1
        [value] = step.values
        if step.function == "relate":
            return self.relations[value]
        return self.codes[self.attributes[step.function.partition("_")[2]]][value]

    def _shape(self, program: Program) -> _Shape:
        key = tuple([(step.function, step.inputs) for step in program])
        if key not in self.shapes:
            self.shapes[key] = self._shaped(program)
        return self.shapes[key]

    def _shaped(self, program: Program) -> _Shape:
        nodes: list[tuple[int, int]] = []
        cuts = 0

        def put(number: int, *, cut: int) -> None:
            nonlocal cuts
            step = program[number]
            for source in step.inputs:
                this = -1
                if _operation(step.function) in _TAKES_OBJECTS:
                    cuts, this = cuts + 1, cuts
                put(source, cut=-1 if program[source].function == "scene" else this)
            nodes.append((number, cut))

        put(len(program) - 1, cut=-1)
        steps = tuple(number for number, _ in nodes)
        names = [program[number].function for number in steps]
        return _Shape(
            op=np.array([_operation(name) for name in names], np.int64),
            attribute=np.array([self.attributes.get(name.partition("_")[2], -1) for name in names], np.int64),
            steps=steps,
            cut=np.array([cut for _, cut in nodes], np.int64),
        )


def _cut(program: Program, shape: _Shape, cuts: int) -> Program:
    """Return the program with the inputs in a set of cuts replaced."""
    made: list[Step] = []
    waiting: list[int] = []
    for number, cut in zip(shape.steps, shape.cut.tolist(), strict=True):
        step = program[number]
        inputs = tuple(waiting[len(waiting) - len(step.inputs) :])
        del waiting[len(waiting) - len(step.inputs) :]
        made.append(Step(step.function, inputs, step.values))
        if cut >= 0 and cuts >> (MOST_CUTS - cut) & 1:
            made.append(Step("scene"))
        waiting.append(len(made) - 1)
    return reachable(made)


def sight(objects: Objects, halves: Sequence[int]) -> Sight:
    """Return a scene in the form that the analysis needs. `halves` has a mask of objects for each relation."""
    return Sight(objects, np.array(halves, np.uint64))
