"""Where people go and what they get there, because of their state (task 20)."""

from collections import Counter
from functools import cache
from typing import NamedTuple

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import entities, wording
from generation.engine.worlds.babi.entities import MOTIVES, Motive
from generation.engine.worlds.babi.simulation import Simulation, all_ways, seeks
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, Space, ToldStory

RELEASED = 4  # motives, and people
STAYS = 0.1  # approximate share of lines as released about the person of the line before, who still has a state
FURTHEST = 10  # largest number of lines between a question as released and its fact
OUTSIDE, CONTENT = "outside", "content"  # places and states of people before and after; no line names them
ELSEWHERE = ("hallway", "balcony", "station", "museum")  # places to which no state leads


class Due(NamedTuple):
    """A question that can be asked: its person, its supporting line, its text and its program."""

    person: str
    feels: int
    text: str
    program: Program


class Telling:
    """A story that is being made line by line."""

    def __init__(self, parameters: StoryParameters, chance: Stream) -> None:
        self.chance, self.far = chance, parameters.distance > 0
        self.people = entities.people("sumit", parameters.people)
        self.motives = motives_of(parameters)
        self.stays = STAYS if parameters.faithful else 0.0
        self.free: list[Motive] | None = None if parameters.faithful else list(self.motives)
        one = None if parameters.faithful else self._world(self.people)
        self.worlds = {person: one or self._world((person,)) for person in self.people}
        self.feels: dict[str, int] = {}  # for each person with a state, the line that tells it
        self.visited: dict[str, set[str]] = {person: set() for person in self.people}
        self.lines: list[Line] = []
        self.due: list[Due] = []

    def go_on(self) -> None:
        """Add a line about a person who has a state or may get one, otherwise about a person who only walks about."""
        people = [person for person in self.people if person in self.feels or not self.visited[person]]
        people = people or [person for person in self.people if self._open(person)]
        if self.lines and (last := self.lines[-1].events[0][1]) in self.feels and self.chance.random() < self.stays:
            people = [last]
        if self.far:
            people = [person for person in people if not self._is_waited_for(person)]
        if not people:
            self._stroll(self.chance.choice([person for person in self.people if person not in self.feels]))
        elif (person := self.chance.choice(people)) in self.feels:
            self._act(person)
        else:
            self._set(person)

    def _is_waited_for(self, person: str) -> bool:
        if person in self.feels:
            return any(due.program == where(person) for due in self.due)
        return len(self.feels) == len(self.people) - 1

    def _world(self, people: tuple[str, ...]) -> Simulation:
        places = tuple(dict.fromkeys((OUTSIDE, *ELSEWHERE, *(motive.place for motive in self.motives))))
        at = {**dict.fromkeys(people, OUTSIDE), **{motive.thing: motive.place for motive in self.motives}}
        rules = [seeks(motive.state, (motive.thing,), then=CONTENT) for motive in self.motives]
        return Simulation(all_ways(places), at, people=people, rules=dict.fromkeys(people, rules))

    def _open(self, person: str) -> list[Motive]:
        motives = self.motives if self.free is None else self.free
        return [motive for motive in motives if motive.place not in self.visited[person]]

    def _stroll(self, person: str) -> None:
        world = self.worlds[person]
        place = self.chance.choice([place for place in ELSEWHERE if place != world.at[person]])
        world.go(person, place)
        self.lines.append(Line(wording.move(person, place, self.chance), (("go", person, place),)))

    def _set(self, person: str) -> None:
        motive = self.chance.choice(self._open(person))
        if self.free is not None:
            self.free.remove(motive)
        self.worlds[person].set(person, motive.state)
        self.feels[person] = len(self.lines)
        self.lines.append(Line(f"{person} is {motive.state}.", (("feels", person, motive.state),)))
        self._ask(person, f"Where will {person} go?", where(person))

    def _act(self, person: str) -> None:
        event = self.worlds[person].act(person)
        assert event is not None
        kind, _, what = event
        if kind == "go":
            self.visited[person].add(what)
            self.due = [due for due in self.due if due.program != where(person)]
            self.lines.append(Line(wording.move(person, what, self.chance), (event,)))
            self._ask(person, f"Why did {person} go to the {what}?", why(person, "go", what))
        else:
            self.lines.append(Line(f"{person} {self.chance.choice(wording.TAKES)} {what} there.", (event,)))
            self._ask(person, f"Why did {person} get the {what}?", why(person, "get", what))
            del self.feels[person]

    def _ask(self, person: str, text: str, program: Program) -> None:
        self.due.append(Due(person, self.feels[person], text, program))


