"""Programs: what a question demands, as steps that can be executed.

A program is a tuple of steps as CLEVR publishes them (`function, inputs, value_inputs`). A `FunctionTable` says
which functions a world has, their types and how each is computed; `typecheck` refuses a program that can't run,
naming the step; `execute` runs it and keeps what every step gave.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from operator import index
from typing import Any, NamedTuple

from generation.engine.canonical import canonical
from generation.engine.errors import BadProgram


class Step(NamedTuple):
    """One application of a function: to the outputs of earlier steps, with fixed values."""

    function: str
    inputs: tuple[int, ...] = ()
    values: tuple[str, ...] = ()


Program = tuple[Step, ...]


class Function(NamedTuple):
    """A function of a world.

    Attributes
    ----------
    name : str
    inputs : tuple of str
        The types of what it takes from earlier steps.
    output : str
        The type of what it gives.
    values : tuple of str
        The types of its fixed values.
    run : callable
        `run(context, *inputs, *values)` gives the output; `context` is what the table's `prepare` made of the item.
        Raises `IllPosed` where the function has no answer.
    label : str
        How the step is named to people.
    """

    name: str
    inputs: tuple[str, ...]
    output: str
    values: tuple[str, ...]
    run: Callable[..., Any]
    label: str = ""


class Shown(NamedTuple):
    """A step's outcome for people and files: JSON-able value and the element ids it points at."""

    value: Any
    elements: tuple[int, ...]


def last_function(program: Program) -> str:
    """Return the name of a program's last function."""
    return program[-1].function


@dataclass(frozen=True)
class FunctionTable:
    """The functions of a world under one spec.

    Attributes
    ----------
    functions : mapping of str to Function
    values : mapping of str to tuple of str
        For each value type, every value it may take.
    prepare : callable
        `prepare(scene, scope)` gives the context that functions run in; made once for many programs.
    show : callable
        `show(type, output)` gives the `Shown` of a raw output.
    answer_kinds : mapping of str to str
        For each type that may answer a question, the kind of that answer.
    kind_of : callable
        `kind_of(program)` gives the type of the question that a program asks: its last function, where a world does
        not say otherwise.
    """

    functions: Mapping[str, Function]
    values: Mapping[str, tuple[str, ...]]
    prepare: Callable[[Any, int | None], Any]
    show: Callable[[str, Any], Shown]
    answer_kinds: Mapping[str, str] = field(default_factory=dict)
    kind_of: Callable[[Program], str] = last_function


class TraceStep(NamedTuple):
    """What one step gave: its type, its value, the elements (object ids, story lines) it points at."""

    type: str
    value: Any
    elements: tuple[int, ...]


Trace = tuple[TraceStep, ...]


def typecheck(program: Program, *, table: FunctionTable) -> str:
    """Return the type of the program's last step.

    Raises
    ------
    BadProgram
        If a step names an unknown function or value, takes a step that does not come before it, or is given
        another number or other types of inputs than its function has. The message names the step.
    """
    if not program:
        raise BadProgram("Expected at least one step, got none.")
    types: list[str] = []
    for number, step in enumerate(program):
        try:
            types.append(_output_of(step, types, table))
        except BadProgram as error:
            raise BadProgram(error.reason, where=f"step {number} ({step.function})") from error
    return types[-1]


def _output_of(step: Step, types: Sequence[str], table: FunctionTable) -> str:
    """Return the type of what a step gives, after steps of these types; raise `BadProgram`."""
    function = table.functions.get(step.function)
    if function is None:
        raise BadProgram(f"Expected one of {', '.join(sorted(table.functions))}.")
    if len(step.inputs) != len(function.inputs):
        raise BadProgram(f"Expected {len(function.inputs)} inputs, got {len(step.inputs)}.")
    for source, wanted in zip(step.inputs, function.inputs, strict=True):
        if not 0 <= source < len(types):
            raise BadProgram(f"Expected inputs from steps before it, got step {source}.")
        if types[source] != wanted:
            raise BadProgram(f"Expected {wanted} as input, got {types[source]} from step {source}.")
    if len(step.values) != len(function.values):
        raise BadProgram(f"Expected {len(function.values)} values, got {len(step.values)}.")
    for value, kind in zip(step.values, function.values, strict=True):
        if value not in table.values[kind]:
            raise BadProgram(f"Expected a {kind} ({', '.join(table.values[kind])}), got {value!r}.")
    return function.output


