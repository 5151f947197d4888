"""Steps of programs in replies: the prompt that asks for them, and an exact score against the trace.

A model sees the picture or the story, the question, and the steps of the question's program. It writes one JSON array
with an object for each step, in order: `[{"step": "scene", "result": 5}, ...]`. Each kind of step has a form of result
that a reader of the picture or the story can give: how many objects are in a set, the words that describe an object,
the numbers of lines, or the value itself. `static/ask.py` scores replies by the same rules.
"""

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from generation.engine.errors import BadProgram
from generation.engine.items import Element, Item, Media
from generation.engine.program import FunctionTable, Step, TraceStep, execute, typecheck
from generation.engine.replies.thoughts import without_thoughts
from generation.engine.replies.vocabulary import SPELLINGS as ANSWER_SPELLINGS
from generation.engine.replies.vocabulary import WHOLE
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_world

LONGEST = 1_000_000  # characters of a reply that is read
KEYS = {"step", "result"}
BRACKET = re.compile(r'[\[\]]|"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
WORDS = re.compile(r"[^\s,]+")
PARTS = re.compile(r"\s*,\s*")
SPELLINGS: Mapping[str, str] = dict(ANSWER_SPELLINGS)
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


class StepScore(NamedTuple):
    """The score of the steps in a reply.

    Attributes
    ----------
    right : tuple of bool
        For each expected step, whether the reply has the right result at its position.
    accuracy : float
        The number of right steps, divided by the number of expected steps or, if that is larger, of steps in the reply.
    first_wrong : int or None
        The 0-based position of the first step that is wrong, missing or too many; None if all are right.
    problem : str
        Why the reply does not have the expected form; empty if it does. If the reply has exactly one valid JSON array,
        results at the right positions count in spite of a problem.
    """

    right: tuple[bool, ...]
    accuracy: float
    first_wrong: int | None
    problem: str


class _Improper(ValueError):
    """A JSON array with a value that JSON does not have, or with a key twice."""


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


def score_steps(reply: str, expected: Sequence[ExpectedStep]) -> StepScore:
    """Return the score of the steps that a reply gives.

    A step is right if the object at its position has exactly the keys `step` and `result`, with the name of the
    function and the right result. Upper and lower case, extra spaces, the order of an object's words and the spellings
    that answers have (`true` for yes, `three` for 3) do not matter. Blocks in `<think>` are ignored.

    Parameters
    ----------
    reply : str
        The whole reply of a model.
    expected : sequence of ExpectedStep
        At least one.

    Returns
    -------
    StepScore
        No step is right if the reply has no JSON array, or several, or one with a key twice or with `NaN`.
    """
    given, problem = _array_in(reply)
    right = tuple([at < len(given) and _is_right(given[at], step) for at, step in enumerate(expected)])
    if not problem and len(given) != len(expected):
        problem = f"Expected {len(expected)} steps, got {len(given)}."
    wrong = [at for at, is_right in enumerate(right) if not is_right]
    first = wrong[0] if wrong else len(expected) if len(given) > len(expected) else None
    return StepScore(right, sum(right) / max(len(expected), len(given)), first, problem)


def _is_right(given: Any, expected: ExpectedStep) -> bool:
    if not isinstance(given, dict) or given.keys() != KEYS or given["step"] != expected.function:
        return False
    found, result = given["result"], expected.result
    if expected.kind is StepKind.LINES:
        return _lines(found) == result
    if expected.kind is StepKind.OBJECT:
        words = sorted(WORDS.findall(str(result).casefold()))
        return isinstance(found, str) and sorted(WORDS.findall(found.casefold())) == words
    if expected.kind in (StepKind.SET, StepKind.SEQUENCE):
        parts, wanted = _parts(found), _parts(result)
        is_ordered = parts is None or expected.kind is StepKind.SEQUENCE
        return parts == wanted if is_ordered else sorted(parts or ()) == sorted(wanted or ())
    said = _plain(found)
    return said is not None and said == _plain(result)


def _array_in(reply: str) -> tuple[list[Any], str]:
    """Return the only JSON array of a reply; an empty list and the problem if there is not exactly one."""
    if len(reply) > LONGEST:
        return [], f"Expected at most {LONGEST:,} characters, got {len(reply):,}."
    found: list[Any] = []
    try:
        for text in _in_brackets(without_thoughts(reply)):
            value = _loaded(text)
            if value is not None:
                found.append(value)
    except _Improper as error:
        return [], str(error)
    return (found[0], "") if len(found) == 1 else ([], f"Expected one JSON array, got {len(found) or 'none'}.")


def _in_brackets(text: str) -> list[str]:
    """Return the parts of a text from an outer opening bracket to the one that closes it.

    Brackets in strings do not count. An outer bracket that is never closed ends the search.
    """
    found, at = [], text.find("[")
    while at >= 0:
        depth, stop = 0, -1
        for token in BRACKET.finditer(text, at):
            depth += {"[": 1, "]": -1}.get(token[0], 0)
            if not depth:
                stop = token.end()
                break
        if stop < 0:
            break
        found.append(text[at:stop])
        at = text.find("[", stop)
    return found


def _loaded(text: str) -> list[Any] | None:
    """Return a JSON array, or None for other texts in brackets; raise `_Improper`."""
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_number)
    except _Improper:
        raise
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Improper("Expected each key once in an object, got one twice.")
    return found


def _constant(name: str) -> None:
    raise _Improper(f"Expected JSON, got {name}, which JSON does not have.")


def _number(digits: str) -> int | None:
    return int(digits) if len(digits) < 20 else None  # a longer number is no result of any step


def _plain(value: Any) -> str | None:
    """Return a single value as a text in which equal values are equal; None for lists and objects."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) < 1e15 else None
    if value is None or isinstance(value, list | dict):
        return None
    said = " ".join(str(value).split()).casefold()
    whole = WHOLE.fullmatch(said)
    said = whole[1] if whole else said
    return SPELLINGS.get(said, said)


def _lines(value: Any) -> list[int] | None:
    """Return line numbers in order; None if a value is not a number or a list of numbers."""
    numbers = value if isinstance(value, list) else [value]
    return None if any(type(one) is not int for one in numbers) else sorted(numbers)


def _parts(value: Any) -> list[str] | None:
    """Return the parts of a set or a sequence, which may be a list or a text with commas; None for other values."""
    if isinstance(value, str):
        said = value.strip()
        value = [] if not said or said.casefold() == EMPTY else PARTS.split(said)
    if not isinstance(value, list):
        return None
    parts = [_plain(part) for part in value]
    return None if None in parts else [part for part in parts if part is not None]
