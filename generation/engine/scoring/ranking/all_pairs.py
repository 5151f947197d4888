"""All pairs of several methods, compared on the same questions, and an interval of ranks for each method.

The test of a pair is that of `comparison.compare`, with Holm's correction over all pairs. A method's best possible rank
is one more than the number of methods that are significantly better. Its worst possible rank is the number of methods
minus the number of those that are significantly worse. With a probability of at least 95 %, no pair is called different
in the wrong direction; then all intervals contain the true ranks of their methods.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.comparison import (
    MCNEMAR,
    PERMUTATION,
    MethodComparison,
    PairedShares,
    Runs,
    RunShares,
    holm,
    shares_of,
)
from generation.engine.scoring.figures import LEVEL

AT_ONCE = 2**15  # questions whose shares are multiplied at once


class RankInterval(NamedTuple):
    """The ranks that no significant difference excludes; 1 is the best. Methods with equal accuracies share `rank`."""

    rank: int
    low: int
    high: int


class AllPairs(NamedTuple):
    """The comparison of every two methods on the same `n` questions.

    Attributes
    ----------
    n : int
    accuracies : tuple of float
        The mean share of correct answers of each method, 0 .. 1.
    pairs : mapping of (int, int) to MethodComparison
        The key has the positions of both methods, the lower one first. `adjusted` is `p` after Holm's correction.
    ranks : tuple of RankInterval
        The interval of each method.
    test : str
        The name of the test that gives `p`: McNemar's test if all methods have one run.
    """

    n: int
    accuracies: tuple[float, ...]
    pairs: Mapping[tuple[int, int], MethodComparison]
    ranks: tuple[RankInterval, ...]
    test: str


def compare_all(
    methods: Sequence[Runs],
    answers: NDArray[np.integer],
    *,
    among: NDArray[np.bool_] | None = None,
    least: int = 1,
) -> AllPairs:
    """Return the comparison of every two methods on the same questions, with Holm's correction over all pairs.

    Parameters
    ----------
    methods : sequence of sequences of arrays (questions,)
        The runs of each method, at least one each, in the form of `score`'s predictions.
    answers : array (questions,)
    among : array (questions,) of bool, or None
        The questions to use; None for all.
    least : int
        With fewer questions there are neither intervals nor tests.

    References
    ----------
    Holm 1979, A simple sequentially rejective multiple test procedure. Mogstad, Romano, Shaikh and Wilhelm 2024,
    Inference for ranks with applications to mobility across neighbourhoods and academic achievement across countries,
    section 3.
    """
    shares = [shares_of(runs, answers) for runs in methods]
    counts = _joint_counts(shares, among)
    found: dict[tuple[int, int], MethodComparison] = {}
    tests = set()
    for first, one in enumerate(shares):
        for second in range(first + 1, len(shares)):
            paired = PairedShares(one, shares[second])
            found[first, second] = paired.compare_counts(counts[first, second], least=least)
            tests.add(paired.test)
    adjusted = holm([one.p for one in found.values()])
    pairs = {key: one._replace(adjusted=p) for (key, one), p in zip(found.items(), adjusted, strict=True)}
    n = len(answers) if among is None else int(among.sum())
    accuracies = tuple(_accuracy(one, among) for one in shares)
    test = PERMUTATION if PERMUTATION in tests else MCNEMAR
    return AllPairs(n, accuracies, pairs, rank_intervals(len(shares), pairs), test)


def rank_intervals(
    methods: int, pairs: Mapping[tuple[int, int], MethodComparison], *, level: float = LEVEL
) -> tuple[RankInterval, ...]:
    """Return the interval of ranks of each method; all intervals together contain the true ranks at this level.

    Parameters
    ----------
    methods : int
    pairs : mapping of (int, int) to MethodComparison
        The comparison of every two methods, with p-values that are adjusted for all pairs.
    level : float
    """
    ranks, lows, highs = [1] * methods, [1] * methods, [methods] * methods
    for (first, second), one in pairs.items():
        difference = round(one.difference, 12)
        if not difference:
            continue
        ahead, behind = (first, second) if difference > 0 else (second, first)
        ranks[behind] += 1
        if one.adjusted < 1 - level:
            lows[behind] += 1
            highs[ahead] -= 1
    return tuple(map(RankInterval, ranks, lows, highs))


def _accuracy(one: RunShares, among: NDArray[np.bool_] | None) -> float:
    codes = one.codes if among is None else one.codes[among]
    return float(np.bincount(codes, minlength=len(one.values)) @ one.values) / max(1, len(codes))


def _joint_counts(
    shares: Sequence[RunShares], among: NDArray[np.bool_] | None
) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Return the number of questions with each pair of shares, for every two methods, flattened.

    One matrix product counts all pairs: a row of the matrix marks the questions with one share of one method.
    """
    codes = [one.codes if among is None else one.codes[among] for one in shares]
    starts = np.cumsum([0, *(len(one.values) for one in shares)])
    total = np.zeros((starts[-1], starts[-1]), np.int64)
    questions = len(codes[0]) if codes else 0
    for first in range(0, questions, AT_ONCE):
        size = min(AT_ONCE, questions - first)
        has = np.zeros((starts[-1], size), np.float32)  # exact: no count reaches 2 ** 24
        for start, own in zip(starts, codes, strict=False):
            has[start + own[first : first + size], np.arange(size)] = 1
        total += (has @ has.T).astype(np.int64)
    return {
        (one, two): total[starts[one] : starts[one + 1], starts[two] : starts[two + 1]].ravel()
        for one in range(len(codes))
        for two in range(one + 1, len(codes))
    }
