"""What animals are afraid of, by their species (task 15), and their colours, by others of their species (task 16)."""

from collections.abc import Sequence
from functools import cache

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi.entities import BEARERS, BEASTS, COLOURS, PETS, PLURALS
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, ToldStory
from generation.engine.worlds.babi.tasks.filler_lines import idle

CONFLICTS = 0.075  # share of the released data's stories of task 16 whose evidence differs
ASKED_LAST = 0.2  # share of them, approximately, that end with the line about the asked animal's species
LAST_DIFFERS = 0.73  # of these, share with three or more peers in which the last peer differs


@cache
def is_a(name: str, kind: str) -> Line:
    """Return the line that says which species an animal is."""
    return Line(f"{name} is a {kind}.", (("is-a", name, kind),))


@cache
def afraid(kind: str, feared: str) -> Line:
    """Return the line that says what a species is afraid of."""
    return Line(f"{PLURALS[kind].capitalize()} are afraid of {PLURALS[feared]}.", (("afraid", kind, feared),))


@cache
def colour_line(name: str, colour: str) -> Line:
    """Return the line that says which colour an animal has."""
    return Line(f"{name} is {colour}.", (("coloured", name, colour),))


class Deduction:
    """Task 15: species are afraid of species; the line about a species comes before the lines about its animals."""

    number, name, label = 15, "basic-deduction", "deduction"
    lengths: tuple[int, ...] = (4,)

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        kinds, pets = list(self.answers(parameters)), list(PETS[: max(parameters.people, questions)])
        turns = [True] * len(kinds) + [False] * len(pets)  # whether a turn is for a species
        chance.shuffle(turns)
        if parameters.faithful:
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
        lines += idle(parameters, chance)
        return ToldStory(tuple(lines), tuple([self._ask(len(lines), pet) for pet in pets[:questions]]))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return tuple(PLURALS)[: parameters.animals]

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
    """Return whether, at every point of the story, the share of species with a line is at least that of animals."""
    kinds, pets = sum(turns), len(turns) - sum(turns)
    told = [0, 0]
    for of_kind in turns:
        told[of_kind] += 1
        if told[False] * kinds > told[True] * max(kinds, pets):
            return False
    return True


class Induction:
    """Task 16: an animal has the colour of the others of its species.

    By default these have one colour. In a few stories of data as released they have two; then the colour counts whose
    animal's species comes last in the story.
    """

    number, name, label = 16, "basic-induction", "induction"
    lengths: tuple[int, ...] = (1,)

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        kinds, names = BEASTS[: parameters.animals], list(BEARERS[: parameters.people + 1])
        chance.shuffle(names)  # the question is about the first; the story gives the others in this order
        differs = parameters.faithful and chance.random() < CONFLICTS and len(names) > 2
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
        lines = (*self._lines(names, of_kind, colours, chance, faithful=parameters.faithful), *idle(parameters, chance))
        return ToldStory(lines, (self._ask(len(lines), names[0]),))

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return COLOURS

    def _odd(self, peers: int, chance: Stream) -> int:
        if peers > 2 and chance.random() < LAST_DIFFERS:
            return peers - 1
        return chance.below(peers - 1 if peers > 2 else peers)

    def _lines(
        self, names: Sequence[str], kinds: Sequence[str], colours: Sequence[str], chance: Stream, *, faithful: bool
    ) -> tuple[Line, ...]:
        """Return lines about the species of all animals and, after these, about the colours of all but the first."""
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
                lines.append(colour_line(names[known[turn]], colours[known[turn]]))
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
