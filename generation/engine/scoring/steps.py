"""Steps of programs in replies: the prompt that asks for them, and an exact score against the trace.

A model sees the picture or the story, the question, and the steps of the question's program. It writes one JSON array
with an object for each step, in order: `[{"step": "scene", "result": 5}, ...]`. Each kind of step has a form of result
that a reader of the picture or the story can give: how many objects are in a set, the words that describe an object,
the numbers of lines, or the value itself.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from generation.engine.errors import BadProgram
from generation.engine.items import Element, Item, Media
from generation.engine.program import FunctionTable, Step, TraceStep, execute, typecheck
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_world

EMPTY = "nothing"  # the empty set, as an answer


class StepKind(StrEnum):
    """The form of a step's result."""

    OBJECTS = "objects"
    OBJECT = "object"
    LINES = "lines"
    NUMBER = "number"
    YES_NO = "yes-no"
    WORD = "word"
    SET = "set"
    SEQUENCE = "sequence"


FORMS: Mapping[StepKind, str] = {
    StepKind.OBJECTS: "how many objects",
    StepKind.OBJECT: "the words that describe it, as one text",
    StepKind.LINES: "the list of their line numbers",
    StepKind.NUMBER: "a number",
    StepKind.YES_NO: "yes or no",
    StepKind.WORD: "a word",
    StepKind.SET: f"a list of words, or {EMPTY}",
    StepKind.SEQUENCE: "a list of words in order",
}
ANSWER_FORMS: Mapping[str, StepKind] = {
    "yes-no": StepKind.YES_NO,
    "integer": StepKind.NUMBER,
    "set": StepKind.SET,
    "sequence": StepKind.SEQUENCE,
}


class ExpectedStep(NamedTuple):
    """A step of a question's program and its right result.

    Attributes
    ----------
    function : str
        The name of the function.
    inputs : tuple of int
        The 0-based positions of the steps whose results are its inputs.
    values : tuple of str
        The fixed values of the function, for example a colour.
    label : str
        The step in words, as pages show it; empty if the world has none.
    kind : StepKind
    result : int, str or list of int
        A count, a number, or the numbers of lines in ascending order; otherwise a text. Spaces separate the words of
        an object, and commas the parts of a set or a sequence.
    attributes : tuple of str
        The names of the attributes whose words describe an object, in the order of `result`; empty for other kinds.
    """

    function: str
    inputs: tuple[int, ...]
    values: tuple[str, ...]
    label: str
    kind: StepKind
    result: int | str | list[int]
    attributes: tuple[str, ...] = ()


def expected_steps(item: Item, number: int = 0, *, spec: BaseSpec) -> tuple[ExpectedStep, ...]:
    """Return the steps of a question's program with their right results.

    Parameters
    ----------
    item : Item
    number : int
        The 0-based position of the question among the item's questions.
    spec : BaseSpec
        The spec of the item's split, as `BaseSpec.for_split` returns it.

    Returns
    -------
    tuple of ExpectedStep
        One for each step of the program, in its order.

    Raises
    ------
    BadProgram
        If the question has no program, the item has no scene, or the world has no functions.
    IllPosed
        If the program has no answer on the scene.
    """
    world, question = get_world(spec.world), item.questions[number]
    table = world.functions(spec)
    if question.program is None or item.scene is None or table is None:
        missing = "no scene" if question.program is not None else "none"
        raise BadProgram(
            f"Expected a question with a program and a scene, got {missing}. Ask without steps.",
            where=f"question {question.text[:80]!r}",
        )
    typecheck(question.program, table=table)
    trace = execute(question.program, item.scene, table=table, scope=question.scope)
    elements = {element.id: element for element in world.elements(spec, item)}
    return tuple(
        _expected(step, found, table=table, elements=elements, media=world.media)
        for step, found in zip(question.program, trace, strict=True)
    )


def _expected(
    step: Step, found: TraceStep, *, table: FunctionTable, elements: Mapping[int, Element], media: Media
) -> ExpectedStep:
    """Return the expected result of one step of a trace."""
    kind, attributes = _kind(found, table, media), tuple[str, ...]()
    result: int | str | list[int]
    if kind is StepKind.OBJECT:
        element = elements[found.value]
        result, attributes = " ".join(element.attributes.values()) or element.label, tuple(element.attributes)
    elif kind is StepKind.OBJECTS:
        result = len(found.value)
    elif kind is StepKind.LINES:
        result = sorted(set(found.value))
    else:
        result = int(found.value) if kind is StepKind.NUMBER else str(found.value)
    label = table.functions[step.function].label
    return ExpectedStep(step.function, step.inputs, step.values, label, kind, result, attributes)


def _kind(found: TraceStep, table: FunctionTable, media: Media) -> StepKind:
    """Return the form of a step's result, which depends on its type alone."""
    if isinstance(found.value, list | tuple):
        return StepKind.LINES if media is Media.STORY else StepKind.OBJECTS
    if isinstance(found.value, int) and found.elements == (found.value,) and found.type not in table.answer_kinds:
        return StepKind.OBJECT
    return ANSWER_FORMS.get(table.answer_kinds.get(found.type, ""), StepKind.WORD)


def steps_prompt(expected: Sequence[ExpectedStep]) -> str:
    """Return the text that asks for the results of the steps, without any result; it follows a question's prompt.

    Parameters
    ----------
    expected : sequence of ExpectedStep
        The steps of the question's program, in order.

    Returns
    -------
    str
        A line for each step with its function, inputs, values and the form of its result, and how to reply.
    """
    lines = ["The answer is computed in these steps:"]
    for number, step in enumerate(expected, 1):
        arguments = ", ".join([*(f"step {source + 1}" for source in step.inputs), *step.values])
        label = f", {step.label}" if step.label else ""
        form = FORMS[step.kind]
        if step.attributes:
            form = f"its {', '.join(step.attributes)}, as one text"
        lines.append(f"{number}. {step.function}({arguments}){label}: {form}")
    names = ", ".join(f'{{"step": "{step.function}", "result": ...}}' for step in expected[:2])
    more = ", ..." if len(expected) > 2 else ""
    lines += [
        f"Write exactly one JSON array with the result of each step, in this order: [{names}{more}]",
        'Then write "Answer:" and the answer on a new line.',
    ]
    return "\n".join(lines)
