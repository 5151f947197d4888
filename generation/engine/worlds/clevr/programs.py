"""A family's operations as CLEVR's own functions: what a question's program is made of."""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from generation.engine.language.families import Family, Mode, Op, Operation
from generation.engine.program import Program, Step
from generation.engine.programs.skeleton import skeleton
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES

_NAMES = {
    Op.SCENE: "scene",
    Op.RELATE: "relate",
    Op.UNION: "union",
    Op.INTERSECT: "intersect",
    Op.UNIQUE: "unique",
    Op.COUNT: "count",
    Op.EXIST: "exist",
    Op.EQUAL_INTEGER: "equal_integer",
    Op.LESS_THAN: "less_than",
    Op.GREATER_THAN: "greater_than",
    Op.EQUAL_OBJECT: "equal_object",
}
_VERBS = {Op.SAME: "same", Op.QUERY: "query", Op.EQUAL_VALUE: "equal", Op.FILTER_ONE: "filter"}
_FILTERS = (Op.FILTER, Op.RELATE_FILTER)


class ProgramTemplate(NamedTuple):
    """A function that a family's programs may have: its inputs among these, the parameters it needs set."""

    function: str
    inputs: tuple[int, ...]
    params: tuple[int, ...]


def name_of(operation: Operation) -> str:
    """Return the function that an operation is, as CLEVR calls it."""
    if operation.op in _VERBS:
        return f"{_VERBS[operation.op]}_{ATTRIBUTES[operation.attribute]}"
    return _NAMES[operation.op]


def templates(operations: Sequence[Operation]) -> tuple[ProgramTemplate, ...]:
    """Return the functions that programs of these operations may have, in order."""
    steps: list[ProgramTemplate] = []
    last: list[int] = []
    for operation in operations:
        inputs = tuple(last[source] for source in operation.inputs)
        if operation.op in _FILTERS:
            if operation.op == Op.RELATE_FILTER:
                steps.append(ProgramTemplate("relate", inputs, operation.params[:1]))
                inputs = (len(steps) - 1,)
            for attribute, param in zip(ATTRIBUTES, operation.params[1:], strict=True):
                steps.append(ProgramTemplate(f"filter_{attribute}", inputs, (param,)))
                inputs = (len(steps) - 1,)
        else:
            params = tuple(param for param in operation.params if param >= 0)
            steps.append(ProgramTemplate(name_of(operation), inputs, params))
        last.append(len(steps) - 1)
    return tuple(steps)


def program_of(steps: Sequence[ProgramTemplate], values: Sequence[str | None]) -> Program:
    """Return the steps whose parameters are set, renumbered; one left out hands its input on."""
    program: list[Step] = []
    place: list[int] = []
    for function, inputs, params in steps:
        if params:
            value = values[params[0]]
            if value is None:
                place.append(place[inputs[0]])
                continue
            program.append(Step(function, (place[inputs[0]],), (value,)))
        else:
            program.append(Step(function, tuple([place[source] for source in inputs])))
        place.append(len(program) - 1)
    return tuple(program)


class Outline(NamedTuple):
    """A skeleton that a family's programs may have, and the fewest and the most steps of those that do."""

    skeleton: str
    least: int
    most: int


def ways(family: Family) -> int:
    """Return in how many ways a family's descriptions may say something or nothing."""
    return math.prod(len(_told(operation)) for operation in family.operations if operation.op in _FILTERS)


def outlines(family: Family) -> Iterator[Outline]:
    """Yield what a family's programs may look like: once for each way in which its descriptions say something."""
    filters = [operation for operation in family.operations if operation.op in _FILTERS]
    steps = templates(family.operations)
    for way in product(*(_told(operation) for operation in filters)):
        values: list[str | None] = ["" for _ in family.params]
        more = 0
        for operation, is_told in zip(filters, way, strict=True):
            free = _free(operation)
            for param in operation.params[1:]:
                values[param] = None
            if is_told:
                values[free[0]] = ""
                more += len(free) - 1
        program = program_of(steps, values)
        yield Outline(skeleton(program), len(program), len(program) + more)


def _told(operation: Operation) -> tuple[bool, ...]:
    if not _free(operation):
        return (False,)
    return (True,) if operation.op == Op.FILTER and operation.mode == Mode.SET else (True, False)


def _free(operation: Operation) -> list[int]:
    return [param for at, param in enumerate(operation.params[1:]) if not operation.null >> at & 1]
