"""Nearest questions by their words: the highest share of words in common.

Two questions are as near as the words they share are many among the words of either (Jaccard 1901); a word counts once,
however often it occurs. Of questions as near, the first one counts. Shares are compared as fractions, exactly.

Questions of the same words are looked at once. Sketches of 128 bits say how many words two bags share at most: exactly
how many where no more words than that are known, and few too many elsewhere, since only rare words share their bit with
another. Bags are looked through by size, outwards from that of the one asked for, while a size can still hold a nearer
one than was found.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

HALF = 64  # bits of a sketch
SALT = 1901  # the seed of the numbers by which equal bags are found

Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]


class Bags(NamedTuple):
    """The different words of questions: a bag each.

    Attributes
    ----------
    starts : array (questions + 1,) of int64
        Where each question's words start.
    codes : array of uint32
        Words, question after question, ascending within each.
    sizes : array (questions,) of int64
        How many words a question has, those without a code too.
    """

    starts: Ints
    codes: NDArray[np.uint32]
    sizes: Ints


class Sorted(NamedTuple):
    """Bags as they are looked through.

    Attributes
    ----------
    bags : Bags
    order : array (different bags,) of int64
        The first question that has each, by size, then by position.
    by_size : array (largest size + 2,) of int64
        Where in `order` each size starts.
    low, high : arrays (different bags,) of uint64
        The halves of their sketches.
    """

    bags: Bags
    order: Ints
    by_size: Ints
    low: Bits
    high: Bits


class Best(NamedTuple):
    """The nearest question so far: its position, how many words it shares, and how many either has."""

    position: int
    common: int
    either: int


def bags_of(postings: Sequence[NDArray[np.uint32]], *, questions: int, sizes: Ints | None = None) -> Bags:
    """Return the bags of so many questions.

    Parameters
    ----------
    postings : sequence of arrays
        For each word the positions of the questions that have it.
    questions : int
    sizes : array (questions,) of int64, optional
        How many words each question has, where `postings` leaves some out.
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


def grouped(bags: Bags, places: Ints) -> tuple[Ints, Ints]:
    """Return the first question of each group that has the same words, and the number of each question's group.

    `places` are the questions meant, ascending. Should two bags look alike by accident, a group may come twice.
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
    """Questions among which the nearest one is looked for."""

    def __init__(self, bags: Bags, usable: NDArray[np.bool_], *, words: int) -> None:
        """Sort bags for being looked through.

        Parameters
        ----------
        bags : Bags
        usable : array (questions,) of bool
            Which questions may be named.
        words : int
            How many words have a code.
        """
        often = np.bincount(bags.codes, minlength=words)
        self.bits = np.empty(words, dtype=np.uint8)
        self.bits[np.argsort(-often, kind="stable")] = np.arange(words) % (2 * HALF)
        firsts = np.sort(grouped(bags, np.flatnonzero(usable))[0])
        order = firsts[np.argsort(bags.sizes[firsts], kind="stable")]
        by_size = np.searchsorted(bags.sizes[order], np.arange(int(bags.sizes.max(initial=0)) + 2))
        self.sorted = Sorted(bags, order, by_size, *_sketches(bags, order, self.bits))

    def nearest(self, asked: Bags, places: Ints) -> Ints:
        """Return the position of the nearest question for each of those asked at `places`; -1 where none may be named.

        Words have the codes that they have here.
        """
        if not len(self.sorted.order):
            return np.full(len(places), -1, dtype=np.int64)
        found: Ints = _nearest(self.sorted, asked, places, *_sketches(asked, places, self.bits))
        return found


@njit(cache=True)
def _hashes(bags: Bags, places: Ints, salt: Bits) -> Bits:
    """Return for each place a number that is the same for the same words, and hardly ever for others."""
    found = np.empty(len(places), dtype=np.uint64)
    for row, place in enumerate(places):
        total = np.uint64(bags.sizes[place])
        for at in range(bags.starts[place], bags.starts[place + 1]):
            total += salt[bags.codes[at]]
        found[row] = total
    return found


@njit(cache=True)
def _begins(bags: Bags, places: Ints, hashes: Bits) -> NDArray[np.bool_]:
    """Return for each place, ordered by hash, whether its bag is another than that of the place before."""
    found = np.ones(len(places), dtype=np.bool_)
    for row in range(1, len(places)):
        if hashes[row] == hashes[row - 1]:
            one, other = _words(bags, places[row - 1]), _words(bags, places[row])
            same_size = bags.sizes[places[row - 1]] == bags.sizes[places[row]]
            found[row] = not same_size or len(one) != len(other) or _shared(one, other) != len(one)
    return found


@njit(cache=True)
def _sketches(bags: Bags, places: Ints, bits: NDArray[np.uint8]) -> tuple[Bits, Bits]:
    """Return both halves of each place's sketch, in which the bits of its words are set."""
    low, high = np.zeros(len(places), dtype=np.uint64), np.zeros(len(places), dtype=np.uint64)
    for row, place in enumerate(places):
        for code in _words(bags, place):
            half = low if bits[code] < HALF else high
            half[row] |= np.uint64(1) << np.uint64(bits[code] % HALF)
    return low, high


@njit(cache=True)
def _nearest(known: Sorted, asked: Bags, places: Ints, low: Bits, high: Bits) -> Ints:
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
    """Return whether a bag of `other` words may be as near as the best one."""
    most = min(len(words), other)
    return most * best.either >= best.common * (size + other - most)


@njit(cache=True)
def _of_size(
    known: Sorted, other: int, words: NDArray[np.uint32], size: int, low: np.uint64, high: np.uint64, best: Best
) -> Best:
    """Return the best after those with `other` words were looked through."""
    slack = len(words) - _ones(low) - _ones(high)  # words whose bit another of them sets too
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
    """Return how many words two bags of `both` words must share to replace the best; a later one must be nearer."""
    level, whole = best.common * both, best.common + best.either
    return level // whole + 1 if is_later else -(-level // whole)


@njit(cache=True)
def _words(bags: Bags, place: int) -> NDArray[np.uint32]:
    return bags.codes[bags.starts[place] : bags.starts[place + 1]]


@njit(cache=True)
def _shared(some: NDArray[np.uint32], others: NDArray[np.uint32]) -> int:
    """Return how many codes two ascending arrays share."""
    i = j = count = 0
    while i < len(some) and j < len(others):
        count += some[i] == others[j]
        i, j = i + (some[i] <= others[j]), j + (some[i] >= others[j])
    return count


@njit(cache=True)
def _ones(bits: np.uint64) -> np.int64:
    """Return how many bits are set; compilers know this pattern and make it one instruction (Warren 2012, 5-1)."""
    pairs = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bytes_ = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bytes_ * np.uint64(0x0101010101010101)) >> np.uint64(56))
