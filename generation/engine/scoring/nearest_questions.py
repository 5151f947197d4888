"""Nearest questions by words: the question with the largest share of common words.

The similarity of two questions is the number of words they share, divided by the number of words in either (Jaccard
1901). Repeated words count once. Among equally near questions the first one is taken. Shares are compared exactly, as
fractions.

Questions with the same words are treated together. A sketch of 128 bits bounds the number of words that two bags
share. The bound is exact if there are at most 128 words, and rarely too high otherwise, because only rare words share
their bit with another word. Bags are searched by size, outwards from the size of the given bag, as long as a size can
still contain a nearer one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.numba_compiler import njit

HALF = 64  # bits of a sketch
SALT = 1901  # seed of the random numbers by which equal bags are found

Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]


class Bags(NamedTuple):
    """The set of different words of each question, called a bag.

    Attributes
    ----------
    starts : array (questions + 1,) of int64
        Start of each question's words in `codes`.
    codes : array of uint32
        Words, question by question, ascending within each.
    sizes : array (questions,) of int64
        Number of words of each question, including words without a code.
    """

    starts: Ints
    codes: NDArray[np.uint32]
    sizes: Ints


class SortedBags(NamedTuple):
    """Bags in the order of the search.

    Attributes
    ----------
    bags : Bags
    order : array (different bags,) of int64
        The first question with each bag, sorted by size, then by position.
    by_size : array (largest size + 2,) of int64
        Start of each size in `order`.
    low, high : arrays (different bags,) of uint64
        The two halves of the sketches.
    """

    bags: Bags
    order: Ints
    by_size: Ints
    low: Bits
    high: Bits


class Best(NamedTuple):
    """The nearest question so far: its position, the number of shared words, and the number of words in either."""

    position: int
    common: int
    either: int


def bags_of(postings: Sequence[NDArray[np.uint32]], *, questions: int, sizes: Ints | None = None) -> Bags:
    """Return the bags of the questions.

    Parameters
    ----------
    postings : sequence of arrays
        For each word, the positions of the questions that contain it.
    questions : int
    sizes : array (questions,) of int64, optional
        Number of words of each question, if `postings` leaves out some words.
    """
    counts = np.zeros(questions, dtype=np.int64)
    for positions in postings:
        counts[positions] += 1
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    codes, ends = np.empty(starts[-1], dtype=np.uint32), starts[:-1].copy()
    for code, positions in enumerate(postings):
        codes[ends[positions]] = code
        ends[positions] += 1
    return Bags(starts, codes, counts if sizes is None else sizes)


def group_questions(bags: Bags, places: Ints) -> tuple[Ints, Ints]:
    """Return the first question of each group with the same words, and the group number of each question.

    `places` are the positions of the questions, ascending. If hashes collide, a group may occur twice.
    """
    chance = np.random.Generator(np.random.PCG64(SALT))
    salt = chance.integers(2**64, size=int(bags.codes.max(initial=0)) + 1, dtype=np.uint64)
    hashes = _hashes(bags, places, salt)
    order = np.argsort(hashes, kind="stable")
    begins = _begins(bags, places[order], hashes[order])
    numbers = np.empty(len(places), dtype=np.int64)
    numbers[order] = np.cumsum(begins) - 1
    return places[order[begins]], numbers


class KnownQuestions:
    """A set of questions in which the nearest question is searched."""

    def __init__(self, bags: Bags, usable: NDArray[np.bool_], *, words: int) -> None:
        """Prepare the search.

        Parameters
        ----------
        bags : Bags
        usable : array (questions,) of bool
            Which questions may be found.
        words : int
            Number of words that have a code.
        """
        often = np.bincount(bags.codes, minlength=words)
        self.bits = np.empty(words, dtype=np.uint8)
        self.bits[np.argsort(-often, kind="stable")] = np.arange(words) % (2 * HALF)
        firsts = np.sort(group_questions(bags, np.flatnonzero(usable))[0])
        order = firsts[np.argsort(bags.sizes[firsts], kind="stable")]
        by_size = np.searchsorted(bags.sizes[order], np.arange(int(bags.sizes.max(initial=0)) + 2))
        self.sorted = SortedBags(bags, order, by_size, *_sketches(bags, order, self.bits))

    def nearest(self, asked: Bags, places: Ints) -> Ints:
        """Return the position of the nearest question for each question at `places` of `asked`; -1 if there is none.

        Words in `asked` must have the same codes as here.
        """
        if not len(self.sorted.order):
            return np.full(len(places), -1, dtype=np.int64)
        found: Ints = _nearest(self.sorted, asked, places, *_sketches(asked, places, self.bits))
        return found


@njit(cache=True)
def _hashes(bags: Bags, places: Ints, salt: Bits) -> Bits:
    """Return a hash for each place: equal for equal words, and almost always different otherwise."""
    found = np.empty(len(places), dtype=np.uint64)
    for row, place in enumerate(places):
        total = np.uint64(bags.sizes[place])
        for at in range(bags.starts[place], bags.starts[place + 1]):
            total += salt[bags.codes[at]]
        found[row] = total
    return found


@njit(cache=True)
def _begins(bags: Bags, places: Ints, hashes: Bits) -> NDArray[np.bool_]:
    """Return for each place, sorted by hash, whether its bag differs from the bag of the place before."""
    found = np.ones(len(places), dtype=np.bool_)
    for row in range(1, len(places)):
        if hashes[row] == hashes[row - 1]:
            one, other = _words(bags, places[row - 1]), _words(bags, places[row])
            same_size = bags.sizes[places[row - 1]] == bags.sizes[places[row]]
            found[row] = not same_size or len(one) != len(other) or _shared(one, other) != len(one)
    return found


@njit(cache=True)
def _sketches(bags: Bags, places: Ints, bits: NDArray[np.uint8]) -> tuple[Bits, Bits]:
    """Return both halves of each place's sketch, with the bits of its words set."""
    low, high = np.zeros(len(places), dtype=np.uint64), np.zeros(len(places), dtype=np.uint64)
    for row, place in enumerate(places):
        for code in _words(bags, place):
            half = low if bits[code] < HALF else high
            half[row] |= np.uint64(1) << np.uint64(bits[code] % HALF)
    return low, high


