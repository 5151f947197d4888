"""What a reader concludes of people who go about with things: where these are, who has them, who gave them to whom."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from generation.engine.worlds.babi.reading.sentences import Event

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
Told = Sequence[tuple[int, Event]]
"""Events with the lines that tell them, in their order."""


class Concluded(NamedTuple):
    """An answer, and the lines that it stands on."""

    answer: str
    lines: tuple[int, ...]


class Whereabouts(NamedTuple):
    """Where a thing is: the line of what was last done with it, that of the move that brought it there, the place."""

    handled: int
    moved: int
    place: str


def whereabouts(told: Told, thing: str) -> Whereabouts | None:
    """Return where a thing is in the end; None where that isn't told."""
    handled = [(line, event) for line, event in told if event[0] in ("get", "drop", "give") and event[2] == thing]
    if not handled:
        return None
    last, event = handled[-1]
    person = event[3] if event[0] == "give" else event[1]
    moves = [(line, one[2]) for line, one in told if one[0] == "go" and one[1] == person]
    if event[0] == "drop":
        moves = [(line, place) for line, place in moves if line < last]
    return Whereabouts(last, *moves[-1]) if moves else None


def where_is_thing(told: Told, thing: str) -> Concluded | None:
    """Return where a thing is: the last line about it, and the move that brought it there."""
    found = whereabouts(told, thing)
    return None if found is None else Concluded(found.place, (found.handled, found.moved))


def where_was_thing(told: Told, thing: str, place: str) -> Concluded | None:
    """Return where a thing was before it last came to a place: the last line about it, the move there, that before."""
    last = whereabouts(told, thing)
    trail = [whereabouts(told[:count], thing) for count in range(len(told) + 1)]
    for earlier, later in reversed(list(pairwise(trail))):
        if later is not None and later.place == place and (earlier is None or earlier.place != place):
            if earlier is None or last is None:
                return None
            return Concluded(earlier.place, (last.handled, later.moved, earlier.moved))
    return None


def carried(told: Told, person: str) -> tuple[list[str], tuple[int, ...]] | None:
    """Return what somebody has, in the order in which they came by it, and every line that says so or once did.

    None where nothing was ever told of it.
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


def how_many(told: Told, person: str) -> Concluded | None:
    """Return how many things somebody has."""
    found = carried(told, person)
    return None if found is None else Concluded(NUMBERS[len(found[0])], found[1])


def which(told: Told, person: str) -> Concluded | None:
    """Return which things somebody has, joined by commas."""
    found = carried(told, person)
    return None if found is None else Concluded(",".join(found[0]) or "nothing", found[1])


def _gifts(told: Told, giver: str = "", thing: str = "", receiver: str = "") -> Iterator[tuple[int, Event]]:
    """Yield what is known of gifts by some of their parts, the last one first."""
    wanted = (giver, thing, receiver)
    for line, event in reversed(told):
        if event[0] == "give" and all(part in ("", own) for part, own in zip(wanted, event[1:], strict=True)):
            yield line, event


def _last_gift(told: Told, part: int, *, giver: str = "", thing: str = "", receiver: str = "") -> Concluded | None:
    found = next(_gifts(told, giver, thing, receiver), None)
    return None if found is None else Concluded(found[1][part], (found[0],))


def what_was_given(told: Told, giver: str, receiver: str) -> Concluded | None:
    """Return what somebody last gave to somebody."""
    return _last_gift(told, 2, giver=giver, receiver=receiver)


def earlier_gifts(told: Told, giver: str, receiver: str) -> list[Concluded]:
    """Return what somebody gave to somebody before the last time, the latest first."""
    return [Concluded(event[2], (line,)) for line, event in _gifts(told, giver, receiver=receiver)][1:]


def who_gave_to(told: Told, thing: str, receiver: str) -> Concluded | None:
    """Return who last gave a thing to somebody."""
    return _last_gift(told, 1, thing=thing, receiver=receiver)


def who_gave(told: Told, thing: str) -> Concluded | None:
    """Return who last gave a thing."""
    return _last_gift(told, 1, thing=thing)


def who_received(told: Told, thing: str) -> Concluded | None:
    """Return who was last given a thing."""
    return _last_gift(told, 3, thing=thing)


def to_whom(told: Told, giver: str, thing: str) -> Concluded | None:
    """Return to whom somebody last gave a thing."""
    return _last_gift(told, 3, giver=giver, thing=thing)
