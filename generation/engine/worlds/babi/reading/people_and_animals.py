"""Conclusions about where people are and were, what animals are like, and why people do things."""

from generation.engine.worlds.babi.reading.possession import Conclusion, Told
from generation.engine.worlds.babi.reading.sentences import LEADS_TO

KNOWLEDGE = ("go", "in", "not-in", "either")
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")


def where_is(told: Told, person: str) -> Conclusion | None:
    """Return where a person is, from the last line about them; None if it does not name one place."""
    found = [(line, event) for line, event in told if event[0] in KNOWLEDGE and event[1] == person]
    if not found or found[-1][1][0] not in ("go", "in"):
        return None
    return Conclusion(found[-1][1][2], (found[-1][0],))


def is_in(told: Told, person: str, place: str) -> Conclusion | None:
    """Return "yes", "no" or "maybe" for a person in a place, from the last line about them; None if unknown."""
    found = [(line, event) for line, event in told if event[0] in KNOWLEDGE and event[1] == person]
    if not found:
        return None
    line, (kind, _, *places) = found[-1]
    if kind == "not-in":
        return Conclusion("no", (line,)) if place in places else None
    if place not in places:
        return Conclusion("no", (line,))
    return Conclusion("maybe" if kind == "either" else "yes", (line,))


def where_was(told: Told, person: str, place: str) -> Conclusion | None:
    """Return where a person was before they were last in a place, in the order of times of day."""
    visits = sorted(
        (TIMES.index(event[3]), line, event[2]) for line, event in told if event[0] == "go-at" and event[1] == person
    )
    at = [number for number, (_, _, where) in enumerate(visits) if where == place]
    if not at or at[-1] == 0:
        return None
    (_, earlier, where), (_, later, _) = visits[at[-1] - 1], visits[at[-1]]
    return Conclusion(where, (later, earlier))


def afraid_of(told: Told, name: str) -> Conclusion | None:
    """Return what an animal is afraid of, as all animals of its species are."""
    kinds = [(line, event[2]) for line, event in told if event[:2] == ("is-a", name)]
    fears = [(line, event[2]) for line, event in told if kinds and event[:2] == ("afraid", kinds[-1][1])]
    return Conclusion(fears[-1][1], (kinds[-1][0], fears[-1][0])) if fears else None


def colour(told: Told, name: str) -> Conclusion | None:
    """Return an animal's colour, which is that of the last animal of the same species with a known colour."""
    kinds = {event[1]: (line, event[2]) for line, event in told if event[0] == "is-a"}
    colours = {event[1]: (line, event[2]) for line, event in told if event[0] == "coloured"}
    if name not in kinds:
        return None
    own, kind = kinds[name]
    alike = sorted((line, other) for other, (line, its) in kinds.items() if its == kind and other != name)
    coloured = [(line, other) for line, other in alike if other in colours]
    if not coloured:
        return None
    line, other = coloured[-1]
    return Conclusion(colours[other][1], (own, line, colours[other][0]))


def colours_of_kind(told: Told, name: str) -> set[str]:
    """Return the known colours of the other animals of the same species."""
    kinds = {event[1]: event[2] for _, event in told if event[0] == "is-a"}
    others = {other for other, kind in kinds.items() if kind == kinds.get(name) and other != name}
    return {event[2] for _, event in told if event[0] == "coloured" and event[1] in others}


def will_go(told: Told, person: str) -> Conclusion | None:
    """Return where a person will go, from their state."""
    found = [(line, event[2]) for line, event in told if event[:2] == ("feels", person)]
    return Conclusion(LEADS_TO[found[-1][1]], (found[-1][0],)) if found else None


def why(told: Told, person: str, aim: str) -> Conclusion | None:
    """Return the state of a person before they last went to a place or got a thing."""
    deeds = [line for line, event in told if event[0] in ("go", "get") and event[1:] == (person, aim)]
    found = [(line, event[2]) for line, event in told if event[:2] == ("feels", person) and deeds and line < deeds[-1]]
    return Conclusion(found[-1][1], (found[-1][0],)) if found else None
