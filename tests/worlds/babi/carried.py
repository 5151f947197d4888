"""Slow twins of tasks 2, 3 and 5 to 8: they find answers and supporting facts from the events of each line."""

import pytest

from generation.engine.worlds.babi.story import Event
from tests.worlds.babi.told import Asked


def events(question: Asked) -> list[Event]:
    """Return the event of each line. In these tasks every line has exactly one."""
    return [line.events[0] for line in question.lines]


class Reader:
    """Reads events line by line, and remembers where people and things are and which lines say so."""

    def __init__(self, told: list[Event]) -> None:
        self.places: dict[str, list[tuple[int, str]]] = {}  # for each person: all moves
        self.handled: dict[str, list[tuple[int, Event]]] = {}  # for each thing: all events with it
        self.visits: dict[str, list[tuple[int, str | None]]] = {}  # for each thing: the places to which it came
        self.has: dict[str, list[str]] = {}
        for line, event in enumerate(told):
            self.read(line, event)

    def read(self, line: int, event: Event) -> None:
        kind, person, what, *receiver = event
        if kind == "go":
            self.places.setdefault(person, []).append((line, what))
            for thing in self.has.get(person, []):
                self.visits[thing].append((line, what))
            return
        self.handled.setdefault(what, []).append((line, event))
        if kind == "get":
            assert not any(what in things for things in self.has.values()), "somebody has it"
            self.arrive(line, what, person)
        else:
            self.has[person].remove(what)  # raises an error if the person does not have the thing
        if kind != "drop":
            self.has.setdefault(receiver[0] if receiver else person, []).append(what)

    def arrive(self, line: int, thing: str, person: str) -> None:
        """Note that a thing is at the place of a person."""
        visits = self.visits.setdefault(thing, [(line, None)])
        here = self.where(person)
        if visits[-1][1] != here and here is not None:
            assert visits[-1][1] is None, "it lies elsewhere"
            visits[-1] = (line, here)

    def where(self, person: str, *, before: int | None = None) -> str | None:
        moves = [place for line, place in self.places.get(person, []) if before is None or line < before]
        return moves[-1] if moves else None

    def line(self, person: str, *, before: int | None = None) -> int:
        return [line for line, _ in self.places[person] if before is None or line < before][-1]


def holder(event: Event) -> str:
    return event[-1] if event[0] == "give" else event[1]


def words(question: Asked) -> list[str]:
    return question.text.rstrip("?").replace(" last ", " ").split()


def twin_2(question: Asked) -> tuple[str, list[int]]:
    reader = Reader(events(question))
    line, event = reader.handled[words(question)[3]][-1]
    if event[0] == "drop":
        move = reader.line(event[1], before=line)
        return str(reader.where(event[1], before=line)), [line, move]
    return str(reader.where(event[1])), [line, reader.line(event[1])]


def twin_3(question: Asked) -> tuple[str, list[int]]:
    said = words(question)
    thing, place = said[3], said[-1]
    lines = events(question)
    last = max(line for line, event in enumerate(lines) if event[0] in ("get", "drop") and event[2] == thing)
    person = lines[last][1]
    got = max(line for line, event in enumerate(lines) if event == ("get", person, thing))
    end = last if lines[last][0] == "drop" else len(lines)
    moves = [line for line in range(got, end) if lines[line][:2] == ("go", person)]
    later = max(line for line in moves if lines[line][2] == place)
    earlier = max(line for line in moves if line < later)
    return lines[earlier][2], [last, later, earlier]


def gifts_that_fit(question: Asked) -> tuple[list[int], int]:
    """Return the lines of the gifts that the question is about, and the part of their events for which it asks."""
    match words(question):
        case "What", "did", giver, "give", "to", receiver:
            known, wanted = {1: giver, 3: receiver}, 2
        case "Who", "gave", "the", thing, "to", "somebody":
            known, wanted = {2: thing}, 1
        case "Who", "gave", "the", thing, "to", receiver:
            known, wanted = {2: thing, 3: receiver}, 1
        case "Who", "received", "the", thing:
            known, wanted = {2: thing}, 3
        case "To", "whom", "did", giver, "give", "the", thing:
            known, wanted = {1: giver, 2: thing}, 3
        case _:
            pytest.fail(question.text)
    lines = [
        line
        for line, event in enumerate(events(question))
        if event[0] == "give" and all(event[part] == name for part, name in known.items())
    ]
    return lines, wanted


def twin_5(question: Asked) -> tuple[str, list[int]]:
    lines, wanted = gifts_that_fit(question)
    return events(question)[lines[-1]][wanted], [lines[-1]]


def twin_6(question: Asked) -> tuple[str, list[int]]:
    _, person, _, _, place, _ = words(question)
    reader = Reader(events(question))
    return "yes" if reader.where(person) == place else "no", [reader.line(person)]


def twin_7(question: Asked) -> tuple[str, list[int]]:
    things, lines = twin_8(question)
    count = 0 if things == "nothing" else len(things.split(","))
    return ["none", "one", "two", "three", "four", "five", "six", "seven", "eight"][count], lines


def twin_8(question: Asked) -> tuple[str, list[int]]:
    person = words(question)[-2]
    lines = [line for line, event in enumerate(events(question)) if event[0] != "go" and person in event]
    return ",".join(sorted(Reader(events(question)).has.get(person, []))) or "nothing", lines


TWINS = {2: twin_2, 3: twin_3, 5: twin_5, 6: twin_6, 7: twin_7, 8: twin_8}