@njit(cache=True)
def _nearest(known: SortedBags, asked: Bags, places: Ints, low: Bits, high: Bits) -> Ints:
    """Return the position of the nearest question for each place; `low` and `high` are the places' sketches."""
    found = np.empty(len(places), dtype=np.int64)
    first = known.order.min()
    for row, place in enumerate(places):
        words, size = _words(asked, place), asked.sizes[place]
        best = Best(first, 0, 1)
        middle = min(len(words), len(known.by_size) - 2)
        for step in (-1, 1):
            other = middle + max(step, 0)
            while 0 <= other <= len(known.by_size) - 2 and _may_hold(other, words, size, best):
                best = _of_size(known, other, words, size, low[row], high[row], best)
                other += step
        found[row] = best.position
    return found


@njit(cache=True)
def _may_hold(other: int, words: NDArray[np.uint32], size: int, best: Best) -> bool:
    most = min(len(words), other)
    return most * best.either >= best.common * (size + other - most)


@njit(cache=True)
def _of_size(
    known: SortedBags, other: int, words: NDArray[np.uint32], size: int, low: np.uint64, high: np.uint64, best: Best
) -> Best:
    """Return the best question after searching all bags of `other` words."""
    slack = len(words) - _ones(low) - _ones(high)  # words that share their bit with another word here
    needed = _needed(other + size, best, False)
    for at in range(known.by_size[other], known.by_size[other + 1]):
        if _ones(known.low[at] & low) + _ones(known.high[at] & high) + slack >= needed:
            place = known.order[at]
            shared = _shared(words, _words(known.bags, place))
            either = max(1, other + size - shared)
            gain = shared * best.either - best.common * either
            if gain > 0 or (gain == 0 and place < best.position):
                best = Best(place, shared, either)
            needed = _needed(other + size, best, place >= best.position)
    return best


@njit(cache=True)
def _needed(both: int, best: Best, is_later: bool) -> int:
    """Return how many words two bags of `both` words must share to replace the best. A later one must be nearer."""
    level, whole = best.common * both, best.common + best.either
    return level // whole + 1 if is_later else -(-level // whole)


@njit(cache=True)
def _words(bags: Bags, place: int) -> NDArray[np.uint32]:
    return bags.codes[bags.starts[place] : bags.starts[place + 1]]


@njit(cache=True)
def _shared(some: NDArray[np.uint32], others: NDArray[np.uint32]) -> int:
    """Return the number of codes that two ascending arrays share."""
    i = j = count = 0
    while i < len(some) and j < len(others):
        count += some[i] == others[j]
        i, j = i + (some[i] <= others[j]), j + (some[i] >= others[j])
    return count


@njit(cache=True)
def _ones(bits: np.uint64) -> np.int64:
    """Return the number of set bits. Compilers turn this pattern into one instruction (Warren 2012, 5-1)."""
    pairs = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bytes_ = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bytes_ * np.uint64(0x0101010101010101)) >> np.uint64(56))
