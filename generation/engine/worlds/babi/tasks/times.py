"""Where a person was before, with times of day in any order (task 14)."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import entities, wording
from generation.engine.worlds.babi.entities import TIMES
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, ToldStory

RECENT, NARROW = 8, 3  # number of the last lines that questions as released are about; many are about fewer
MOSTLY = 0.45  # share of questions that are about fewer
BETWEEN = 2  # lines before each question


class PlaceVisit(NamedTuple):
    """A place where a person went, and the line that tells it; a person's visits are in the order of time."""

    place: str
    line: int


class Days:
    """A story that is being made: its lines, and each person's visits, one for each time of day.

    The lines are not in the order of time: the visits since the last question are shuffled before the next question.
    """

    def __init__(self, people: Sequence[str], places: Sequence[str]) -> None:
        self.places = places
        self.visits: dict[str, list[PlaceVisit]] = {person: [] for person in people}
        self.lines: list[Line] = []
        self.untold: list[Line] = []

    def go_on(self, chance: Stream, *, without: str | None = None) -> None:
        """Add `BETWEEN` visits, or fewer if few are left."""
        for _ in range(BETWEEN):
            people = [one for one, visits in self.visits.items() if one != without and len(visits) < len(TIMES)]
            if people:
                self.untold.append(self._visit(chance.choice(people), chance))

    def tell(self, chance: Stream) -> None:
        """Add lines for the visits that have no line yet."""
        chance.shuffle(self.untold)
        for line in self.untold:
            _, who, place, time = line.events[0]
            self.visits[who][TIMES.index(time)] = PlaceVisit(place, len(self.lines))
            self.lines.append(line)
        self.untold.clear()

    def _visit(self, who: str, chance: Stream) -> Line:
        visits = self.visits[who]
        place = chance.choice([place for place in self.places if not visits or place != visits[-1].place])
        time = TIMES[len(visits)]
        visits.append(PlaceVisit(place, -1))
        went = wording.move(who, place, chance)
        text = f"{time.capitalize()} {went}" if chance.random() < 0.5 else f"{went[:-1]} {time}."
        return Line(text, (("go-at", who, place, time),))

    def left(self, *, without: str) -> int:
        """Return the number of visits that other people can still have."""
        return sum(len(TIMES) - len(visits) for person, visits in self.visits.items() if person != without)


class Candidate(NamedTuple):
    """A person and a place for a question, and the last of its two supporting lines."""

    person: str
    place: str
    line: int


class Times:
    """Task 14: where a person was before they were in a place.

    As released, a question may be about a place that a person visited twice; it means the later visit.
    """

    number, name, label = 14, "time-reasoning", "time"
    lengths: tuple[int, ...] = (5,)

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        if parameters.distance > parameters.people * len(TIMES) - 2:
            return None
        days = Days(entities.people("fred", parameters.people), entities.places("town", parameters.places))
        asks: list[Ask] = []
        while len(asks) < questions:
            before = len(days.lines)
            days.go_on(chance)
            if all(len(visits) < 2 for visits in days.visits.values()):
                continue
            days.tell(chance)
            found = (
                _recent(days, _candidates(days, parameters), chance)
                if parameters.faithful
                else _candidates(days, parameters)
            )
            if not found and not asks and len(days.lines) > before:
                continue
            ask = self._ask(days, parameters, chance.choice(chance.choice(found)), chance) if found else None
            if ask is None or ask in asks:
                return None
            asks.append(ask)
        return ToldStory(tuple(days.lines), tuple(asks))

    def _ask(self, days: Days, parameters: StoryParameters, asked: Candidate, chance: Stream) -> Ask:
        while len(days.lines) - 1 - asked.line < parameters.distance:
            days.go_on(chance, without=asked.person)
            days.tell(chance)
        text = f"Where was {asked.person} right before the {asked.place}?"
        return Ask(len(days.lines), text, program(self.name, asked.person, asked.place))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return entities.places("town", parameters.places)


def _candidates(days: Days, parameters: StoryParameters) -> list[list[Candidate]]:
    """Return the possible questions for each person, about places visited once, or as released about all places."""
    found = []
    for person, visits in days.visits.items():
        most = len(days.lines) - 1 + days.left(without=person) - parameters.distance
        own = [
            _candidate(person, visits, visit.place)
            for visit in visits[1:]
            if parameters.faithful or _once(visits, visit)
        ]
        near = [candidate for candidate in own if candidate.line <= most]
        if near:
            found.append(near)
    return found


def _recent(days: Days, found: Sequence[Sequence[Candidate]], chance: Stream) -> list[list[Candidate]]:
    """Return the candidates of the last `RECENT` lines, or mostly of the last `NARROW` lines if there are any."""
    for count in (NARROW, RECENT) if chance.random() < MOSTLY else (RECENT,):
        near = [[one for one in own if len(days.lines) - 1 - one.line < count] for own in found]
        if any(near):
            return [own for own in near if own]
    return []


def _once(visits: Sequence[PlaceVisit], visit: PlaceVisit) -> bool:
    return sum(other.place == visit.place for other in visits) == 1


def _candidate(person: str, visits: Sequence[PlaceVisit], place: str) -> Candidate:
    latest = max(at for at, visit in enumerate(visits) if visit.place == place)
    return Candidate(person, place, max(visits[latest].line, visits[latest - 1].line))


@cache
def program(task: str, person: str, place: str) -> Program:
    """Return the program that answers where a person was right before a place."""
    return (
        Step("story", (), (task,)),
        Step("dated", (0,), (person,)),
        Step("visit", (1,), (place,)),
        Step("preceding", (1, 2)),
        Step("place", (3,)),
    )


TASKS = (Times(),)
