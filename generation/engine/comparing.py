"""Two methods on identical questions: by how much one is better, and how sure that is.

Each method has one or several runs; of several, a question counts as right by the share of runs that have it right.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.score import Slicing, right_of, tally
from generation.engine.statistics import LEVEL, RESAMPLES, Interval

Runs = Sequence[NDArray[np.integer]]


def mcnemar(first: int, second: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided.

    Parameters
    ----------
    first, second : int
        How many questions one has right and the other wrong, and the other way round.

    Returns
    -------
    float
        How often a fair coin, thrown once for each of them, falls at least as unevenly.

    References
    ----------
    McNemar 1947, Note on the sampling error of the difference between correlated proportions or percentages.
    """
    n, least = first + second, min(first, second)
    if 2 * least == n:
        return 1.0
    log_last = math.lgamma(n + 1) - math.lgamma(least + 1) - math.lgamma(n - least + 1) - n * math.log(2)
    below = np.arange(least, 0, -1, dtype=np.float64)
    ratios = np.cumprod(below / (n - below + 1))  # of each smaller count's chance to that of `least`
    return min(1.0, 2 * math.exp(log_last) * (1 + float(ratios.sum())))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for there being several, in the same order.

    References
    ----------
    Holm 1979, A simple sequentially rejective multiple test procedure.
    """
    adjusted = [1.0] * len(values)
    most = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        most = max(most, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = most
    return adjusted


class Compared(NamedTuple):
    """Two methods on the same `n` questions.

    Attributes
    ----------
    n : int
    first, second : float
        The mean shares of right answers, 0 .. 1; 0 of no question.
    only_first, only_second : int
        How many questions more of the one's runs have right than of the other's, by share.
    interval : Interval
        Of `difference`, by paired bootstrap.
    p : float
        McNemar's exact test; with several runs the sign test that it then becomes.
    adjusted : float
        `p` after Holm, over the slices of a facet.
    """

    n: int
    first: float
    second: float
    only_first: int
    only_second: int
    interval: Interval
    p: float
    adjusted: float

    @property
    def difference(self) -> float:
        """Return by how much the first one is better, -1 .. 1."""
        return self.first - self.second


class Comparison(NamedTuple):
    """Two methods compared: over all questions, and for each value of each facet."""

    whole: Compared
    facets: Mapping[str, tuple[Compared, ...]]


def compare(
    first: Runs,
    second: Runs,
    answers: NDArray[np.integer],
    slicings: Mapping[str, Slicing],
    *,
    among: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> Comparison:
    """Return two methods compared on identical questions, with Holm over the slices of each facet.

    Parameters
    ----------
    first, second : sequences of arrays (questions,)
        The runs of each method, as `score` takes predictions; at least one each.
    answers : array (questions,)
    slicings : mapping of str to Slicing
    among : array (questions,) of bool, or None
        Only these questions are looked at: those that both were asked.
    seed : int
        The same seed gives the same intervals.
    """
    paired = _Paired(first, second, answers)
    whole = Slicing(np.zeros(len(answers), np.uint8), 1)
    [overall] = paired.compared(whole, among=among, seed=seed)
    facets = {name: paired.compared(one, among=among, seed=seed) for name, one in slicings.items()}
    return Comparison(overall, facets)


class _Paired:
    """By how many runs of both methods each question is answered rightly: one code for each such pair of counts."""

    def __init__(self, first: Runs, second: Runs, answers: NDArray[np.integer]) -> None:
        one, two = (sum(right_of(run, answers).astype(np.uint32) for run in runs) for runs in (first, second))
        wide = len(second) + 1
        self.slicing = Slicing(np.asarray(one * wide + two, np.uint32), (len(first) + 1) * wide)
        codes = np.arange(self.slicing.values)
        self.first, self.second = codes // wide / len(first), codes % wide / len(second)
        ahead = codes // wide * len(second) - codes % wide * len(first)
        self.signs = np.sign(ahead)
        found, self.steps = np.unique(ahead, return_inverse=True)
        self.differences = found / (len(first) * len(second))

    def compared(self, by: Slicing, *, among: NDArray[np.bool_] | None, seed: int) -> tuple[Compared, ...]:
        found = [self._slice(counts, seed=seed) for counts in tally(by, self.slicing, among=among)]
        asked = [one for one in found if one.n]
        adjusted = iter(holm([one.p for one in asked]))
        return tuple(one._replace(adjusted=next(adjusted)) if one.n else one for one in found)

    def _slice(self, counts: NDArray[np.int64], *, seed: int) -> Compared:
        n = int(counts.sum())
        if not n:
            return Compared(0, 0.0, 0.0, 0, 0, Interval(-1.0, 1.0), 1.0, 1.0)
        better, worse = (int(counts[self.signs == sign].sum()) for sign in (1, -1))
        p = mcnemar(better, worse)
        one, two = (float(counts @ shares) / n for shares in (self.first, self.second))
        return Compared(n, one, two, better, worse, self._bootstrap(counts, n, seed=seed), p, p)

    def _bootstrap(self, counts: NDArray[np.int64], n: int, *, seed: int) -> Interval:
        """Return the percentile interval of the difference, questions drawn anew.

        Questions with one difference are alike, so drawing how many there are of each is drawing them one by one.
        """
        alike = np.bincount(self.steps, counts)
        there = np.flatnonzero(alike)
        random = np.random.Generator(np.random.PCG64(seed))
        drawn = random.multinomial(n, alike[there] / n, size=RESAMPLES) @ self.differences[there] / n
        low, high = np.quantile(drawn, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
        return Interval(float(low), float(high))
