"""What animals fear by their kind (task 15), and which colour they have as others of theirs do (task 16)."""

from collections.abc import Sequence
from functools import cache

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi.kinds import BEARERS, BEASTS, COLOURS, PETS, PLURALS
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.tasks.idling import idle
from generation.engine.worlds.babi.telling import Ask, ToldStory

CONFLICTS = 0.075  # of the released data's stories of task 16, those whose evidence differs
ASKED_LAST = 0.2  # of the released data's stories of task 16, about, those that end with what the asked animal is
LAST_DIFFERS = 0.73  # of those with three animals or more as evidence, those where the one that differs counts


@cache
def is_a(name: str, kind: str) -> Line:
    """Return the line that says which animal somebody is."""
    return Line(f"{name} is a {kind}.", (("is-a", name, kind),))


@cache
def afraid(kind: str, feared: str) -> Line:
    """Return the line that says what animals of a kind fear."""
    return Line(f"{PLURALS[kind].capitalize()} are afraid of {PLURALS[feared]}.", (("afraid", kind, feared),))


@cache
def coloured(name: str, colour: str) -> Line:
    """Return the line that says which colour an animal has."""
    return Line(f"{name} is {colour}.", (("coloured", name, colour),))


class Deduction:
    """Task 15: kinds fear kinds; what a kind fears is told before any animal of it."""

    number, name, label = 15, "basic-deduction", "deduction"
    lengths: tuple[int, ...] = (4,)

    def tell(self, knobs: Knobs, chance: Stream, *, questions: int) -> ToldStory | None:
        kinds, pets = list(self.answers(knobs)), list(PETS[: max(knobs.people, questions)])
        turns = [True] * len(kinds) + [False] * len(pets)  # whether it is a kind's
        chance.shuffle(turns)
        if knobs.faithful:
            while not _balanced(turns):
                chance.shuffle(turns)
        else:
            turns.insert(0, turns.pop(turns.index(True)))
        chance.shuffle(kinds)
        chance.shuffle(pets)
        lines, told = list[Line](), 0
        for of_kind in turns:
            if of_kind:
                feared = chance.choice([kind for kind in kinds if kind != kinds[told]])
                lines.append(afraid(kinds[told], feared))
                told += 1
            else:
                lines.append(is_a(pets[len(lines) - told], kinds[chance.below(told)]))
        chance.shuffle(pets)
        lines += idle(knobs, chance)
        return ToldStory(tuple(lines), tuple([self._ask(len(lines), pet) for pet in pets[:questions]]))

    def answers(self, knobs: Knobs) -> tuple[str, ...]:
        return tuple(PLURALS)[: knobs.animals]

    @staticmethod
    @cache
    def _ask(scope: int, pet: str) -> Ask:
        program: Program = (
            Step("story", (), (Deduction.name,)),
            Step("is_a", (0,), (pet,)),
            Step("fear", (0, 1)),
            Step("feared", (2,)),
        )
        return Ask(scope, f"Of which animal is {pet} afraid?", program)


def _balanced(turns: Sequence[bool]) -> bool:
    """Return whether at no point more animals than kinds, of each as many of all, were told of."""
    kinds, pets = sum(turns), len(turns) - sum(turns)
    told = [0, 0]
    for of_kind in turns:
        told[of_kind] += 1
        if told[False] * kinds > told[True] * max(kinds, pets):
            return False
    return True


class Induction:
    """Task 16: an animal's colour is that of the others of its kind.

    By default those have one colour. In a few stories of data as released they have two; then the one counts whose
    kind is told last.
    """

    number, name, label = 16, "basic-induction", "induction"
    lengths: tuple[int, ...] = (1,)

    def tell(self, knobs: Knobs, chance: Stream, *, questions: int) -> ToldStory | None:
        kinds, names = BEASTS[: knobs.animals], list(BEARERS[: knobs.people + 1])
        chance.shuffle(names)  # the first is asked about; the others' kinds are told in their order here
        differs = knobs.faithful and chance.random() < CONFLICTS and len(names) > 2
        own, sure = chance.choice(kinds), list(range(1, len(names)))
        chance.shuffle(sure)
        of_kind = [own, *[chance.choice(kinds) for _ in sure]]
        for other in sure[: 1 + differs]:
            of_kind[other] = own
        by_kind = {kind: chance.choice(COLOURS) for kind in kinds}
        colours = [by_kind[kind] for kind in of_kind]
        if differs:
            peers = [other for other in range(1, len(names)) if of_kind[other] == own]
            odd = peers[self._odd(len(peers), chance)]
            colours[odd] = chance.choice([colour for colour in COLOURS if colour != by_kind[own]])
        lines = (*self._lines(names, of_kind, colours, chance, faithful=knobs.faithful), *idle(knobs, chance))
        return ToldStory(lines, (self._ask(len(lines), names[0]),))

    def answers(self, knobs: Knobs) -> tuple[str, ...]:
        return COLOURS

    def _odd(self, peers: int, chance: Stream) -> int:
        if peers > 2 and chance.random() < LAST_DIFFERS:
            return peers - 1
        return chance.below(peers - 1 if peers > 2 else peers)

    def _lines(
        self, names: Sequence[str], kinds: Sequence[str], colours: Sequence[str], chance: Stream, *, faithful: bool
    ) -> tuple[Line, ...]:
        """Return what all are, and which colour all but the first have: after what they are."""
        turns = [*range(len(names)), *range(1, len(names))]
        chance.shuffle(turns)
        if faithful and chance.random() < ASKED_LAST:
            turns.append(turns.pop(turns.index(0)))
        ranks = iter(range(1, len(names)))
        lines, known = list[Line](), dict[int, int]()
        for turn in turns:
            if turn == 0:
                lines.append(is_a(names[0], kinds[0]))
            elif turn not in known:
                known[turn] = next(ranks)
                lines.append(is_a(names[known[turn]], kinds[known[turn]]))
            else:
                lines.append(coloured(names[known[turn]], colours[known[turn]]))
        return tuple(lines)

    @staticmethod
    @cache
    def _ask(scope: int, name: str) -> Ask:
        program: Program = (
            Step("story", (), (Induction.name,)),
            Step("is_a", (0,), (name,)),
            Step("peer", (0, 1)),
            Step("colour", (0, 2)),
        )
        return Ask(scope, f"Which colour is {name}?", program)


TASKS = (Deduction(), Induction())
