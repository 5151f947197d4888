"""What is bigger, and what fits inside what, concluded from other facts (task 18)."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

from generation.engine.program import Program, Step
from generation.engine.seeding import Stream
from generation.engine.worlds.babi.kinds import CONTENTS, SIZES
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.tasks.idling import idle
from generation.engine.worlds.babi.telling import Ask, ToldStory

BLOCK, MOST = 5, 15  # lines told together, and of a story as released
ONCE = 0.4  # of the lines of a block as released, about, those whose pair is not told again in it
GOES_ON = 0.02  # of the released data's stories, about, those with a second block though one could ask after the first
DIRECT = 0.4  # of questions where both are at hand, those that one line answers: 31 % of all, as in the released data

Pair = tuple[int, int]
"""A smaller and a larger thing, by their places in the order of sizes."""


class SizeFact(NamedTuple):
    """A pair, and whether it is said to fit rather than to be bigger."""

    pair: Pair
    fits: bool


@cache
def line(small: str, large: str, fits: bool) -> Line:
    """Return the line that compares two things."""
    if fits:
        return Line(f"The {small} fits inside the {large}.", (("fits", small, large),))
    return Line(f"The {large} is bigger than the {small}.", (("bigger", large, small),))


class Sizes:
    """Task 18: things of different sizes. Only pairs that facts order by a chain of several are asked about.

    By default no fact is told twice, there is one shortest chain, and the chocolate, which is smaller than all else, is
    not asked about. In data as released the box of chocolates comes second, so that most questions are answered by
    their words alone, some by one line; lines and questions may be repeated.
    """

    number, name, label = 18, "size-reasoning", "sizes"
    lengths: tuple[int, ...] = (5,)

    def tell(self, knobs: Knobs, chance: Stream, *, questions: int) -> ToldStory | None:
        order = self._order(knobs, chance)
        if knobs.faithful:
            facts, pairs = self._as_released(len(order), chance)
            asked = [(*chance.choice(pairs[_index(pairs, chance)]), *_flips(chance)) for _ in range(questions)]
        else:
            facts, found = self._clear(len(order), knobs, questions, chance)
            asked = self._each(found, questions, chance)
        lines = (*[line(order[small], order[large], fits) for (small, large), fits in facts], *idle(knobs, chance))
        return ToldStory(
            lines, tuple([self._ask(len(lines), order[a], order[b], fits, yes) for a, b, fits, yes in asked])
        )

    def answers(self, knobs: Knobs) -> tuple[str, ...]:
        return ("yes", "no")

    def _order(self, knobs: Knobs, chance: Stream) -> list[str]:
        """Return things by their sizes, the smallest first."""
        fixed = len(CONTENTS) if knobs.faithful else 1
        others = list(SIZES[fixed : max(knobs.sizes, knobs.steps + 3)])
        chance.shuffle(others)
        return [*SIZES[:fixed], *others]

    def _clear(self, things: int, knobs: Knobs, questions: int, chance: Stream) -> tuple[list[SizeFact], list[Pair]]:
        """Return facts, each pair told once, and the pairs to ask about."""
        count = BLOCK * -(-(things - 1) // BLOCK)
        chain = _chain(things, knobs.steps, chance)
        told = chain + _others(things, chain, chance)[: count - len(chain)]
        found = chained(told, knobs.steps)
        if 4 * len(found) < questions:
            told, found = self._carefully(things, knobs.steps, count, chance)
        chance.shuffle(told)
        return [SizeFact(pair, chance.random() < 0.5) for pair in told], found

    def _carefully(self, things: int, steps: int, count: int, chance: Stream) -> tuple[list[Pair], list[Pair]]:
        """Return the same of a longer chain, which orders two pairs, and of what leaves two to ask about."""
        told = _chain(things, steps + 1, chance)
        found = chained(told, steps)
        for pair in _others(things, told, chance):
            left = chained([*told, pair], steps)
            if len(left) > 1 and len(told) < count:
                told.append(pair)
                found = left
        return told, found

    def _as_released(self, things: int, chance: Stream) -> tuple[list[SizeFact], tuple[list[Pair], list[Pair]]]:
        """Return facts, by blocks until one may ask; and pairs that two of them order: not told, and told as well."""
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
        """Return different questions, yes as often as no: of which pair, whether one fits, and the answer."""
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


def chained(told: Iterable[Pair], steps: int) -> list[Pair]:
    """Return the pairs whose shortest chain is of so many facts, the only one of that length; none of the smallest."""
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
    """Return 1 for a pair that is told as well, as often as in the released data where there is a choice."""
    return int(chance.random() < DIRECT) if all(pairs) else int(not pairs[0])


TASKS = (Sizes(),)
