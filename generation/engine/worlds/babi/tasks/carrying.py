"""Stories of people who move, get things, drop them and give them to each other, with questions in between."""

from functools import cache
from typing import NamedTuple, Protocol

from generation.engine.program import Program
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import entities, wording
from generation.engine.worlds.babi.simulation import Simulation, all_ways
from generation.engine.worlds.babi.story import Event, Line
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, ToldStory

BETWEEN = 2  # lines before each try for a question
LATE = 1 / 200  # approximate share of stories as released whose questions begin late, as in the longest ones
RECENT, FEWER = 5, 3  # last lines that questions as released are about; the second for some
USUAL = 24  # number of people times number of places in the released data


class Odds(NamedTuple):
    """The relative frequencies of the actions that a person can do."""

    go: int = 1
    get: int = 1
    drop: int = 1
    give: int = 0


class CarryingTale:
    """A story that is being made: lines about random actions of people.

    Parameters
    ----------
    parameters : StoryParameters
    chance : Stream
    people : str
        A group of people in `entities`.
    odds : Odds
        The relative frequencies of the kinds of actions.
    few : float
        The share of questions as released that are about fewer of the last lines.

    Attributes
    ----------
    world : Simulation
    lines : list of Line
    giving : bool
        Whether things may be given away at the moment.
    still, kept : str or None
        A person who does nothing for a while, and a thing that nobody touches.
    """

    __slots__ = ("chance", "few", "giving", "kept", "lines", "odds", "people", "places", "still", "things", "world")

    def __init__(
        self, parameters: StoryParameters, chance: Stream, *, people: str, odds: Odds, few: float = 0.0
    ) -> None:
        self.chance, self.odds, self.giving, self.few = chance, odds, odds.give > 0, few
        self.people = entities.people(people, parameters.people)
        self.places = entities.places("house", parameters.places)
        self.things = entities.things(parameters.things)
        at = {one: chance.choice(self.places) for one in (*self.people, *self.things)}
        self.world = Simulation(all_ways(self.places), at, people=self.people)
        self.lines: list[Line] = []
        self.still: str | None = None
        self.kept: str | None = None

    def go_on(self) -> Event:
        """Do a random action, add its line to the story, and return its event."""
        people, random = self.people, self.chance.random
        person = people[int(random() * len(people))]
        while person == self.still:
            person = people[int(random() * len(people))]
        event = self._deed(person)
        lines = event_lines(event)
        self.lines.append(lines[int(random() * len(lines))])
        return event

    def window(self) -> int:
        """Return how many of the last lines a question as released is about."""
        return FEWER if self.chance.random() < self.few else RECENT

    def recent(self) -> list[Event]:
        """Return the events of the last `window()` lines."""
        return [line.events[0] for line in self.lines[-self.window() :]]

    def age(self, line: int) -> int:
        """Return the number of lines since a line."""
        return len(self.lines) - 1 - line

    def _deed(self, person: str) -> Event:
        world, random = self.world, self.chance.random
        here = world.at[person]
        near, has = world.contents[here], world.contents[person]
        if self.kept is not None:
            near, has = [one for one in near if one != self.kept], [one for one in has if one != self.kept]
        company = self._company(person) if self.giving and has else ()
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
        """Return a random kind of action among the possible ones."""
        odds = self.odds
        kinds = ("go",) * odds.go + ("get",) * (odds.get * near) + ("drop",) * (odds.drop * has)
        kinds += ("give",) * (odds.give * company)
        return kinds[int(self.chance.random() * len(kinds))]

    def _company(self, person: str) -> tuple[str, ...]:
        at = self.world.at
        here = at[person]
        return tuple([one for one in self.people if at[one] == here and one != person])


@cache
def event_lines(event: Event) -> tuple[Line, ...]:
    """Return the lines that can tell an event, equally likely."""
    return tuple(Line(text, (event,)) for text in wording.handling(event))


class CarryingQuery(NamedTuple):
    """A question that can be asked now, and what must not change before it is asked.

    Attributes
    ----------
    text : str
    program : Program
    since : int
        The last of its supporting lines.
    still, kept : str or None
        As in `CarryingTale`.
    """

    text: str
    program: Program
    since: int
    still: str | None = None
    kept: str | None = None


class Watch(Protocol):
    """A task's memory of a story that is being made."""

    def saw(self, event: Event) -> None:
        """Record the last event of the story."""

    def query(self, chance: Stream) -> CarryingQuery | None:
        """Return a question that can be asked now, or None if this try found none."""


class Carrying:
    """A task with stories about people who carry things."""

    name: str
    lengths: tuple[int, ...] = (5,)
    people = "mary"
    odds, released_odds = Odds(), Odds()  # by default, and in data as released
    longest: int  # lines of a story by default
    released: tuple[int, int]  # smallest and largest number of lines of a story as released
    few = 0.0  # share of questions as released that are about fewer of the last lines
    rest = 8  # approximate number of lines from the first to the last question as released

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        odds = self.released_odds if parameters.faithful else self.odds
        tale = CarryingTale(parameters, chance, people=self.people, odds=odds, few=self.few)
        watch = self.watch(tale, parameters)
        as_released = parameters.faithful and questions == max(self.lengths)
        least, longest = self.released if as_released else (0, self.longest)
        begin = longest - self.rest if as_released and chance.random() < LATE else 0
        most = longest * max(1, parameters.people * parameters.places // USUAL) + parameters.distance * questions
        asks: list[Ask] = []
        while len(asks) < questions:
            if len(tale.lines) + BETWEEN > most:
                return None
            for _ in range(BETWEEN):
                watch.saw(tale.go_on())
            query = watch.query(chance) if len(tale.lines) >= begin else None
            if query is not None:
                self._wait(tale, watch, query, until=query.since + 1 + parameters.distance)
                asks.append(Ask(len(tale.lines), query.text, query.program))
        return ToldStory(tuple(tale.lines), tuple(asks)) if len(tale.lines) >= least else None

    def _wait(self, tale: CarryingTale, watch: Watch, query: CarryingQuery, *, until: int) -> None:
        """Add lines that do not change a question's answer until the story has `until` lines."""
        tale.still, tale.kept, tale.giving = query.still, query.kept, False
        while len(tale.lines) < until:
            watch.saw(tale.go_on())
        tale.still, tale.kept, tale.giving = None, None, tale.odds.give > 0

    def watch(self, tale: CarryingTale, parameters: StoryParameters) -> Watch:
        """Return the task's memory of a new story."""
        raise NotImplementedError
