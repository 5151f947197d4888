"""Where somebody is, who only goes: one supporting fact (task 1)."""

from functools import cache

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi import cast, wording
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.telling import Ask, Told

BETWEEN = 2  # lines told before each question


class OneFact:
    """Task 1."""

    number, name, label = 1, "single-supporting-fact", "one supporting fact"
    lengths: tuple[int, ...] = (5,)

    def tell(self, knobs: Knobs, chance: Stream, *, questions: int) -> Told | None:
        people, places = cast.people("mary", knobs.people), cast.places("house", knobs.places)
        where: dict[str, str] = {}
        lines: list[Line] = []
        asks: list[Ask] = []
        for _ in range(questions):
            for _ in range(BETWEEN):
                who = chance.choice(people)
                place = chance.choice([place for place in places if place != where.get(who)])
                where[who] = place
                lines.append(Line(wording.move(who, place, chance), (("go", who, place),)))
            asked = chance.choice(list(where))
            asks.append(Ask(len(lines), f"Where is {asked} now?", program(self.name, asked)))
        return Told(tuple(lines), tuple(asks))

    def answers(self, knobs: Knobs) -> tuple[str, ...]:
        return cast.places("house", knobs.places)


@cache
def program(task: str, person: str) -> Program:
    """Return the program that asks where somebody is."""
    return (Step("story", (), (task,)), Step("stays", (0,), (person,)), Step("last", (1,)), Step("place", (2,)))


TASKS = (OneFact(),)
