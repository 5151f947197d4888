"""Who gave what to whom, and who has what (tasks 5, 7 and 8)."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import entities
from generation.engine.worlds.babi.story import Event
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.tasks.carrying import Carrying, CarryingQuery, CarryingTale, Odds, Watch

RECENT = 3  # number of the last lines in which the gift of a question must be
CUMULATED = {"gift": 0.34, "giver to": 0.51, "giver": 0.68, "receiver": 0.84, "receiver from": 1.0}  # as released
KNOWN = {"gift": (0, 2), "giver to": (1, 2), "giver": (1,), "receiver": (1,), "receiver from": (0, 1)}  # of a `Gift`
MOST_SUPPORTS = 8  # of a question of tasks 7 and 8 as released
FILTERS = ("by", "of", "to")  # functions that filter gifts by each of their parts
IGNORES = 0.1  # share of "gift" questions as released that ignore the last gift if the one before it is recent

Gift = tuple[str, str, str]  # giver, thing, receiver
Key = tuple[str, ...]


class _Gifts:
    """The memory of task 5: all gifts."""

    def __init__(self, tale: CarryingTale, *, faithful: bool) -> None:
        self.tale, self.faithful = tale, faithful
        self.gifts: list[tuple[int, Gift]] = []

    def saw(self, event: Event) -> None:
        if event[0] == "give":
            _, giver, thing, receiver = event
            self.gifts.append((len(self.tale.lines) - 1, (giver, thing, receiver)))

    def query(self, chance: Stream) -> CarryingQuery | None:
        most = self.tale.window() if self.faithful else RECENT
        recent = [gift for line, gift in self.gifts[-most:] if self.tale.age(line) < most]
        if not recent:
            return None
        drawn, gift = chance.random(), chance.choice(recent)
        form = next(form for form, share in CUMULATED.items() if drawn < share)
        key = tuple(gift[role] for role in KNOWN[form])
        lines = [line for line, other in self.gifts if all(other[role] == gift[role] for role in KNOWN[form])]
        ignores = self.faithful and form == "gift" and len(lines) > 1 and self.tale.age(lines[-2]) < most
        ignores = ignores and chance.random() < IGNORES
        return CarryingQuery(
            question(form, key, last=not self.faithful), about_gift(form, key, ignores=ignores), lines[-1]
        )


def question(form: str, key: Key, *, last: bool) -> str:
    """Return the question about a gift of which the parts in `key` are known."""
    ever = "last " if last else ""
    match form, *key:
        case "gift", giver, receiver:
            return f"What did {giver} {ever}give to {receiver}?"
        case "giver to", thing, receiver:
            return f"Who {ever}gave the {thing} to {receiver}?"
        case "giver", thing:
            return f"Who {ever}gave the {thing} to somebody?"
        case "receiver", thing:
            return f"Who {ever}received the {thing}?"
        case _, giver, thing:
            return f"To whom did {giver} {ever}give the {thing}?"
    raise AssertionError(f"no such question: {form}")


@cache
def about_gift(form: str, key: Key, *, ignores: bool = False) -> Program:
    """Return the program about the last gift with these known parts, or with `ignores` about the last but one."""
    steps = [Step("story", (), ("three-arg-relations",)), Step("gifts", (0,))]
    for role, name in zip(KNOWN[form], key, strict=True):
        steps.append(Step(FILTERS[role], (len(steps) - 1,), (name,)))
    steps.append(Step("last_but_one" if ignores else "last", (len(steps) - 1,)))
    steps.append(Step(form.partition(" ")[0], (len(steps) - 1,)))
    return tuple(steps)


class Gifts(Carrying):
    """Task 5: who gave what to whom."""

    number, name, label, longest = 5, "three-arg-relations", "three arguments", 126
    people, odds = "jeff", Odds(give=16)
    released, released_odds = (10, 102), Odds(get=4, give=36)
    few, rest = 0.65, 12

    def watch(self, tale: CarryingTale, parameters: StoryParameters) -> Watch:
        return _Gifts(tale, faithful=parameters.faithful)

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return (*entities.people(self.people, parameters.people), *entities.things(parameters.things))


class _Belongings:
    """The memory of tasks 7 and 8: the lines about each person and things."""

    def __init__(self, tale: CarryingTale, task: "Counting", *, faithful: bool) -> None:
        self.tale, self.task, self.faithful = tale, task, faithful
        self.busy: dict[str, list[int]] = {}  # lines in which a person gets, drops, gives or receives a thing

    def saw(self, event: Event) -> None:
        if event[0] == "go":
            return
        line = len(self.tale.lines) - 1
        for person in (event[1], *event[3:]):
            self.busy.setdefault(person, []).append(line)

    def query(self, chance: Stream) -> CarryingQuery | None:
        people = self._recent() if self.faithful else self.tale.people
        person = chance.choice(people) if people else ""
        unasked = self.task.released_unasked if self.faithful else self.task.unasked
        lines = self.busy.get(person, [])
        if not lines or chance.random() < unasked[bool(self.tale.world.contents[person])]:
            return None
        if self.faithful and len(lines) > MOST_SUPPORTS:
            return None
        return CarryingQuery(self.task.question(person), self.task.program(person), lines[-1], person)

    def _recent(self) -> Sequence[str]:
        return [event[1] for event in self.tale.recent() if event[0] != "go"]


class Counting(Carrying):
    """Task 7: how many things a person has."""

    number, name, label, longest = 7, "counting", "counting", 52
    odds, released_odds = Odds(give=1), Odds(get=7, drop=7, give=6)
    released, few = (10, 34), 0.12
    unasked, released_unasked = (0.0, 0.16), (0.06, 0.21)  # share of skipped people, by whether they have things

    def watch(self, tale: CarryingTale, parameters: StoryParameters) -> Watch:
        return _Belongings(tale, self, faithful=parameters.faithful)

    def question(self, person: str) -> str:
        """Return the question about a person."""
        return f"How many things does {person} carry?"

    def program(self, person: str) -> Program:
        """Return the question's program."""
        return (*belongings(self.name, person), Step("count", (2,)))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return entities.NUMBERS[: parameters.things + 1]


class Lists(Counting):
    """Task 8: which things a person has."""

    number, name, label, longest = 8, "lists-sets", "lists and sets", 58
    odds, released_odds = Odds(), Odds(get=5, drop=5)
    released, few = (10, 46), 0.04
    unasked, released_unasked = (0.11, 0.0), (0.12, 0.12)

    def question(self, person: str) -> str:
        return f"Which things does {person} carry?"

    def program(self, person: str) -> Program:
        return belongings(self.name, person)

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        things = sorted(entities.things(parameters.things))
        return (
            "nothing",
            *(",".join(some) for count in range(1, len(things) + 1) for some in combinations(things, count)),
        )


@cache
def belongings(task: str, person: str) -> Program:
    """Return the program that answers what a person has."""
    return (Step("story", (), (task,)), Step("handling", (0,), (person,)), Step("holds", (1,), (person,)))


TASKS = (Gifts(), Counting(), Lists())
