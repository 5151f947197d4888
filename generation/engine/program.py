"""Programs: the steps that compute the answer to a question.

A program is a tuple of steps in the form that CLEVR publishes (`function, inputs, value_inputs`). A `FunctionTable`
lists a world's functions with their types and code. `typecheck` refuses a program that cannot run and names the wrong
step. `execute` runs a program and returns the output of every step.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from operator import index
from typing import Any, NamedTuple

from generation.engine.content_hash import canonical
from generation.engine.errors import BadProgram


class Step(NamedTuple):
    """One application of a function to the outputs of earlier steps and to fixed values."""

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
        The types of its inputs, which are outputs of earlier steps.
    output : str
        The type of its output.
    values : tuple of str
        The types of its fixed values.
    run : callable
        `run(context, *inputs, *values)` returns the output; `context` is what the table's `prepare` made of the item.
        Raises `IllPosed` if the function has no answer.
    label : str
        The name of the step for users.
    """

    name: str
    inputs: tuple[str, ...]
    output: str
    values: tuple[str, ...]
    run: Callable[..., Any]
    label: str = ""


class Shown(NamedTuple):
    """The output of a step for pages and files: a JSON value and the ids of the elements that it refers to."""

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
        All possible values of each value type.
    prepare : callable
        `prepare(scene, scope)` returns the context in which functions run. One context serves many programs.
    show : callable
        `show(type, output)` returns the `Shown` for a raw output.
    answer_kinds : mapping of str to str
        For each type that an answer may have, the kind of that answer.
    kind_of : callable
        `kind_of(program)` returns the question type of a program. By default it is the program's last function.
    """

    functions: Mapping[str, Function]
    values: Mapping[str, tuple[str, ...]]
    prepare: Callable[[Any, int | None], Any]
    show: Callable[[str, Any], Shown]
    answer_kinds: Mapping[str, str] = field(default_factory=dict)
    kind_of: Callable[[Program], str] = last_function


class TraceStep(NamedTuple):
    """The output of one step: its type, its value, and the elements (object ids, story lines) that it refers to."""

    type: str
    value: Any
    elements: tuple[int, ...]


Trace = tuple[TraceStep, ...]


def typecheck(program: Program, *, table: FunctionTable) -> str:
    """Return the type of the program's last step.

    Raises
    ------
    BadProgram
        If a step has an unknown function or value, an input that is not an earlier step, or inputs whose number or
        types do not match its function. The message names the step.
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
    """Return the type of a step's output, given the types of all earlier steps; raise `BadProgram`."""
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
    """Return the raw output of every step, in a context made by `table.prepare`.

    Raises
    ------
    IllPosed
        If a function has no answer, for example `unique` on zero or several objects.
    """
    results: list[Any] = []
    for step in program:
        run = table.functions[step.function].run
        results.append(run(context, *[results[source] for source in step.inputs], *step.values))
    return results


def execute(program: Program, scene: Any, *, table: FunctionTable, scope: int | None = None) -> Trace:
    """Return the output of every step of a well-typed program on a scene.

    Parameters
    ----------
    program : Program
        Checked by `typecheck`.
    scene : object
        A scene of the table's world.
    table : FunctionTable
    scope : int or None
        How many elements the program may use (the first lines of a story); None for all.

    Returns
    -------
    Trace
        One `TraceStep` for each step.

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
    """Return only the steps that the last step depends on, renumbered."""
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
    """Return the program without one step. An earlier step `instead`, of the same type, replaces its output."""
    return reachable(
        [
            Step(function, tuple([instead if source == number else source for source in inputs]), values)
            for function, inputs, values in program
        ]
    )


def to_json(program: Program) -> list[dict[str, Any]]:
    """Return the program in the form that CLEVR publishes: a list of `function, inputs, value_inputs`."""
    return [
        {"function": step.function, "inputs": list(step.inputs), "value_inputs": list(step.values)} for step in program
    ]


def from_json(data: Sequence[Mapping[str, Any]]) -> Program:
    """Return the program that published JSON describes. The key `type` of CLEVR's generator is read like `function`.

    Raises
    ------
    BadProgram
        If a step lacks its function or its lists of inputs.
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
    """Return the canonical JSON of a program. The text of each step is cached."""
    return f"[{','.join([_text_of(step) for step in program])}]"


def from_text(text: str) -> Program:
    """Return the program that a JSON text describes. Canonical JSON is read several times as fast as other JSON.

    The canonical text is cut into steps, and each step's text is parsed once and cached. If a value contains the
    characters between two steps, a cut text is not valid JSON, and then the whole text is parsed instead.

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
