"""Stories of people who go about, get things, drop them and give them to each other, and are asked about in between."""

from functools import cache
from typing import NamedTuple, Protocol

from generation.engine.program import Program
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import cast, wording
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.simulation import Simulation, all_ways
from generation.engine.worlds.babi.story import Event, Line
from generation.engine.worlds.babi.telling import Ask, Told

BETWEEN = 2  # lines told before each question that is tried
USUAL = 24  # people times places as released


class Tale:
    """A story that is being told: lines of what somebody does who may, each kind of action but giving as likely.

    Parameters
    ----------
    knobs : Knobs
    chance : Stream
    people : str
        Which group of `cast`.
    gives : int
        How many times as likely as any other action it is that somebody gives something away who can; 0 for never.

    Attributes
    ----------
    world : Simulation
    lines : list of Line
    still, kept : str or None
        Somebody who does nothing for a while, and a thing that nobody touches.
    """

    __slots__ = ("chance", "gives", "kept", "lines", "people", "places", "still", "things", "world")

    def __init__(self, knobs: Knobs, chance: Stream, *, people: str, gives: int) -> None:
        self.chance, self.gives = chance, gives
        self.people = cast.people(people, knobs.people)
        self.places = cast.places("house", knobs.places)
        self.things = cast.things(knobs.things)
        at = {one: chance.choice(self.places) for one in (*self.people, *self.things)}
        self.world = Simulation(all_ways(self.places), at, people=self.people)
        self.lines: list[Line] = []
        self.still: str | None = None
        self.kept: str | None = None

    def go_on(self) -> Event:
        """Return what somebody does next, done and told."""
        people, random = self.people, self.chance.random
        person = people[int(random() * len(people))]
        while person == self.still:
            person = people[int(random() * len(people))]
        event = self._deed(person)
        lines = said(event)
        self.lines.append(lines[int(random() * len(lines))])
        return event

    def age(self, line: int) -> int:
        """Return how many lines were told since a line."""
        return len(self.lines) - 1 - line

    def _deed(self, person: str) -> Event:
        world, random = self.world, self.chance.random
        here = world.at[person]
        near, has = world.contents[here], world.contents[person]
        if self.kept is not None:
            near, has = [one for one in near if one != self.kept], [one for one in has if one != self.kept]
        company = self._company(person) if self.gives and has else ()
        kind = self._kind(bool(near), bool(has), bool(company)) if near or has else "go"
        if kind == "go":
            ways = world.ways[here]
            place = ways[int(random() * len(ways))]
            world.go(person, place)
            return ("go", person, place)
        thing = self.chance.choice(near if kind == "get" else has)
        if kind == "give":
            receiver = self.chance.choice(company)
            world.give(person, thing, receiver)
            return ("give", person, thing, receiver)
        (world.get if kind == "get" else world.drop)(person, thing)
        return (kind, person, thing)

    def _kind(self, near: bool, has: bool, company: bool) -> str:
        """Return a kind of action that is possible."""
        kinds = ("go", *("get",) * near, *("drop",) * has, *("give",) * (self.gives * company))
        return kinds[int(self.chance.random() * len(kinds))]

    def _company(self, person: str) -> tuple[str, ...]:
        at = self.world.at
        here = at[person]
        return tuple([one for one in self.people if at[one] == here and one != person])


@cache
def said(event: Event) -> tuple[Line, ...]:
    """Return the lines that may tell an event, each as likely."""
    return tuple(Line(text, (event,)) for text in wording.handling(event))


class Query(NamedTuple):
    """A question that may be asked now, and what must stay as it is while it waits.

    Attributes
    ----------
    text : str
    program : Program
    since : int
        The last of its supporting facts.
    still, kept : str or None
        As a `Tale` has them.
    """

    text: str
    program: Program
    since: int
    still: str | None = None
    kept: str | None = None


class Watch(Protocol):
    """What a task remembers of a story while it is told."""

    def saw(self, event: Event) -> None:
        """Take in what was told last."""

    def query(self, chance: Stream) -> Query | None:
        """Return a question that can be asked now; None where what was thought of can't be."""


class Carrying:
    """A task about such stories."""

    name: str
    lengths: tuple[int, ...] = (5,)
    people = "mary"
    gives = 0
    longest: int  # lines of a story as released

    def tell(self, knobs: Knobs, chance: Stream, *, questions: int) -> Told | None:
        tale = Tale(knobs, chance, people=self.people, gives=self.gives)
        watch = self.watch(tale, knobs)
        most = self.longest * max(1, knobs.people * knobs.places // USUAL) + knobs.distance * questions
        asks: list[Ask] = []
        while len(asks) < questions:
            if len(tale.lines) + BETWEEN > most:
                return None
            for _ in range(BETWEEN):
                watch.saw(tale.go_on())
            query = watch.query(chance)
            if query is not None:
                self._wait(tale, watch, query, until=query.since + 1 + knobs.distance)
                asks.append(Ask(len(tale.lines), query.text, query.program))
        return Told(tuple(tale.lines), tuple(asks))

    def _wait(self, tale: Tale, watch: Watch, query: Query, *, until: int) -> None:
        """Tell what a question's answer does not depend on until the story has so many lines."""
        tale.still, tale.kept, tale.gives = query.still, query.kept, 0
        while len(tale.lines) < until:
            watch.saw(tale.go_on())
        tale.still, tale.kept, tale.gives = None, None, self.gives

    def watch(self, tale: Tale, knobs: Knobs) -> Watch:
        """Return what remembers a story that begins."""
        raise NotImplementedError
