"""Conclusions about carried things: where they are, who has them, and who gave them to whom."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from generation.engine.worlds.babi.reading.sentences import Event

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
Told = Sequence[tuple[int, Event]]
"""Events with their lines, in order."""


class Conclusion(NamedTuple):
    """An answer, and the lines that support it."""

    answer: str
    lines: tuple[int, ...]


class Whereabouts(NamedTuple):
    """Where a thing is: the line of the last action with it, the line of the move that brought it, and the place."""

    handled: int
    moved: int
    place: str


def whereabouts(told: Told, thing: str) -> Whereabouts | None:
    """Return where a thing is in the end, or None if this is not known."""
    handled = [(line, event) for line, event in told if event[0] in ("get", "drop", "give") and event[2] == thing]
    if not handled:
        return None
    last, event = handled[-1]
    person = event[3] if event[0] == "give" else event[1]
    moves = [(line, one[2]) for line, one in told if one[0] == "go" and one[1] == person]
    if event[0] == "drop":
        moves = [(line, place) for line, place in moves if line < last]
    return Whereabouts(last, *moves[-1]) if moves else None


def where_is_thing(told: Told, thing: str) -> Conclusion | None:
    """Return where a thing is, supported by the last line about it and the move that brought it there."""
    found = whereabouts(told, thing)
    return None if found is None else Conclusion(found.place, (found.handled, found.moved))


def where_was_thing(told: Told, thing: str, place: str) -> Conclusion | None:
    """Return where a thing was before it last came to a place, supported by its last line and the two moves."""
    last = whereabouts(told, thing)
    trail = [whereabouts(told[:count], thing) for count in range(len(told) + 1)]
    for earlier, later in reversed(list(pairwise(trail))):
        if later is not None and later.place == place and (earlier is None or earlier.place != place):
            if earlier is None or last is None:
                return None
            return Conclusion(earlier.place, (last.handled, later.moved, earlier.moved))
    return None


def find_carried(told: Told, person: str) -> tuple[list[str], tuple[int, ...]] | None:
    """Return a person's things, in the order in which the person got them, and every line about them, or None.

    None means that the story has no line about the person's things.
    """
    has: list[str] = []
    lines: dict[int, None] = {}
    for line, event in told:
        if event[0] not in ("get", "drop", "give") or person not in (event[1], event[-1]):
            continue
        lines[line] = None
        if event[0] == "get" or event[-1] == person:
            has.append(event[2])
        elif event[2] in has:
            has.remove(event[2])
    return (has, tuple(lines)) if lines else None


def how_many(told: Told, person: str) -> Conclusion | None:
    """Return how many things a person has."""
    found = find_carried(told, person)
    return None if found is None else Conclusion(NUMBERS[len(found[0])], found[1])


def which(told: Told, person: str) -> Conclusion | None:
    """Return which things a person has, joined by commas."""
    found = find_carried(told, person)
    return None if found is None else Conclusion(",".join(found[0]) or "nothing", found[1])


def _gifts(told: Told, giver: str = "", thing: str = "", receiver: str = "") -> Iterator[tuple[int, Event]]:
    """Yield the gifts with these parts and their lines, the last one first; empty parts fit everything."""
    wanted = (giver, thing, receiver)
    for line, event in reversed(told):
        if event[0] == "give" and all(part in ("", own) for part, own in zip(wanted, event[1:], strict=True)):
            yield line, event


def _last_gift(told: Told, part: int, *, giver: str = "", thing: str = "", receiver: str = "") -> Conclusion | None:
    found = next(_gifts(told, giver, thing, receiver), None)
    return None if found is None else Conclusion(found[1][part], (found[0],))


def what_was_given(told: Told, giver: str, receiver: str) -> Conclusion | None:
    """Return what a person last gave to another person."""
    return _last_gift(told, 2, giver=giver, receiver=receiver)


def earlier_gifts(told: Told, giver: str, receiver: str) -> list[Conclusion]:
    """Return what a person gave to another person before the last time, the latest first."""
    return [Conclusion(event[2], (line,)) for line, event in _gifts(told, giver, receiver=receiver)][1:]


def who_gave_to(told: Told, thing: str, receiver: str) -> Conclusion | None:
    """Return who last gave a thing to a person."""
    return _last_gift(told, 1, thing=thing, receiver=receiver)


def who_gave(told: Told, thing: str) -> Conclusion | None:
    """Return who last gave a thing."""
    return _last_gift(told, 1, thing=thing)


def who_received(told: Told, thing: str) -> Conclusion | None:
    """Return who last received a thing."""
    return _last_gift(told, 3, thing=thing)


def to_whom(told: Told, giver: str, thing: str) -> Conclusion | None:
    """Return to whom a person last gave a thing."""
    return _last_gift(told, 3, giver=giver, thing=thing)
