"""A program as people read it: one row a step, with its inputs, what it gave, and lines that join the steps."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.program import FunctionTable, Program, Trace, TraceStep
from generation.engine.worlds import Element

LANE_WIDTH = 14


class Lines(NamedTuple):
    """How one row of the graph is drawn, in pixels: columns of the node, of what joins it, of what passes it."""

    node: int
    joins: tuple[int, ...]
    passes: tuple[int, ...]
    goes_on: bool


class Row(NamedTuple):
    """One step.

    Attributes
    ----------
    number : int
        From 0, as inputs name it.
    label : str
    values : tuple of str
    inputs : tuple of int
        Named only where the input is not simply the step before.
    outcome : str
        What it gave, in words; of a set, how many.
    elements : tuple of Element
        What it points at.
    lines : Lines
    """

    number: int
    label: str
    values: tuple[str, ...]
    inputs: tuple[int, ...]
    outcome: str
    elements: tuple[Element, ...]
    lines: Lines


def rows_of(
    program: Program,
    trace: Trace,
    *,
    table: FunctionTable,
    elements: Sequence[Element],
    noun: str = "object",
) -> list[Row]:
    """Return a program's steps for people."""
    by_id = {element.id: element for element in elements}
    lines = graph(program)
    rows = []
    for number, step in enumerate(program):
        function = table.functions.get(step.function)
        rows.append(
            Row(
                number=number,
                label=(function.label if function else "") or step.function.replace("_", " "),
                values=step.values,
                inputs=() if step.inputs == (number - 1,) else step.inputs,
                outcome=in_words(trace[number], noun=noun),
                elements=tuple(by_id[one] for one in trace[number].elements if one in by_id),
                lines=lines[number],
            )
        )
    return rows


def in_words(step: TraceStep, *, noun: str = "object") -> str:
    """Return what a step gave: yes or no, a number, a value, or how many elements."""
    if isinstance(step.value, bool):
        return "yes" if step.value else "no"
    if isinstance(step.value, list | tuple | Mapping) or (step.elements and step.value is None):
        listed = step.value if isinstance(step.value, list | tuple) else ()
        return counted(len(step.elements) or len(listed), noun)
    return _plain(step.value, step.elements, noun)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `no objects`, `1 object`, `3 objects`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _plain(value: Any, elements: tuple[int, ...], noun: str) -> str:
    """Return a single value in words; an element's own number is said as one element."""
    if elements == (value,) and isinstance(value, int):
        return counted(1, noun)
    return "nothing" if value is None else str(value)


def graph(program: Program) -> list[Lines]:
    """Return how the rows of a program are joined: each step in the lane of its first input, or in a new one."""
    last_use = {source: number for number, step in enumerate(program) for source in step.inputs}
    lane_of: dict[int, int] = {}
    rows: list[Lines] = []
    for number, step in enumerate(program):
        is_open = [source for source in lane_of if last_use.get(source, -1) >= number]
        taken = {lane_of[source] for source in is_open if last_use[source] > number}
        free = [lane_of[source] for source in step.inputs if lane_of[source] not in taken]
        occupied = {lane_of[source] for source in is_open} if not free else taken
        lane = min(free) if free else next(n for n in range(len(program) + 1) if n not in occupied)
        passes = sorted({lane_of[source] for source in is_open if last_use[source] > number})
        joins = [lane_of[source] for source in step.inputs]
        lane_of[number] = lane
        rows.append(Lines(_x(lane), tuple(map(_x, joins)), tuple(map(_x, passes)), number in last_use))
    return rows


def width_of(rows: Sequence[Row]) -> int:
    """Return how wide the drawing of a program's lines is, in pixels."""
    columns = [column for row in rows for column in (row.lines.node, *row.lines.passes)]
    return max(columns, default=0) + LANE_WIDTH // 2 + 1


def _x(lane: int) -> int:
    return LANE_WIDTH // 2 + 1 + LANE_WIDTH * lane
