"""Who gave what to whom, and who has what: tasks 5, 7 and 8."""

from functools import cache
from itertools import combinations

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import cast
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Event
from generation.engine.worlds.babi.tasks.carrying import Carrying, Query, Tale, Watch

FORMS = ("gift", "giver to", "giver", "receiver", "receiver from")  # what is asked of a gift
CUMULATED = (0.34, 0.51, 0.68, 0.84, 1.0)  # of all questions as released
IGNORES = 0.006  # of questions what somebody gave to somebody those as released that ignore a later gift

Gift = tuple[str, str, str]  # giver, thing, receiver
Key = tuple[str, ...]


class _Gifts:
    """Remembers for each question that there can be the line of the last gift that answers it."""

    def __init__(self, tale: Tale, *, faithful: bool) -> None:
        self.tale, self.faithful = tale, faithful
        self.lines: tuple[dict[Key, list[int]], ...] = tuple({} for _ in FORMS)

    def saw(self, event: Event) -> None:
        if event[0] != "give":
            return
        _, giver, thing, receiver = event
        keys = ((giver, receiver), (thing, receiver), (thing,), (thing,), (giver, thing))
        for lines, key in zip(self.lines, keys, strict=True):
            lines.setdefault(key, []).append(len(self.tale.lines) - 1)

    def query(self, chance: Stream) -> Query | None:
        drawn = chance.random()
        form = next(number for number, share in enumerate(CUMULATED) if drawn < share)
        keys = self.lines[form]
        if not keys:
            return None
        key = chance.choice(tuple(keys))
        ignores = self.faithful and form == 0 and len(keys[key]) > 1 and chance.random() < IGNORES
        text = question(FORMS[form], key, last=not self.faithful)
        return Query(text, about_gift(FORMS[form], key, ignores=ignores), keys[key][-1])


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
    filters = {
        "gift": ("by", "to"),
        "giver to": ("of", "to"),
        "giver": ("of",),
        "receiver": ("of",),
        "receiver from": ("by", "of"),
    }[form]
    steps = [Step("story", (), ("three-arg-relations",)), Step("gifts", (0,))]
    for name, value in zip(filters, key, strict=True):
        steps.append(Step(name, (len(steps) - 1,), (value,)))
    steps.append(Step("last_but_one" if ignores else "last", (len(steps) - 1,)))
    steps.append(Step(form.partition(" ")[0], (len(steps) - 1,)))
    return tuple(steps)


class Gifts(Carrying):
    """Task 5."""

    number, name, label, longest = 5, "three-arg-relations", "three arguments", 126
    people, gives = "jeff", True

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
        if person not in self.busy:
            return None
        return Query(self.task.question(person), self.task.program(person), self.busy[person], person)


class Counting(Carrying):
    """Task 7."""

    number, name, label, longest = 7, "counting", "counting", 52
    gives = True

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
    gives = False

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
