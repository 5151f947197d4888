"""Comparing two methods on the same questions: the difference in accuracy and its uncertainty.

Each method has one or several runs. With several runs, the score of a question is the share of runs that answer it
correctly. Therefore the bootstrap (for the interval) and the test resample only questions, not runs.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.figures import LEVEL, Interval
from generation.engine.scoring.score import Slicing, right_of, tally
from generation.engine.scoring.statistics import RESAMPLES

Runs = Sequence[NDArray[np.integer]]
MCNEMAR, PERMUTATION = "McNemar’s exact test", "paired permutation test"
REACH = 10  # standard deviations beyond which the probability of a sum is taken to be zero
MOST_TERMS = 2**23  # cosines of an exact distribution; a distribution that needs more is taken to be normal
LEAST_LOG = -60.0  # a value of a characteristic function with a smaller logarithm is taken to be zero


def mcnemar(first: int, second: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided.

    Parameters
    ----------
    first, second : int
        The number of questions that only the first method answers correctly, and that only the second does.

    Returns
    -------
    float
        The probability that as many fair coin flips are at least as uneven.

    References
    ----------
    McNemar 1947, Note on the sampling error of the difference between correlated proportions or percentages.
    """
    n, least = first + second, min(first, second)
    if 2 * least == n:
        return 1.0
    log_last = math.lgamma(n + 1) - math.lgamma(least + 1) - math.lgamma(n - least + 1) - n * math.log(2)
    below = np.arange(least, 0, -1, dtype=np.float64)
    ratios = np.cumprod(below / (n - below + 1))  # probability of each smaller count relative to that of `least`
    return min(1.0, 2 * math.exp(log_last) * (1 + float(ratios.sum())))


