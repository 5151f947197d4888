"""Weighted choice, random orders that are drawn only as far as needed, and balanced counts."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from generation.engine.seeding import Stream

T = TypeVar("T")
SLACK = 2  # captions by which the head of a changed one may be ahead of others
ROUNDING = 1e-6  # tolerance for sums of steps


class WeightedNames:
    """Names with weights for random choice.

    Parameters
    ----------
    weights : mapping of str to float
        Names with weight 0 are never drawn.
    """

    __slots__ = ("_sums", "options", "weights")

    def __init__(self, weights: Mapping[Any, float]) -> None:
        self.options: list[str] = [option for option, weight in weights.items() if weight > 0]
        self.weights = [weight for weight in weights.values() if weight > 0]
        self._sums = list(accumulate(self.weights))

    def draw(self, random: Stream) -> str:
        """Return a random name, with probability in proportion to its weight."""
        if len(self.options) == 1:
            return self.options[0]
        place = bisect_right(self._sums, random.random() * self._sums[-1])
        return self.options[min(place, len(self.options) - 1)]

    def order(self, random: Stream) -> Iterator[str]:
        """Yield all names in random order: each next name is drawn by weight from those that remain."""
        first = self.draw(random)
        yield first
        left = {option: weight for option, weight in zip(self.options, self.weights, strict=True) if option != first}
        if left:
            yield from WeightedNames(left).order(random)


def shuffle(options: Sequence[T], random: Stream) -> Iterator[T]:
    """Yield the options in random order; all orders are equally likely."""
    left = list(options)
    while left:
        place = random.below(len(left))
        left[place], left[-1] = left[-1], left[place]
        yield left.pop()


class HeadCounter:
    """Counts how often each head was used, so that the least used heads come first.

    A head is for example a quantifier or a relation. Whatever microworlds allow, heads become as frequent as their
    weights say, among true captions and among false ones.

    Parameters
    ----------
    heads : mapping of str to float
        Heads with weight 0 are never used.
    """

    __slots__ = ("_shares", "_steps")

    def __init__(self, heads: Mapping[Any, float]) -> None:
        self._steps: dict[str, float] = {head: 1.0 / weight for head, weight in heads.items() if weight > 0}
        self._shares = dict.fromkeys(self._steps, 0.0)

    def order(self, random: Stream) -> Iterator[str]:
        """Yield the heads, the least used first; equally used heads come in random order."""
        left = list(self._shares)
        while left:
            least = min(map(self._shares.__getitem__, left)) + ROUNDING
            head = random.choice([one for one in left if self._shares[one] <= least]) if len(left) > 1 else left[0]
            left.remove(head)
            yield head

    def add(self, head: str) -> None:
        """Count a head that was used."""
        if head in self._steps:
            self._shares[head] += self._steps[head]

    def is_due(self, head: str) -> bool:
        """Return whether a head was used at most `SLACK` times more than the least used one, relative to its weight."""
        if head not in self._steps:
            return True
        return self._shares[head] <= min(self._shares.values()) + SLACK * self._steps[head]
