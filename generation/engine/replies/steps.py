"""The score of the steps of a program that a reply gives as one JSON array, see /docs/asking/#steps."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from generation.engine.replies.thoughts import without_thoughts
from generation.engine.replies.vocabulary import SPELLINGS, plain

LONGEST_STEPS = 1_000_000  # characters of a reply in which steps are searched
BRACKET = re.compile(r'[\[\]]|"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
PART = re.compile(r"[^\s,]+")
COMMA = re.compile(r"\s*,\s*")
ALIKE = dict(SPELLINGS)


class ProgramStep(Protocol):
    """A step of a program: its function, the form of its result, and the right result."""

    @property
    def function(self) -> str:
        """Return the name of the function."""

    @property
    def kind(self) -> str:
        """Return the form of the result, one of `StepKind`."""

    @property
    def result(self) -> Any:
        """Return the right result."""


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


class Improper(ValueError):
    """A JSON array has a key twice, or a constant that JSON does not have."""


def score_steps(reply: str, expected: Sequence[ProgramStep]) -> StepScore:
    """Return the score of the steps that a reply gives.

    A step is right if the object at its position has exactly the keys `step` and `result`, with the name of the
    function and the right result. Upper and lower case, extra spaces, the order of an object's words and the spellings
    that answers have (`true` for yes, `three` for 3) do not matter. Blocks in `<think>` are ignored.

    Parameters
    ----------
    reply : str
        The whole reply of a model.
    expected : sequence of ProgramStep
        At least one.

    Returns
    -------
    StepScore
        No step is right if the reply has no JSON array, or several, or one with a key twice or with `NaN`.
    """
    given, problem = _array_in(reply)
    right = tuple([at < len(given) and _is_right_step(given[at], step) for at, step in enumerate(expected)])
    if not problem and len(given) != len(expected):
        problem = f"Expected {len(expected)} steps, got {len(given)}."
    wrong = [at for at, is_right in enumerate(right) if not is_right]
    first = wrong[0] if wrong else len(expected) if len(given) > len(expected) else None
    return StepScore(right, sum(right) / max(len(expected), len(given)), first, problem)


def _is_right_step(given: Any, expected: ProgramStep) -> bool:
    """Return whether an object of the array has the name and the result of a step."""
    if not isinstance(given, dict) or set(given) != {"step", "result"} or given["step"] != expected.function:
        return False
    found, kind, result = given["result"], expected.kind, expected.result
    if kind == "lines":
        return _line_numbers(found) == result
    if kind == "object":
        words = sorted(PART.findall(str(result).casefold()))
        return isinstance(found, str) and sorted(PART.findall(found.casefold())) == words
    if kind in ("set", "sequence"):
        parts, wanted = _parts_of(found), _parts_of(result)
        if parts is None or wanted is None:
            return False
        return sorted(parts) == sorted(wanted) if kind == "set" else parts == wanted
    said = _plain_value(found)
    return said is not None and said == _plain_value(result)


def _array_in(reply: str) -> tuple[list[Any], str]:
    """Return the only JSON array of a reply; an empty list and the problem if there is not exactly one."""
    if len(reply) > LONGEST_STEPS:
        return [], f"Expected at most {LONGEST_STEPS:,} characters, got {len(reply):,}."
    try:
        text = without_thoughts(reply)
        found = [array(text[start:stop]) for start, stop in in_brackets(text)]
    except Improper as error:
        return [], str(error)
    arrays = [value for value in found if value is not None]
    return (arrays[0], "") if len(arrays) == 1 else ([], f"Expected one JSON array, got {len(arrays) or 'none'}.")


def in_brackets(text: str) -> Iterator[tuple[int, int]]:
    """Yield where an outer bracket begins and where the one ends that closes it; those in strings do not count."""
    at = text.find("[")
    while at >= 0:
        depth, stop = 0, -1
        for token in BRACKET.finditer(text, at):
            depth += {"[": 1, "]": -1}.get(token[0], 0)
            if not depth:
                stop = token.end()
                break
        if stop < 0:
            return
        yield at, stop
        at = text.find("[", stop)


def array(text: str) -> list[Any] | None:
    """Return a JSON array, or None for other texts; raise `Improper`."""
    try:
        found = json.loads(
            text, object_pairs_hook=_each_key_once, parse_constant=_refuse_constant, parse_int=_short_number
        )
    except Improper:
        raise
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Improper("Expected each key once in an object, got one twice.")
    return found


def _refuse_constant(name: str) -> None:
    raise Improper(f"Expected JSON, got {name}, which JSON does not have.")


def _short_number(digits: str) -> int | None:
    return int(digits) if len(digits) < 20 else None


def _plain_value(value: Any) -> str | None:
    """Return a single value as a text in which equal values are equal; None for lists and objects."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) < 1e15 else None
    if value is None or isinstance(value, (list, dict)):
        return None
    said = plain(str(value))
    return ALIKE.get(said, said)


def _line_numbers(value: Any) -> list[int] | None:
    numbers = value if isinstance(value, list) else [value]
    return None if any(type(one) is not int for one in numbers) else sorted(numbers)


def _parts_of(value: Any) -> list[str] | None:
    """Return the parts of a set or a sequence, which may be a list or a text with commas; None for other values."""
    if isinstance(value, str):
        said = value.strip()
        value = [] if not said or said.casefold() == "nothing" else COMMA.split(said)
    if not isinstance(value, list):
        return None
    parts = [_plain_value(part) for part in value]
    return None if None in parts else [part for part in parts if part is not None]


def without_arrays(text: str) -> str:
    """Return a text without its JSON arrays, because no answer may be taken from the results of steps."""
    if len(text) > LONGEST_STEPS:
        return text.rpartition("]")[2]
    kept, at = [], 0
    for start, stop in in_brackets(text):
        try:
            is_array = array(text[start:stop]) is not None
        except Improper:
            is_array = True
        if is_array:
            kept.append(text[at:start])
            at = stop
    return " ".join([*kept, text[at:]])
