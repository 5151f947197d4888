"""What is bigger, and what fits inside what, concluded from other facts (task 18)."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi.entities import CONTENTS, SIZES
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.task_interface import Ask, ToldStory
from generation.engine.worlds.babi.tasks.filler_lines import idle

BLOCK, MOST = 5, 15  # number of lines in a block, and the largest number of lines of a story as released
ONCE = 0.4  # approximate share of lines of a block as released whose pair does not occur again in the block
GOES_ON = 0.02  # approximate share of released stories with a second block that was not needed
DIRECT = 0.4  # share of questions that one line answers, if there is a choice; gives 31 % of all, as released

Pair = tuple[int, int]
"""A smaller and a larger thing, as positions in the order of sizes."""


class SizeFact(NamedTuple):
    """A pair, and whether its line says "fits inside" instead of "is bigger than"."""

    pair: Pair
    fits: bool


@cache
def line(small: str, large: str, fits: bool) -> Line:
    """Return the line that compares two things."""
    if fits:
        return Line(f"The {small} fits inside the {large}.", (("fits", small, large),))
    return Line(f"The {large} is bigger than the {small}.", (("bigger", large, small),))


class Sizes:
    """Task 18: things of different sizes. Questions are only about pairs that a chain of several facts orders.

    By default no fact occurs twice, there is one shortest chain, and no question is about the chocolate, which is
    smaller than everything else. In data as released the box of chocolates is the second smallest, so that the words
    alone answer most questions, and one line answers some; lines and questions may repeat.
    """

    number, name, label = 18, "size-reasoning", "sizes"
    lengths: tuple[int, ...] = (5,)

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        order = self._order(parameters, chance)
        if parameters.faithful:
            facts, pairs = self._as_released(len(order), chance)
            asked = [(*chance.choice(pairs[_index(pairs, chance)]), *_flips(chance)) for _ in range(questions)]
        else:
            facts, found = self._clear(len(order), parameters, questions, chance)
            asked = self._each(found, questions, chance)
        lines = (*[line(order[small], order[large], fits) for (small, large), fits in facts], *idle(parameters, chance))
        return ToldStory(
            lines, tuple([self._ask(len(lines), order[a], order[b], fits, yes) for a, b, fits, yes in asked])
        )

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        return ("yes", "no")

    def _order(self, parameters: StoryParameters, chance: Stream) -> list[str]:
        """Return the things in the order of their sizes, the smallest first."""
        fixed = len(CONTENTS) if parameters.faithful else 1
        others = list(SIZES[fixed : max(parameters.sizes, parameters.steps + 3)])
        chance.shuffle(others)
        return [*SIZES[:fixed], *others]

    def _clear(
        self, things: int, parameters: StoryParameters, questions: int, chance: Stream
    ) -> tuple[list[SizeFact], list[Pair]]:
        """Return facts, each about another pair, and the pairs for questions."""
        count = BLOCK * -(-(things - 1) // BLOCK)
        chain = _chain(things, parameters.steps, chance)
        told = chain + _others(things, chain, chance)[: count - len(chain)]
        found = chained_pairs(told, parameters.steps)
        if 4 * len(found) < questions:
            told, found = self._carefully(things, parameters.steps, count, chance)
        chance.shuffle(told)
        return [SizeFact(pair, chance.random() < 0.5) for pair in told], found

    def _carefully(self, things: int, steps: int, count: int, chance: Stream) -> tuple[list[Pair], list[Pair]]:
        """Return pairs for facts and for questions, from a longer chain that orders two pairs."""
        told = _chain(things, steps + 1, chance)
        found = chained_pairs(told, steps)
        for pair in _others(things, told, chance):
            left = chained_pairs([*told, pair], steps)
            if len(left) > 1 and len(told) < count:
                told.append(pair)
                found = left
        return told, found

    def _as_released(self, things: int, chance: Stream) -> tuple[list[SizeFact], tuple[list[Pair], list[Pair]]]:
        """Return facts, and pairs that two facts order: pairs that no fact names, and pairs that a fact names too."""
        every, facts = list(combinations(range(things), 2)), list[SizeFact]()
        while True:
            facts = [] if len(facts) == MOST else facts
            left = list(every)
            for _ in range(BLOCK):
                facts.append(SizeFact(chance.choice(left), chance.random() < 0.5))
                if chance.random() < ONCE:
                    left.remove(facts[-1].pair)
            told = {fact.pair for fact in facts}
            two = [pair for pair in every if any({(pair[0], by), (by, pair[1])} <= told for by in range(*pair))]
            if two and (len(facts) > BLOCK or chance.random() >= GOES_ON):
                return facts, ([pair for pair in two if pair not in told], [pair for pair in two if pair in told])

    def _each(self, pairs: Sequence[Pair], count: int, chance: Stream) -> list[tuple[int, int, bool, bool]]:
        """Return different questions, half with the answer yes: the pair, whether it asks "fits", and the answer."""
        left = {yes: [(*pair, fits, yes) for pair in pairs for fits in (False, True)] for yes in (False, True)}
        for questions in left.values():
            chance.shuffle(questions)
        found = []
        for _ in range(count):
            yes = chance.random() < 0.5
            found.append((left[yes] or left[not yes]).pop())
        return found

    @staticmethod
    @cache
    def _ask(scope: int, small: str, large: str, fits: bool, yes: bool) -> Ask:
        one, other = (small, large) if fits == yes else (large, small)
        text = f"Does the {one} fit inside the {other}?" if fits else f"Is the {one} bigger than the {other}?"
        program: Program = (
            Step("story", (), (Sizes.name,)),
            Step("sizes", (0,), (one, other)),
            Step("is_smaller" if fits else "is_larger", (1,), (one,)),
        )
        return Ask(scope, text, program)


def chained_pairs(told: Iterable[Pair], steps: int) -> list[Pair]:
    """Return the pairs with a single shortest chain of `steps` facts, without the smallest thing."""
    above: dict[int, list[int]] = {}
    for small, large in told:
        if small > 0:
            above.setdefault(small, []).append(large)
    found = []
    for small in above:
        reached, ways = {small}, {small: 1}
        for _ in range(steps):
            further: dict[int, int] = {}
            for at, count in ways.items():
                for after in above.get(at, ()):
                    if after not in reached:
                        further[after] = further.get(after, 0) + count
            reached.update(further)
            ways = further
        found += [(small, large) for large, count in ways.items() if count == 1]
    return found


def _chain(things: int, steps: int, chance: Stream) -> list[Pair]:
    ranks = list(range(1, things))
    return list(pairwise(sorted([ranks.pop(chance.below(len(ranks))) for _ in range(steps + 1)])))


def _others(things: int, chain: Sequence[Pair], chance: Stream) -> list[Pair]:
    rest = [pair for pair in combinations(range(things), 2) if pair not in chain]
    chance.shuffle(rest)
    return rest


def _flips(chance: Stream) -> tuple[bool, bool]:
    return chance.random() < 0.5, chance.random() < 0.5


def _index(pairs: tuple[list[Pair], list[Pair]], chance: Stream) -> int:
    """Return 1 to ask about a pair that is also in a fact, or 0; random if both are possible."""
    return int(chance.random() < DIRECT) if all(pairs) else int(not pairs[0])


TASKS = (Sizes(),)
