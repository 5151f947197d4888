"""Where things and people are while things are carried about (tasks 2, 3 and 6)."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import entities
from generation.engine.worlds.babi.story import Event
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.tasks.carrying import RECENT, Carrying, CarryingQuery, CarryingTale, Odds, Watch

MORE_RECENT = 7  # for task 3 by default, so that stories without ambiguous questions are no longer


class _Handled:
    """The last action with a thing: its line, the person, whether they have the thing, and the move that placed it."""

    __slots__ = ("held", "line", "move", "person")

    def __init__(self, line: int, person: str, *, held: bool, move: int | None) -> None:
        self.line, self.person, self.held, self.move = line, person, held, move


class _Things:
    """The memory of task 2."""

    def __init__(self, tale: CarryingTale, *, faithful: bool) -> None:
        self.tale, self.faithful = tale, faithful
        self.moved: dict[str, int] = {}
        self.handled: dict[str, _Handled] = {}

    def saw(self, event: Event) -> None:
        kind, person, what = event
        line = len(self.tale.lines) - 1
        if kind == "go":
            self.moved[person] = line
        else:
            self.handled[what] = _Handled(line, person, held=kind == "get", move=self.moved.get(person))

    def query(self, chance: Stream) -> CarryingQuery | None:
        found: list[tuple[str, int]] = []
        for thing in self._recent():
            move = self._move(self.handled[thing])
            if move is not None:
                found.append((thing, move))
        if not found:
            return None
        thing, move = chance.choice(found)
        last = self.handled[thing]
        text, program = f"Where is the {thing} now?", where_is_thing("two-supporting-facts", thing)
        return CarryingQuery(text, program, max(last.line, move), last.person if last.held else None, thing)

    def _recent(self) -> list[str]:
        """Return the things that can be asked about; as released, once for each recent line that moves a thing."""
        if not self.faithful:
            return [thing for thing, last in self.handled.items() if self.tale.age(last.line) < RECENT]
        moved: list[str] = []
        for kind, person, what in self.tale.recent():
            moved += self.tale.world.contents[person] if kind == "go" else [what]
        return moved

    def _move(self, last: _Handled) -> int | None:
        """Return the move that says where a thing is, before it was dropped or after it was got, or None."""
        if not last.held:
            return last.move
        move = self.moved.get(last.person, -1)
        return move if move > last.line else None


class TwoFacts(Carrying):
    """Task 2: where a thing is."""

    number, name, label, longest = 2, "two-supporting-facts", "two supporting facts", 88
    released, released_odds = (12, 56), Odds(go=2, get=5, drop=3)
    few, rest = 0.15, 12

    def watch(self, tale: CarryingTale, parameters: StoryParameters) -> Watch:
        return _Things(tale, faithful=parameters.faithful)

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return entities.places("house", parameters.places)


class _Run:
    """How a person last carried a thing: the person, their moves with it (line, place), and the last line about it."""

    __slots__ = ("held", "last", "moves", "person")

    def __init__(self, person: str, line: int) -> None:
        self.person, self.last, self.held = person, line, True
        self.moves: list[tuple[int, str]] = []


class _Ways:
    """The memory of task 3: for each thing its last run, and all places where it has been."""

    def __init__(self, tale: CarryingTale, *, faithful: bool) -> None:
        self.tale, self.faithful, self.recent = tale, faithful, RECENT if faithful else MORE_RECENT
        self.runs: dict[str, _Run] = {}
        self.been = {thing: [tale.world.at[thing]] for thing in tale.things}

    def saw(self, event: Event) -> None:
        kind, person, what = event
        line = len(self.tale.lines) - 1
        if kind == "go":
            for thing in self.tale.world.contents[person]:
                self.runs[thing].moves.append((line, what))
                self.been[thing].append(what)
        elif kind == "get":
            self.runs[what] = _Run(person, line)
        else:
            run = self.runs[what]
            run.last, run.held = line, False

    def query(self, chance: Stream) -> CarryingQuery | None:
        found = [
            (thing, place)
            for thing, run in self.runs.items()
            if len(run.moves) > 1 and self.tale.age(run.last) < self.recent
            for place in self._places(thing, run.moves)
        ]
        if not found:
            return None
        thing, place = chance.choice(found)
        run = self.runs[thing]
        return CarryingQuery(
            f"Where was the {thing} before it was in the {place}?",
            where_was_thing("three-supporting-facts", thing, place),
            max(run.last, *[line for line, where in run.moves if where == place]),
            run.person if run.held else None,
            thing,
        )

    def _places(self, thing: str, moves: list[tuple[int, str]]) -> list[str]:
        """Return the places that can be asked about: the places that a move other than the first one reached.

        By default, if a thing came to a place several times, it must have come from the same place each time.
        """
        found = {place: before for (_, before), (_, place) in pairwise(moves)}
        if self.faithful:
            return list(found)
        steps = tuple(pairwise(self.been[thing]))
        return [place for place, before in found.items() if all(one == before for one, to in steps if to == place)]


class ThreeFacts(Carrying):
    """Task 3: where a thing was before it came to a place."""

    number, name, label, longest = 3, "three-supporting-facts", "three supporting facts", 228
    released, released_odds = (20, 224), Odds(go=8, get=18, drop=7)
    rest = 48

    def watch(self, tale: CarryingTale, parameters: StoryParameters) -> Watch:
        return _Ways(tale, faithful=parameters.faithful)

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return entities.places("house", parameters.places)


class _People:
    """The memory of task 6: where people went."""

    def __init__(self, tale: CarryingTale, *, faithful: bool) -> None:
        self.tale, self.faithful = tale, faithful
        self.moved: dict[str, int] = {}

    def saw(self, event: Event) -> None:
        if event[0] == "go":
            self.moved[event[1]] = len(self.tale.lines) - 1

    def query(self, chance: Stream) -> CarryingQuery | None:
        moved = [event[1] for event in self.tale.recent() if event[0] == "go"]
        people: Sequence[str] = moved if self.faithful else self.tale.people
        person = chance.choice(people) if people else ""
        if person not in self.moved:
            return None
        here = self.tale.world.at[person]
        place = here if chance.random() < 0.5 else chance.choice(self.tale.world.ways[here])
        text, program = f"Is {person} in the {place} now?", is_person_in("yes-no-questions", person, place)
        return CarryingQuery(text, program, self.moved[person], person)


class YesNo(Carrying):
    """Task 6: whether a person is in a place."""

    number, name, label, longest = 6, "yes-no-questions", "yes or no", 26
    released, released_odds = (10, 26), Odds(get=3, drop=3)

    def watch(self, tale: CarryingTale, parameters: StoryParameters) -> Watch:
        return _People(tale, faithful=parameters.faithful)

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return ("yes", "no")


@cache
def where_is_thing(task: str, thing: str) -> Program:
    """Return the program that answers where a thing is."""
    return (
        Step("story", (), (task,)),
        Step("handled", (0,), (thing,)),
        Step("last", (1,)),
        Step("brought", (0, 2)),
        Step("place", (3,)),
    )


@cache
def where_was_thing(task: str, thing: str, place: str) -> Program:
    """Return the program that answers where a thing was before it was brought to a place."""
    return (
        Step("story", (), (task,)),
        Step("handled", (0,), (thing,)),
        Step("last", (1,)),
        Step("carried", (0, 2)),
        Step("arrival", (3,), (place,)),
        Step("before", (3, 4)),
        Step("place", (5,)),
    )


@cache
def is_person_in(task: str, person: str, place: str) -> Program:
    """Return the program that answers whether a person is in a place."""
    return (
        Step("story", (), (task,)),
        Step("stays", (0,), (person,)),
        Step("last", (1,)),
        Step("is_in", (2,), (place,)),
    )


TASKS = (TwoFacts(), ThreeFacts(), YesNo())
