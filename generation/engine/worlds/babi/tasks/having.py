"""Who gave what to whom, and who has what: tasks 5, 7 and 8."""

from functools import cache
from itertools import combinations

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import cast
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Event
from generation.engine.worlds.babi.tasks.carrying import Carrying, Query, Tale, Watch

RECENT = 3  # lines: questions as released are about what was given in the last ones
CUMULATED = {"gift": 0.34, "giver to": 0.51, "giver": 0.68, "receiver": 0.84, "receiver from": 1.0}  # as released
KNOWN = {"gift": (0, 2), "giver to": (1, 2), "giver": (1,), "receiver": (1,), "receiver from": (0, 1)}  # of a `Gift`
FILTERS = ("by", "of", "to")  # by what of a gift they go
IGNORES = 0.03  # of questions what somebody gave to somebody who gave several things those that ignore the last

Gift = tuple[str, str, str]  # giver, thing, receiver
Key = tuple[str, ...]


class _Gifts:
    """Remembers what was given."""

    def __init__(self, tale: Tale, *, faithful: bool) -> None:
        self.tale, self.faithful = tale, faithful
        self.gifts: list[tuple[int, Gift]] = []

    def saw(self, event: Event) -> None:
        if event[0] == "give":
            _, giver, thing, receiver = event
            self.gifts.append((len(self.tale.lines) - 1, (giver, thing, receiver)))

    def query(self, chance: Stream) -> Query | None:
        recent = [gift for line, gift in self.gifts[-RECENT:] if self.tale.age(line) < RECENT]
        if not recent:
            return None
        drawn, gift = chance.random(), chance.choice(recent)
        form = next(form for form, share in CUMULATED.items() if drawn < share)
        key = tuple(gift[role] for role in KNOWN[form])
        lines = [line for line, other in self.gifts if all(other[role] == gift[role] for role in KNOWN[form])]
        ignores = self.faithful and form == "gift" and len(lines) > 1 and chance.random() < IGNORES
        return Query(question(form, key, last=not self.faithful), about_gift(form, key, ignores=ignores), lines[-1])


def question(form: str, key: Key, *, last: bool) -> str:
    """Return what is asked of a gift by what is known of it."""
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
    """Return the program that asks about the last gift of which this much is known, or the last but one."""
    steps = [Step("story", (), ("three-arg-relations",)), Step("gifts", (0,))]
    for role, name in zip(KNOWN[form], key, strict=True):
        steps.append(Step(FILTERS[role], (len(steps) - 1,), (name,)))
    steps.append(Step("last_but_one" if ignores else "last", (len(steps) - 1,)))
    steps.append(Step(form.partition(" ")[0], (len(steps) - 1,)))
    return tuple(steps)


class Gifts(Carrying):
    """Task 5."""

    number, name, label, longest = 5, "three-arg-relations", "three arguments", 126
    people, gives = "jeff", 16

    def watch(self, tale: Tale, knobs: Knobs) -> Watch:
        return _Gifts(tale, faithful=knobs.faithful)

    def answers(self, knobs: Knobs) -> tuple[str, ...]:
        return (*cast.people(self.people, knobs.people), *cast.things(knobs.things))


class _Belongings:
    """Remembers who has done something with things."""

    def __init__(self, tale: Tale, task: "Counting") -> None:
        self.tale, self.task = tale, task
        self.busy: dict[str, int] = {}

    def saw(self, event: Event) -> None:
        if event[0] == "go":
            return
        line = len(self.tale.lines) - 1
        self.busy[event[1]] = line
        if event[0] == "give":
            self.busy[event[3]] = line

    def query(self, chance: Stream) -> Query | None:
        person = chance.choice(self.tale.people)
        if person not in self.busy or chance.random() < self.task.unasked[bool(self.tale.world.contents[person])]:
            return None
        return Query(self.task.question(person), self.task.program(person), self.busy[person], person)


class Counting(Carrying):
    """Task 7."""

    number, name, label, longest = 7, "counting", "counting", 52
    gives = 1
    unasked = (0.0, 0.16)  # how often somebody is not asked about who has nothing, or something

    def watch(self, tale: Tale, knobs: Knobs) -> Watch:
        return _Belongings(tale, self)

    def question(self, person: str) -> str:
        """Return what is asked about somebody."""
        return f"How many things does {person} carry?"

    def program(self, person: str) -> Program:
        """Return the program that asks it."""
        return (*belongings(self.name, person), Step("count", (2,)))

    def answers(self, knobs: Knobs) -> tuple[str, ...]:
        return cast.NUMBERS[: knobs.things + 1]


class Lists(Counting):
    """Task 8."""

    number, name, label, longest = 8, "lists-sets", "lists and sets", 58
    gives = 0
    unasked = (0.11, 0.0)

    def question(self, person: str) -> str:
        return f"Which things does {person} carry?"

    def program(self, person: str) -> Program:
        return belongings(self.name, person)

    def answers(self, knobs: Knobs) -> tuple[str, ...]:
        things = sorted(cast.things(knobs.things))
        return (
            "nothing",
            *(",".join(some) for count in range(1, len(things) + 1) for some in combinations(things, count)),
        )


@cache
def belongings(task: str, person: str) -> Program:
    """Return the program that asks what somebody has."""
    return (Step("story", (), (task,)), Step("handling", (0,), (person,)), Step("holds", (1,), (person,)))


TASKS = (Gifts(), Counting(), Lists())
