"""A story: lines that people read, and their events.

An event is a kind, followed by its participants, for example `("give", "Bill", "milk", "Mary")`. Events are the same in
every language of a dataset; only texts differ.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.errors import BadScene

Event = tuple[str, ...]
"""A kind from `ROLES`, then the word of each role."""

ROLES: Mapping[str, tuple[str, ...]] = {
    "go": ("person", "place"),
    "get": ("person", "thing"),
    "drop": ("person", "thing"),
    "give": ("person", "thing", "receiver"),
    "in": ("person", "place"),
    "not-in": ("person", "place"),
    "either": ("person", "place", "place"),
    "go-at": ("person", "place", "time"),
    "lies": ("place", "direction", "place"),
    "stands": ("shape", "direction", "shape"),
    "fits": ("thing", "thing"),
    "bigger": ("thing", "thing"),
    "is-a": ("name", "species"),
    "afraid": ("species", "species"),
    "coloured": ("name", "colour"),
    "feels": ("person", "state"),
}
STAYS = ("go", "in")  # kinds of events that state where a person is


class Line(NamedTuple):
    """A line of a story.

    Attributes
    ----------
    text : str
    events : tuple of Event
        The line's events, in order; several if people do something together.
    antecedent : int or None
        The line, counted from 0, that names whom this line's pronoun means.
    """

    text: str
    events: tuple[Event, ...]
    antecedent: int | None = None


class Story(NamedTuple):
    """A scene of this world.

    Attributes
    ----------
    task : int
        1 to 20.
    lines : tuple of Line
        Only statements, counted from 0; questions see a prefix of them.
    supports : tuple of tuple of int, or None
        For each question of the item, the lines that were published as its supporting facts; None if programs give
        them.
    """

    task: int
    lines: tuple[Line, ...]
    supports: tuple[tuple[int, ...], ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the story as JSON, without empty parts."""
        data: dict[str, Any] = {"task": self.task, "lines": [_line_json(line) for line in self.lines]}
        if self.supports is not None:
            data["supports"] = [list(lines) for lines in self.supports]
        return data

    @property
    def text(self) -> str:
        """All lines as one text, which is hashed."""
        return "\n".join(line.text for line in self.lines)


def _line_json(line: Line) -> dict[str, Any]:
    data: dict[str, Any] = {"text": line.text}
    if line.events:
        data["events"] = [list(event) for event in line.events]
    if line.antecedent is not None:
        data["antecedent"] = line.antecedent
    return data


def read_story(data: Mapping[str, Any]) -> Story:
    """Return the story that JSON describes; raise `BadScene` naming the field."""
    try:
        task, lines, supports = data["task"], data["lines"], data.get("supports")
    except (KeyError, TypeError, AttributeError) as error:
        raise BadScene("Expected an object with task and lines.", where="scene") from error
    if not isinstance(task, int) or not 1 <= task <= 20:
        raise BadScene(f"Expected a task of 1 to 20, got {task!r}.", where="task")
    if not isinstance(lines, Sequence) or isinstance(lines, str):
        raise BadScene(f"Expected a list of lines, got {type(lines).__name__}.", where="lines")
    read = tuple(_read_line(line, number) for number, line in enumerate(lines))
    return Story(task, read, _read_supports(supports, len(read)))


def _read_line(data: Any, number: int) -> Line:
    where = f"lines.{number}"
    if not isinstance(data, Mapping) or not isinstance(data.get("text"), str):
        raise BadScene("Expected an object with a text.", where=where)
    antecedent = data.get("antecedent")
    if antecedent is not None and not (isinstance(antecedent, int) and 0 <= antecedent < number):
        raise BadScene(f"Expected an earlier line, got {antecedent!r}.", where=f"{where}.antecedent")
    events = data.get("events", [])
    if not isinstance(events, Sequence) or isinstance(events, str):
        raise BadScene("Expected a list of events.", where=f"{where}.events")
    return Line(data["text"], tuple(_read_event(event, where=f"{where}.events") for event in events), antecedent)


def _read_event(data: Any, *, where: str) -> Event:
    if not isinstance(data, Sequence) or isinstance(data, str) or not all(isinstance(part, str) for part in data):
        raise BadScene(f"Expected a list of words, got {data!r}.", where=where)
    if not data or data[0] not in ROLES or len(data) != len(ROLES[data[0]]) + 1:
        known = ", ".join(" ".join((kind, *roles)) for kind, roles in ROLES.items())
        raise BadScene(f"Expected one of {known}; got {' '.join(data)!r}.", where=where)
    return tuple(data)


def _read_supports(data: Any, count: int) -> tuple[tuple[int, ...], ...] | None:
    if data is None:
        return None
    try:
        found = tuple(tuple(int(line) for line in lines) for lines in data)
    except (TypeError, ValueError) as error:
        raise BadScene("Expected lists of lines.", where="supports") from error
    if any(not 0 <= line < count for lines in found for line in lines):
        raise BadScene(f"Expected lines of 0 to {count - 1}.", where="supports")
    return found
