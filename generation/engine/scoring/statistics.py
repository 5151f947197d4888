"""The one set of intervals and measures of agreement: how sure a share is that was counted."""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.votes import VoteCounts, Votes, counted

LEVEL = 0.95
RESAMPLES = 2000
TOO_FEW = 30  # no share of fewer is shown, nor its interval: at half of 30 it is uncertain by 18 points


class Interval(NamedTuple):
    """From `low` to `high`, shares of 0 .. 1."""

    low: float
    high: float


def wilson(right: float, n: int, *, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval of a share.

    Parameters
    ----------
    right : float
        How many were right: a count, or the mean of several.
    n : int
        Of how many; of none, nothing is known: 0 .. 1.
    level : float
        How often such intervals hold the true share, 0 .. 1 exclusive.

    Raises
    ------
    ValueError
        Unless 0 <= right <= n.

    References
    ----------
    Wilson 1927, Probable inference, the law of succession, and statistical inference.
    """
    if not 0 <= right <= n:
        raise ValueError(f"Expected a count of 0 .. {n}, got {right}.")
    if n == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, weight = right / n, z * z / n
    middle = share + weight / 2
    reach = z * math.sqrt(share * (1 - share) / n + weight / (4 * n))
    low, high = ((middle + side * reach) / (1 + weight) for side in (-1, 1))
    return Interval(0.0 if right == 0 else max(0.0, low), 1.0 if right == n else min(1.0, high))


class Averaged(NamedTuple):
    """Of `n` questions, how many each of a method's runs had right, or is expected to have."""

    n: int
    rights: tuple[float, ...]

    @property
    def mean(self) -> float | None:
        """Return the mean share over runs, 0 .. 1; None of nothing."""
        return sum(self.rights) / len(self.rights) / self.n if self.n and self.rights else None

    @property
    def deviation(self) -> float | None:
        """Return the standard deviation over runs (of a sample: over one less than there are); None of one run."""
        if self.mean is None or len(self.rights) < 2:
            return None
        squares = sum((right / self.n - self.mean) ** 2 for right in self.rights)
        return math.sqrt(squares / (len(self.rights) - 1))

    @property
    def interval(self) -> Interval:
        """Return Wilson's interval of the mean share, of `n` questions."""
        return wilson(sum(self.rights) / max(1, len(self.rights)), self.n)


class Shares(NamedTuple):
    """Two headlines of people's answers: of majority votes, and of single answers."""

    majority: Interval
    single: Interval


def crossed_bootstrap(
    votes: Votes, truth: NDArray[np.int64], *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL
) -> Shares | None:
    """Return percentile intervals of accuracy over questions and people, both drawn with replacement; None of nothing.

    A person drawn twice votes twice. A tie is wrong; a question whose people were not drawn has no vote and does
    not count.

    Parameters
    ----------
    votes : Votes
    truth : array (votes.n,) of int64
        The right answers' codes.
    seed : int
        The same seed gives the same intervals.
    resamples : int
    level : float

    References
    ----------
    Owen 2007, The pigeonhole bootstrap, which finds such intervals rather too wide than too narrow.
    """
    if not len(votes.answers):
        return None
    random = np.random.Generator(np.random.PCG64(seed))
    asked, rows = np.unique(votes.questions, return_inverse=True)
    _, people = np.unique(votes.people, return_inverse=True)
    crowd = int(people.max()) + 1
    local = Votes(rows, people, votes.answers, len(asked))
    pairs = counted(local)
    places = _places(local, pairs)
    is_true = pairs.answers == truth[asked][pairs.questions]
    is_right = (votes.answers == truth[votes.questions]).astype(float)
    contest = _Contest(np.flatnonzero(np.diff(pairs.questions, prepend=-1)), np.flatnonzero(is_true), pairs.questions)
    majority, single = np.empty(resamples), np.empty(resamples)
    for number in range(resamples):
        times = np.bincount(random.integers(0, len(asked), len(asked)), minlength=len(asked)).astype(float)
        drawn = np.bincount(random.integers(0, crowd, crowd), minlength=crowd).astype(float)
        weights = drawn[people]
        votes_of = np.bincount(places, weights, len(pairs.times)).astype(float)
        majority[number] = _majority_share(votes_of, contest, times)
        both = weights * times[rows]
        total = both.sum()
        single[number] = (both * is_right).sum() / total if total else np.nan
    return Shares(_percentiles(majority, level), _percentiles(single, level))


def _places(votes: Votes, pairs: VoteCounts) -> NDArray[np.int64]:
    """Return for each answer where it stands among the pairs of question and answer."""
    width = int(votes.answers.max()) + 1
    return np.searchsorted(pairs.questions * width + pairs.answers, votes.questions * width + votes.answers)


class _Contest(NamedTuple):
    """Where each question's pairs begin, which pairs are the right answers, and which question each pair is of."""

    starts: NDArray[np.int64]
    true: NDArray[np.int64]
    questions: NDArray[np.int64]


def _majority_share(votes: NDArray[np.float64], contest: _Contest, times: NDArray[np.float64]) -> float:
    """Return the share of questions whose right answer alone has most votes, each counted so many times."""
    mine = np.zeros(len(times))
    mine[contest.questions[contest.true]] = votes[contest.true]
    votes[contest.true] = 0.0
    others = np.maximum.reduceat(votes, contest.starts)
    total = (times * (np.maximum(mine, others) > 0)).sum()
    return float((times * (mine > others)).sum() / total) if total else math.nan


def _percentiles(found: NDArray[np.float64], level: float) -> Interval:
    known = found[~np.isnan(found)]
    if not len(known):
        return Interval(0.0, 1.0)
    low, high = np.quantile(known, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(float(low), float(high))


def krippendorff_alpha(votes: Votes) -> float | None:
    """Return how far people agree beyond chance, 1 for wholly and 0 for chance, with answers as mere names.

    Questions with one answer don't count. None where nobody can be compared or all answers are the same.

    References
    ----------
    Krippendorff 2004, Content analysis, chapter 11: reliability of nominal data with missing values.
    """
    pairs = counted(votes)
    per_question = np.bincount(pairs.questions, pairs.times, votes.n)
    compared = per_question[pairs.questions] > 1
    times, of = pairs.times[compared], per_question[pairs.questions[compared]]
    total = times.sum()
    each = np.bincount(pairs.answers[compared], times)
    expected = total * total - (each * each).sum()
    if not expected:
        return None
    observed = (times * (of - times) / (of - 1)).sum()
    return float(1 - (total - 1) * observed / expected)