def permutation_test(steps: NDArray[np.int64] | NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """Return the two-sided p-value of the paired permutation test. With one size of difference, it is McNemar's.

    Parameters
    ----------
    steps : array (differences,)
        The lead of one method on a question, in any unit; integers if the unit allows it.
    counts : array (differences,)
        The number of questions with each lead.

    Returns
    -------
    float
        The probability of a sum at least as far from 0 if the two methods are swapped at random on each question.

    References
    ----------
    Pitman 1937, Significance tests which may be applied to samples from any populations.
    """
    there = (counts > 0) & (steps != 0)
    steps, counts = steps[there], counts[there]
    sizes, places = np.unique(np.abs(steps), return_inverse=True)
    if len(sizes) <= 1:
        return mcnemar(int(counts[steps > 0].sum()), int(counts[steps < 0].sum()))
    total, each = abs(steps @ counts), np.bincount(places, counts).astype(np.int64)
    variance = float(sizes.astype(np.float64) ** 2 @ each)
    reach = _reach_of(variance, widest=int(sizes.max()))
    if not np.issubdtype(steps.dtype, np.integer) or reach * len(sizes) > MOST_TERMS:
        return math.erfc(total / math.sqrt(2 * variance))
    if total > reach:
        return 0.0
    t = _frequencies(reach)
    cosines = np.cos(np.outer(t, sizes))
    with np.errstate(divide="ignore"):
        is_large = np.log(np.abs(cosines)) @ each > LEAST_LOG
    product = np.zeros(len(t), complex)
    product[is_large] = np.prod(cosines[is_large] ** each, axis=1)
    chances = _sums(product, t, first=-reach)
    return min(1.0, 2 * float(chances[: reach - total + 1].sum())) if total else 1.0


def _reach_of(variance: float, *, widest: int) -> int:
    return math.ceil(REACH * math.sqrt(variance)) + widest


def _frequencies(reach: int) -> NDArray[np.float64]:
    size = 2 ** math.ceil(math.log2(2 * reach + 2))
    return 2 * math.pi * np.arange(size // 2 + 1) / size


def _sums(characteristic: NDArray[np.complex128], t: NDArray[np.float64], *, first: int) -> NDArray[np.float64]:
    found = np.fft.irfft(np.conj(characteristic) * np.exp(1j * t * first), 2 * (len(t) - 1))
    return np.maximum(found, 0.0)


def holm(values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for multiple tests, in the same order.

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


class MethodComparison(NamedTuple):
    """The comparison of two methods on the same `n` questions.

    Attributes
    ----------
    n : int
    first, second : float
        The mean shares of correct answers, 0 .. 1; 0 without questions.
    only_first, only_second : int
        The number of questions with a higher score for the first method, and for the second.
    interval : Interval
        The paired bootstrap interval of `difference`; from -1 to 1 for too few questions.
    p : float
        The p-value of the paired permutation test; with one run each, of McNemar's exact test.
    adjusted : float
        `p` with Holm's correction over the slices of a facet that have enough questions.
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
        """Return the lead of the first method, -1 .. 1."""
        return self.first - self.second

    def swapped(self) -> Self:
        """Return the comparison of the second method with the first one."""
        low, high = self.interval
        return self._replace(
            first=self.second,
            second=self.first,
            only_first=self.only_second,
            only_second=self.only_first,
            interval=Interval(-high, -low),
        )


class Comparison(NamedTuple):
    """The comparison of two methods on all questions and on each facet value; `test` names the test of `p`."""

    whole: MethodComparison
    facets: Mapping[str, tuple[MethodComparison, ...]]
    test: str


def compare(
    first: Runs,
    second: Runs,
    answers: NDArray[np.integer],
    slicings: Mapping[str, Slicing],
    *,
    among: NDArray[np.bool_] | None = None,
    least: int = 1,
) -> Comparison:
    """Return the comparison of two methods on the same questions, with Holm's correction within each facet.

    Parameters
    ----------
    first, second : sequences of arrays (questions,)
        The runs of each method, at least one each, in the form of `score`'s predictions.
    answers : array (questions,)
    slicings : mapping of str to Slicing
    among : array (questions,) of bool, or None
        The questions to use, such as those that both methods answered; None for all.
    least : int
        Slices with fewer questions get no interval, and do not count as tests.
    """
    one, two = shares_of(first, answers), shares_of(second, answers)
    paired = PairedShares(one, two)
    joint = Slicing(np.asarray(one.codes * len(two.values) + two.codes, np.uint32), len(one.values) * len(two.values))

    def compare_slices(by: Slicing) -> tuple[MethodComparison, ...]:
        found = [paired.compare_counts(counts, least=least) for counts in tally(by, joint, among=among)]
        adjusted = iter(holm([each.p for each in found if each.n >= least]))
        return tuple(each._replace(adjusted=next(adjusted)) if each.n >= least else each for each in found)

    [overall] = compare_slices(Slicing(np.zeros(len(answers), np.uint8), 1))
    return Comparison(overall, {name: compare_slices(by) for name, by in slicings.items()}, paired.test)


class RunShares(NamedTuple):
    """The share of correct runs of a method for each question.

    Attributes
    ----------
    values : array (shares,) of float64
        The different shares, 0 .. 1.
    codes : array (questions,) of uint32
        The position of each question's share in `values`.
    runs : int
    is_counted : bool
        Whether each share is a count of correct runs; with guesses it is an expected share.
    """

    values: NDArray[np.float64]
    codes: NDArray[np.uint32]
    runs: int
    is_counted: bool


def shares_of(runs: Runs, answers: NDArray[np.integer]) -> RunShares:
    """Return the share of correct runs of a method for each question.

    Parameters
    ----------
    runs : sequence of arrays (questions,)
        At least one, in the form of `score`'s predictions.
    answers : array (questions,)
    """
    rights = [right_of(run, answers) for run in runs]
    if all(one.dtype == np.bool_ for one in rights):
        counts = sum(one.astype(np.uint32) for one in rights)
        return RunShares(np.arange(len(runs) + 1) / len(runs), np.asarray(counts, np.uint32), len(runs), True)
    values, codes = np.unique(np.mean(rights, axis=0).round(12), return_inverse=True)
    return RunShares(values, codes.astype(np.uint32), len(runs), False)


class PairedShares:
    """The possible pairs of shares of two methods, from which questions are compared by how many have each pair.

    Parameters
    ----------
    one, two : RunShares
    """

    def __init__(self, one: RunShares, two: RunShares) -> None:
        self.has_guesses = not (one.is_counted and two.is_counted)
        self.test = MCNEMAR if one.runs == two.runs == 1 and not self.has_guesses else PERMUTATION
        self.first, self.second = np.repeat(one.values, len(two.values)), np.tile(two.values, len(one.values))
        differences = (self.first - self.second).round(12)
        self.ahead: NDArray[np.int64] | NDArray[np.float64] = differences
        self.unit = 1
        if not self.has_guesses:
            self.unit = math.lcm(one.runs, two.runs)
            self.ahead = np.rint(differences * self.unit).astype(np.int64)
        self.signs = np.sign(self.ahead)
        self.steps, firsts, self.places = np.unique(self.ahead, return_index=True, return_inverse=True)
        self.differences = differences[firsts]

    def compare_counts(self, counts: NDArray[np.int64], *, least: int = 1) -> MethodComparison:
        """Return the comparison of both methods on some questions; `adjusted` is `p`.

        Parameters
        ----------
        counts : array (shares of the first * shares of the second,)
            The number of questions with each pair of shares, the share of the second method running fastest.
        least : int
            Fewer questions get neither an interval nor a test.
        """
        n = int(counts.sum())
        if not n:
            return MethodComparison(0, 0.0, 0.0, 0, 0, Interval(-1.0, 1.0), 1.0, 1.0)
        better, worse = (int(counts[self.signs == sign].sum()) for sign in (1, -1))
        one, two = (float(counts @ shares) / n for shares in (self.first, self.second))
        if n < least:
            return MethodComparison(n, one, two, better, worse, Interval(-1.0, 1.0), 1.0, 1.0)
        p = permutation_test(self.ahead, counts)
        return MethodComparison(n, one, two, better, worse, self._bootstrap(counts, n), p, p)

    def _bootstrap(self, counts: NDArray[np.int64], n: int) -> Interval:
        """Return the percentile bootstrap interval of the difference.

        It is exact, except for predictions with guesses, and for so many different differences that it is normal.
        Questions with the same difference are interchangeable, so it is enough to resample how many there are of each.
        """
        alike = np.bincount(self.places, counts)
        there = np.flatnonzero(alike)
        if self.has_guesses:
            random = np.random.Generator(np.random.PCG64(0))
            drawn = random.multinomial(n, alike[there] / n, size=RESAMPLES) @ self.differences[there] / n
            low, high = np.quantile(drawn, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
            return Interval(float(low), float(high))
        ends = _resampled(np.asarray(self.steps[there], np.int64), alike[there] / n, n)
        return Interval(*(end / self.unit / n for end in ends))


def _resampled(steps: NDArray[np.int64], shares: NDArray[np.float64], n: int) -> tuple[int, int]:
    """Return the percentile interval of a sum of n steps that are drawn with these probabilities."""
    mean = float(steps @ shares)
    variance = max(0.0, float(steps**2 @ shares) - mean**2)
    if len(steps) == 1:
        return n * int(steps[0]), n * int(steps[0])
    reach = _reach_of(n * variance, widest=int(np.abs(steps).max()))
    if reach * len(steps) > MOST_TERMS:
        normal = NormalDist(n * mean, math.sqrt(n * variance))
        return round(normal.inv_cdf(0.5 - LEVEL / 2)), round(normal.inv_cdf(0.5 + LEVEL / 2))
    t = _frequencies(reach)
    first = round(n * mean) - reach
    angles = np.outer(t, steps)
    one = np.cos(angles) @ shares + 1j * (np.sin(angles) @ shares)  # much faster than a complex exponential
    is_large = np.abs(one) > math.exp(LEAST_LOG / n)
    all_steps = np.zeros(len(t), complex)
    all_steps[is_large] = one[is_large] ** n
    chances = _sums(all_steps, t, first=first)
    low, high = np.searchsorted(np.cumsum(chances), [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return first + int(low), first + int(high)
