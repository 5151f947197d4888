"""Whether a person is in a place, if lines may deny a place or name two possible places (tasks 9 and 10).

Only the last line about a person counts, because the person may have moved before it. By default a reader who also
remembers earlier lines finds the same answers: if a person's place is known, a denial is about that place, and two
possible places are never places of the previous line about the person.
"""

from collections.abc import Sequence
from functools import cache

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import wording
from generation.engine.worlds.babi.story import STAYS, Event
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask
from generation.engine.worlds.babi.tasks.question_rounds import Rounds, Tale

GOES, IS_IN = 0.5, 0.25  # shares of these lines; all others deny a place, or name two possible places
DENIALS = ("is no longer in the", "is not in the")
MAYBE = 0.6  # share of questions about one of the two possible places


class Knowledge(Rounds):
    """A task whose lines may leave a person's place open."""

    def go_on(self, tale: Tale, people: Sequence[str], chance: Stream) -> None:
        who, form = chance.choice(people), chance.random()
        if form >= GOES + IS_IN and self.hedge(tale, who, chance):
            return
        place = tale.elsewhere(chance, who) if _is_certain(tale.known.get(who)) else chance.choice(tale.places)
        if form < GOES:
            tale.add(wording.move(who, place, chance), ("go", who, place))
        else:
            tale.add(f"{who} is in the {place}.", ("in", who, place))

    def hedge(self, tale: Tale, who: str, chance: Stream) -> bool:
        """Add a line that does not name the person's one place; return whether that was possible."""
        raise NotImplementedError

    def ask(self, tale: Tale, asked: str, chance: Stream) -> Ask:
        place = self.place_to_ask(tale, tale.known[asked], chance)
        return Ask(len(tale.lines), f"Is {asked} in the {place} now?", self.program(asked, place))

    def place_to_ask(self, tale: Tale, known: Event, chance: Stream) -> str:
        """Return the place for a question; with probability 1/2, it is the place where the person is."""
        return known[2] if chance.random() < 0.5 else _other(tale, known, chance)

    def program(self, person: str, place: str) -> Program:
        """Return the program that answers whether a person is in a place."""
        raise NotImplementedError


class Negation(Knowledge):
    """Task 9: lines may deny that a person is in a place."""

    number, name, label = 9, "simple-negation", "negation"

    def hedge(self, tale: Tale, who: str, chance: Stream) -> bool:
        known = tale.known.get(who)
        place = known[2] if known and _is_certain(known) else tale.elsewhere(chance, who)
        tale.add(f"{who} {chance.choice(DENIALS)} {place}.", ("not-in", who, place))
        return True

    def place_to_ask(self, tale: Tale, known: Event, chance: Stream) -> str:
        return super().place_to_ask(tale, known, chance) if _is_certain(known) else known[2]

    def program(self, person: str, place: str) -> Program:
        return question(self.name, person, "is_in", place)

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return ("yes", "no")


class Indefinite(Knowledge):
    """Task 10: lines may name two possible places. As released, these may be equal, and ignore earlier lines."""

    number, name, label = 10, "indefinite-knowledge", "either or"
    folk, region = "fred", "town"

    def hedge(self, tale: Tale, who: str, chance: Stream) -> bool:
        free = list(tale.places)
        if not tale.parameters.faithful:
            free = [place for place in tale.places if place not in tale.known.get(who, ())[2:]]
            if len(free) < 2:
                return False
        one = chance.choice(free)
        other = chance.choice(free if tale.parameters.faithful else [place for place in free if place != one])
        tale.add(f"{who} is either in the {one} or in the {other}.", ("either", who, one, other))
        return True

    def place_to_ask(self, tale: Tale, known: Event, chance: Stream) -> str:
        if _is_certain(known):
            return super().place_to_ask(tale, known, chance)
        return chance.choice(known[2:]) if chance.random() < MAYBE else _other(tale, known, chance)

    def program(self, person: str, place: str) -> Program:
        return question(self.name, person, "may_be_in", place)

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return ("yes", "no", "maybe")


def _is_certain(known: Event | None) -> bool:
    return known is not None and known[0] in STAYS


def _other(tale: Tale, known: Event, chance: Stream) -> str:
    return chance.choice([place for place in tale.places if place not in known[2:]])


@cache
def question(task: str, person: str, function: str, place: str) -> Program:
    """Return the program that answers from the last line about a person."""
    return (
        Step("story", (), (task,)),
        Step("knowledge", (0,), (person,)),
        Step("last", (1,)),
        Step(function, (2,), (place,)),
    )


TASKS = (Negation(), Indefinite())
