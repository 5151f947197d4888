"""Where a person is, if people only move: one supporting fact (task 1)."""

from collections.abc import Sequence

from generation.engine.seeding import Stream
from generation.engine.worlds.babi import wording
from generation.engine.worlds.babi.tasks.question_rounds import Rounds, Tale


class OneFact(Rounds):
    """Task 1: where a person is."""

    number, name, label = 1, "single-supporting-fact", "one supporting fact"

    def go_on(self, tale: Tale, people: Sequence[str], chance: Stream) -> None:
        who = chance.choice(people)
        place = tale.elsewhere(chance, who)
        tale.add(wording.move(who, place, chance), ("go", who, place))


TASKS = (OneFact(),)
