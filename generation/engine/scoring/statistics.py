"""Statistics of people's answers: intervals over questions and people, and how far people agree."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.answer_aggregation import VoteCounts, Votes, count_votes
from generation.engine.scoring.figures import LEVEL, Interval

RESAMPLES = 2000


class Shares(NamedTuple):
    """The intervals of people's accuracy: of majority votes, and of single answers."""

    majority: Interval
    single: Interval


def crossed_bootstrap(
    votes: Votes, truth: NDArray[np.int64], *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL
) -> Shares | None:
    """Return percentile intervals of accuracy, resampling both questions and people; None without answers.

    A person who is drawn twice votes twice. A tie is wrong. A question whose people were not drawn has no vote and does
    not count.

    Parameters
    ----------
    votes : Votes
    truth : array (votes.n,) of int64
        Codes of the correct answers.
    seed : int
        The same seed gives the same intervals.
    resamples : int
    level : float

    References
    ----------
    Owen 2007, The pigeonhole bootstrap. Its intervals tend to be slightly too wide.
    """
    if not len(votes.answers):
        return None
    random = np.random.Generator(np.random.PCG64(seed))
    asked, rows = np.unique(votes.questions, return_inverse=True)
    _, people = np.unique(votes.people, return_inverse=True)
    crowd = int(people.max()) + 1
    local = Votes(rows, people, votes.answers, len(asked))
    pairs = count_votes(local)
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
    return Shares(percentiles(majority, level), percentiles(single, level))


def _places(votes: Votes, pairs: VoteCounts) -> NDArray[np.int64]:
    width = int(votes.answers.max()) + 1
    return np.searchsorted(pairs.questions * width + pairs.answers, votes.questions * width + votes.answers)


class _Contest(NamedTuple):
    """The start of each question's pairs, the pairs that are correct answers, and the question of each pair."""

    starts: NDArray[np.int64]
    true: NDArray[np.int64]
    questions: NDArray[np.int64]


def _majority_share(votes: NDArray[np.float64], contest: _Contest, times: NDArray[np.float64]) -> float:
    """Return the share of questions whose correct answer has strictly the most votes, weighted by `times`."""
    mine = np.zeros(len(times))
    mine[contest.questions[contest.true]] = votes[contest.true]
    votes[contest.true] = 0.0
    others = np.maximum.reduceat(votes, contest.starts)
    total = (times * (np.maximum(mine, others) > 0)).sum()
    return float((times * (mine > others)).sum() / total) if total else math.nan


def percentiles(found: NDArray[np.float64], level: float) -> Interval:
    """Return the percentile interval of resampled figures, from 0 to 1 if there is none; NaN does not count."""
    known = found[~np.isnan(found)]
    if not len(known):
        return Interval(0.0, 1.0)
    low, high = np.quantile(known, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(float(low), float(high))


def krippendorff_alpha(votes: Votes) -> float | None:
    """Return Krippendorff's alpha for nominal answers: 1 for full agreement, 0 for agreement by chance.

    Questions with one answer do not count. None if there is nothing to compare or if all answers are the same.

    References
    ----------
    Krippendorff 2004, Content analysis, chapter 11: reliability of nominal data with missing values.
    """
    pairs = count_votes(votes)
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
