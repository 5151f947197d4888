"""Stories in rounds: some lines, then a question about a person, several times."""

from collections.abc import Sequence
from functools import cache

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import entities
from generation.engine.worlds.babi.story import Event, Line
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, ToldStory

BETWEEN = 2  # lines before each question


class Tale:
    """A story that is being made.

    Attributes
    ----------
    parameters : StoryParameters
    people, places : tuple of str
        The people and places of its lines.
    lines : list of Line
    known : dict of str to Event
        The last event of each person.
    last : dict of str to int
        The line of that event.
    """

    __slots__ = ("known", "last", "lines", "parameters", "people", "places")

    def __init__(self, parameters: StoryParameters, people: Sequence[str], places: Sequence[str]) -> None:
        self.parameters, self.people, self.places = parameters, people, places
        self.lines: list[Line] = []
        self.known: dict[str, Event] = {}
        self.last: dict[str, int] = {}

    def add(self, text: str, *events: Event, antecedent: int | None = None) -> None:
        """Add a line."""
        for event in events:
            self.known[event[1]] = event
            self.last[event[1]] = len(self.lines)
        self.lines.append(Line(text, events, antecedent))

    def recent(self, chance: Stream, count: float) -> list[str]:
        """Return the people of the last `count` facts; the fraction of `count` is the chance of one more fact."""
        people = [event[1] for line in self.lines for event in line.events]
        return people[-int(count + chance.random()) :]

    def elsewhere(self, chance: Stream, *people: str) -> str:
        """Return a random place where, as far as the story says, none of these people is."""
        here = [self.known[person][2] for person in people if person in self.known]
        return chance.choice([place for place in self.places if place not in here])


class Rounds:
    """A task with stories in rounds; by default it asks where a person is."""

    name: str
    lengths: tuple[int, ...] = (5,)
    folk, region = "mary", "house"  # groups in `entities`
    together = 1  # people in a line
    recent = 5.0  # number of the last facts; as released, questions are about a person of one of these

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        tale = Tale(
            parameters, entities.people(self.folk, parameters.people), entities.places(self.region, parameters.places)
        )
        if parameters.distance and parameters.people <= self.together:
            return None
        asks: list[Ask] = []
        for _ in range(questions):
            self._go_on(tale, tale.people, chance, until=len(tale.lines) + BETWEEN)
            asked = chance.choice(tale.recent(chance, self.recent) if parameters.faithful else tuple(tale.last))
            others = [person for person in tale.people if person != asked]
            self._go_on(tale, others, chance, until=tale.last[asked] + 1 + parameters.distance)
            asks.append(self.ask(tale, asked, chance))
        return ToldStory(tuple(tale.lines), tuple(asks))

    def _go_on(self, tale: Tale, people: Sequence[str], chance: Stream, *, until: int) -> None:
        while len(tale.lines) < until:
            self.go_on(tale, people, chance)

    def go_on(self, tale: Tale, people: Sequence[str], chance: Stream) -> None:
        """Add one line, or several that belong together, about some of these people."""
        raise NotImplementedError

    def ask(self, tale: Tale, asked: str, chance: Stream) -> Ask:
        """Return a question about a person."""
        return Ask(len(tale.lines), f"Where is {asked} now?", whereabouts(self.name, asked))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return entities.places(self.region, parameters.places)


@cache
def whereabouts(task: str, person: str) -> Program:
    """Return the program that answers where a person is."""
    return (Step("story", (), (task,)), Step("stays", (0,), (person,)), Step("last", (1,)), Step("place", (2,)))