class Motivations:
    """Task 20: a person has a state, goes where it leads, and gets what they want; a question follows each line.

    By default each person wants another thing, so each state belongs to one person. In data as released several people
    may have the same state, and get the same thing.
    """

    number, name, label = 20, "agents-motivations", "motives"
    lengths: tuple[int, ...] = (11, 11, 11, 7, 10, 10, 10, 10, 12, 12, 12, 11, 11, 11, 11)

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        telling = Telling(parameters, chance)
        asks: list[Ask] = []
        while len(asks) < questions:
            telling.go_on()
            told = len(telling.lines)
            ready = next((due for due in telling.due if told - 1 - due.feels >= parameters.distance), None)
            if ready is not None:
                if parameters.faithful and told - 1 - ready.feels > FURTHEST + parameters.distance:
                    return None
                telling.due.remove(ready)
                asks.append(Ask(told, ready.text, ready.program))
        return ToldStory(tuple(telling.lines), tuple(asks))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        motives = motives_of(parameters)
        return tuple(dict.fromkeys((*(one.place for one in motives), *(one.state for one in motives))))

    @staticmethod
    @cache
    def space(parameters: StoryParameters) -> Space | None:
        """Return the number of stories of all `lengths`, and of texts with a question.

        Return None with fewer people than released, with a distance, and for data as released, which leave out some
        stories.
        """
        if parameters.people < RELEASED or parameters.distance or parameters.faithful:
            return None
        counts = [prefixes(parameters, length) for length in range(1, max(Motivations.lengths) + 1)]
        return Space(sum(counts[length - 1] for length in set(Motivations.lengths)), sum(counts))


def motives_of(parameters: StoryParameters) -> tuple[Motive, ...]:
    """Return the possible motives: as many as people, and at least the released data's."""
    return MOTIVES[: max(RELEASED, parameters.people)]


def prefixes(parameters: StoryParameters, length: int) -> int:
    """Return how many texts of this many lines stories can begin with, for all verbs of each line."""
    motives = len(motives_of(parameters))
    counts = Counter({(parameters.people, 0, 0): 1})  # people without a state yet, in a state, and at its place
    for _ in range(length):
        after: Counter[tuple[int, int, int]] = Counter()
        for (fresh, feeling, gone), count in counts.items():
            after[fresh - 1, feeling + 1, gone] += count * fresh * (motives - (parameters.people - fresh))
            after[fresh, feeling - 1, gone + 1] += count * feeling * len(wording.MOVES)
            after[fresh, feeling, gone - 1] += count * gone * len(wording.TAKES)
        counts = +after
    return counts.total()


@cache
def where(person: str) -> Program:
    """Return the program that answers where a person will go."""
    return (
        Step("story", (), (Motivations.name,)),
        Step("feelings", (0,), (person,)),
        Step("last", (1,)),
        Step("leads_to", (2,)),
    )


@cache
def why(person: str, deed: str, what: str) -> Program:
    """Return the program that answers why a person went to a place or got a thing."""
    return (
        Step("story", (), (Motivations.name,)),
        Step("feelings", (0,), (person,)),
        Step(f"why_{deed}", (0, 1), (person, what)),
    )


TASKS = (Motivations(),)
