"""Where a person is, if lines name people by pronouns, two people at a time, or both (tasks 11, 12 and 13)."""

from collections.abc import Sequence

from generation.engine.seeding import Stream
from generation.engine.worlds.babi import wording
from generation.engine.worlds.babi.entities import MEN
from generation.engine.worlds.babi.story import Event
from generation.engine.worlds.babi.tasks.question_rounds import Rounds, Tale

CONNECTIVES = ("Then", "Afterwards", "After that", "Following that")


class Company(Rounds):
    """A task whose lines name people by pronouns, or two people at a time.

    A line with a pronoun comes directly after the line that names the people whom it means, and that line names nobody
    else. Therefore the pronoun is not ambiguous.
    """

    pronoun = True

    def go_on(self, tale: Tale, people: Sequence[str], chance: Stream) -> None:
        group = self._group(people, chance)
        self._tell(tale, " and ".join(group), group, chance)
        if self.pronoun:
            named = len(tale.lines) - 1
            self._tell(tale, f"{chance.choice(CONNECTIVES)}, {_pronoun(group)}", group, chance, antecedent=named)

    def _group(self, people: Sequence[str], chance: Stream) -> tuple[str, ...]:
        first = chance.choice(people)
        if self.together == 1:
            return (first,)
        return (first, chance.choice([other for other in people if other != first]))

    def _tell(
        self, tale: Tale, who: str, group: tuple[str, ...], chance: Stream, *, antecedent: int | None = None
    ) -> None:
        place = tale.elsewhere(chance, *group)
        events: list[Event] = [("go", person, place) for person in group]
        tale.add(wording.move(who, place, chance), *events, antecedent=antecedent)


class Coreference(Company):
    """Task 11: a pronoun means one person."""

    number, name, label = 11, "basic-coreference", "he and she"


class Conjunction(Company):
    """Task 12: two people move together."""

    number, name, label = 12, "conjunction", "two together"
    together, pronoun, recent = 2, False, 5.3


class CompoundCoreference(Company):
    """Task 13: a pronoun means two people."""

    number, name, label = 13, "compound-coreference", "they"
    together = 2


def _pronoun(group: tuple[str, ...]) -> str:
    if len(group) > 1:
        return "they"
    return "he" if group[0] in MEN else "she"


TASKS = (Coreference(), Conjunction(), CompoundCoreference())
