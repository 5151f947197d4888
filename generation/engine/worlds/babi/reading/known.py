"""What a reader concludes of where people are and were, of what animals are like, and of why people do things."""

from generation.engine.worlds.babi.reading.carried import Concluded, Told
from generation.engine.worlds.babi.reading.sentences import LEADS_TO

KNOWLEDGE = ("go", "in", "not-in", "either")
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")


def where_is(told: Told, person: str) -> Concluded | None:
    """Return where somebody is, as the last line about them has it."""
    found = [(line, event) for line, event in told if event[0] in KNOWLEDGE and event[1] == person]
    if not found or found[-1][1][0] not in ("go", "in"):
        return None
    return Concluded(found[-1][1][2], (found[-1][0],))


def is_in(told: Told, person: str, place: str) -> Concluded | None:
    """Return whether somebody is in a place: the last line about them says that they are, are not, or may be."""
    found = [(line, event) for line, event in told if event[0] in KNOWLEDGE and event[1] == person]
    if not found:
        return None
    line, (kind, _, *places) = found[-1]
    if kind == "not-in":
        return Concluded("no", (line,)) if place in places else None
    if place not in places:
        return Concluded("no", (line,))
    return Concluded("maybe" if kind == "either" else "yes", (line,))


def where_was(told: Told, person: str, place: str) -> Concluded | None:
    """Return where somebody was before they were last in a place, by the times of day."""
    visits = sorted(
        (TIMES.index(event[3]), line, event[2]) for line, event in told if event[0] == "go-at" and event[1] == person
    )
    at = [number for number, (_, _, where) in enumerate(visits) if where == place]
    if not at or at[-1] == 0:
        return None
    (_, earlier, where), (_, later, _) = visits[at[-1] - 1], visits[at[-1]]
    return Concluded(where, (later, earlier))


def afraid_of(told: Told, name: str) -> Concluded | None:
    """Return what an animal fears, as all of its kind do."""
    kinds = [(line, event[2]) for line, event in told if event[:2] == ("is-a", name)]
    fears = [(line, event[2]) for line, event in told if kinds and event[:2] == ("afraid", kinds[-1][1])]
    return Concluded(fears[-1][1], (kinds[-1][0], fears[-1][0])) if fears else None


def colour(told: Told, name: str) -> Concluded | None:
    """Return an animal's colour, as the last one that is said to be of its kind has it."""
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
    return Concluded(colours[other][1], (own, line, colours[other][0]))


def colours_of_kind(told: Told, name: str) -> set[str]:
    """Return the colours of the other animals of the same kind, as far as the story gives them."""
    kinds = {event[1]: event[2] for _, event in told if event[0] == "is-a"}
    others = {other for other, kind in kinds.items() if kind == kinds.get(name) and other != name}
    return {event[2] for _, event in told if event[0] == "coloured" and event[1] in others}


def will_go(told: Told, person: str) -> Concluded | None:
    """Return where somebody will go in the state that they are in."""
    found = [(line, event[2]) for line, event in told if event[:2] == ("feels", person)]
    return Concluded(LEADS_TO[found[-1][1]], (found[-1][0],)) if found else None


def why(told: Told, person: str, aim: str) -> Concluded | None:
    """Return in what state somebody was when they last went to a place, or got a thing."""
    deeds = [line for line, event in told if event[0] in ("go", "get") and event[1:] == (person, aim)]
    found = [(line, event[2]) for line, event in told if event[:2] == ("feels", person) and deeds and line < deeds[-1]]
    return Concluded(found[-1][1], (found[-1][0],)) if found else None
