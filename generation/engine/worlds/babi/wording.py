"""The wording of events: several verbs for each, equally likely."""

from generation.engine.seeding import Stream
from generation.engine.worlds.babi.story import Event

MOVES = ("went over to the", "returned to the", "journeyed to the", "moved on to the", "travelled to the")
TAKES = ("got the", "took the", "grabbed the", "picked up the")
LEAVES = ("dropped the", "discarded the", "left the", "put down the")
GIVES = ("gave", "handed", "passed")


def move(who: str, place: str, chance: Stream) -> str:
    """Return a sentence about a person who goes to a place."""
    return f"{who} {chance.choice(MOVES)} {place}."


THERE = 10  # one in this many sentences about getting or dropping ends with "there"


def handling(event: Event) -> tuple[str, ...]:
    """Return all sentences for an event of going, getting, dropping or giving, equally likely."""
    kind, who, what, *others = event
    if kind == "go":
        return tuple(f"{who} {verb} {what}." for verb in MOVES)
    if kind == "give":
        return tuple(f"{who} {verb} the {what} to {others[0]}." for verb in GIVES)
    verbs = TAKES if kind == "get" else LEAVES
    return tuple(f"{who} {verb} {what}{end}." for verb in verbs for end in ("",) * (THERE - 1) + (" there",))