def outputs(program: Program, context: Any, *, table: FunctionTable) -> list[Any]:
    """Return the raw output of every step, in a context that `table.prepare` made.

    Raises
    ------
    IllPosed
        If a function has no answer, as `unique` of no or several objects.
    """
    results: list[Any] = []
    for step in program:
        run = table.functions[step.function].run
        results.append(run(context, *[results[source] for source in step.inputs], *step.values))
    return results


def execute(program: Program, scene: Any, *, table: FunctionTable, scope: int | None = None) -> Trace:
    """Return what every step of a well-typed program gives on a scene.

    Parameters
    ----------
    program : Program
        Checked by `typecheck`.
    scene : object
        A scene of the table's world.
    table : FunctionTable
    scope : int or None
        How many elements the program may see (a story's prefix); None for all.

    Returns
    -------
    Trace
        One `TraceStep` a step.

    Raises
    ------
    IllPosed
        If a function has no answer on this scene.
    """
    trace: list[TraceStep] = []
    results = outputs(program, table.prepare(scene, scope), table=table)
    for step, result in zip(program, results, strict=True):
        kind = table.functions[step.function].output
        shown = table.show(kind, result)
        trace.append(TraceStep(kind, shown.value, shown.elements))
    return tuple(trace)


def reachable(steps: Sequence[Step]) -> Program:
    """Return the steps that the last one needs, renumbered."""
    needed = {len(steps) - 1}
    for number in range(len(steps) - 1, -1, -1):
        if number in needed:
            needed.update(steps[number].inputs)
    places = {number: place for place, number in enumerate(sorted(needed))}
    return tuple(
        Step(steps[number].function, tuple(places[source] for source in steps[number].inputs), steps[number].values)
        for number in sorted(needed)
    )


def without(program: Program, number: int, *, instead: int) -> Program:
    """Return the program without a step: what it gave is given by an earlier step `instead`, of the same type."""
    return reachable(
        [
            Step(function, tuple([instead if source == number else source for source in inputs]), values)
            for function, inputs, values in program
        ]
    )


def to_json(program: Program) -> list[dict[str, Any]]:
    """Return the program as CLEVR publishes it: a list of `function, inputs, value_inputs`."""
    return [
        {"function": step.function, "inputs": list(step.inputs), "value_inputs": list(step.values)} for step in program
    ]


def from_json(data: Sequence[Mapping[str, Any]]) -> Program:
    """Return the program that published JSON describes; the generator's `type` for `function` is read too.

    Raises
    ------
    BadProgram
        If a step lacks its function or its lists.
    """
    steps = []
    for number, node in enumerate(data):
        try:
            name = node["function"] if "function" in node else node["type"]
            values = node.get("value_inputs", node.get("side_inputs", ()))
            if isinstance(values, str):
                raise TypeError("a list of values is wanted, not one value")
            steps.append(Step(str(name), tuple(map(index, node["inputs"])), tuple(map(str, values))))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            text = repr(node)
            came = text if len(text) <= 200 else f"{text[:197]}..."
            raise BadProgram(
                "Expected an object with a function, inputs (a list of step numbers) and value_inputs (a list), "
                f"got {came}.",
                where=f"step {number}",
            ) from error
    return tuple(steps)


def to_text(program: Program) -> str:
    """Return the canonical JSON of a program: that of its steps, each of which is written once and remembered."""
    return f"[{','.join([_text_of(step) for step in program])}]"


def from_text(text: str) -> Program:
    """Return the program that a JSON text describes; canonical JSON is read several times as fast as another.

    Each step's text is parsed once and remembered. Where a value itself holds the mark between two steps, the cut
    leaves a string without an end, which is no JSON, and the whole text is parsed instead.

    Raises
    ------
    BadProgram
        As `from_json` does.
    """
    if text.startswith("[{") and text.endswith("}]"):
        with suppress(ValueError, BadProgram):
            return tuple([_step_of(step) for step in text[2:-2].split("},{")])
    return from_json(json.loads(text))


@lru_cache(maxsize=1 << 16)
def _text_of(step: Step) -> str:
    return canonical(to_json((step,)))[1:-1]


@lru_cache(maxsize=1 << 16)
def _step_of(text: str) -> Step:
    [step] = from_json([json.loads(f"{{{text}}}")])
    return step
