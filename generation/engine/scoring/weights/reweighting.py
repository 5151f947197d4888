"""Weighted accuracy: by the inverse of train frequencies, or by weights that are given to slices.

With weights by train frequencies, rare and frequent values count equally.

References
----------
Bingham et al. 2017, Characterizing how Visual Question Answering models scale with the world, equation 1.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.figures import LEVEL, Interval, wilson
from generation.engine.scoring.weights.proportional_fitting import fit_margins

DECIMALS = 6  # of a number of questions; it is rounded so that 29.999999999999996 is 30 questions


class ReweightedAccuracy(NamedTuple):
    """A reweighted accuracy.

    Attributes
    ----------
    share : float
        0 .. 1.
    interval : Interval
        Wilson's interval for `effective` questions.
    n : int
        The number of questions that count.
    effective : float
        The number of equally weighted questions that would be as informative. With weights of questions (Kish), it is
        at most `n`; with weights of slices, whose sizes are fixed, it may be larger.
    unseen : int
        The number of questions that have no weight and do not count, such as those with values that train lacks.
    """

    share: float
    interval: Interval
    n: int
    effective: float
    unseen: int


def inverse_frequencies(
    codes: Sequence[NDArray[np.integer]], train_counts: Sequence[NDArray[np.integer]], *, are_different: bool = False
) -> NDArray[np.float64]:
    """Return the weight of each question: the inverse of the expected frequency of its values in the train split.

    The expected frequency is the product of the shares of the values, as in the paper. If the two values of a question
    always differ, the products are scaled so that pairs of different values have the same margins.

    Parameters
    ----------
    codes : sequence of arrays (questions,) of integers
        For each facet, the value of each question. Codes outside 0 .. values - 1 mean that there is no value.
    train_counts : sequence of arrays (values,) of integers
        For each facet, how many questions of the train split have each value.
    are_different : bool
        Whether there are two facets with the same values, which are different in each question.

    Returns
    -------
    (questions,) float64
        0 for a question without a value, or with a value that the train split does not have.
    """
    shares = [np.append(counts / max(counts.sum(), 1), 0.0) for counts in train_counts]
    places = [
        np.where((own >= 0) & (own < len(counts)), own, len(counts)).astype(np.int64)
        for own, counts in zip(codes, train_counts, strict=True)
    ]
    if are_different:
        expected = fit_margins(*shares, possible=~np.eye(len(shares[0]), dtype=bool))[places[0], places[1]]
    else:
        expected = np.prod([own[place] for own, place in zip(shares, places, strict=True)], axis=0)
    return np.divide(1.0, expected, out=np.zeros(len(places[0])), where=expected > 0)


def reweighted_accuracy(
    is_right: NDArray[np.bool_] | NDArray[np.float64], weights: NDArray[np.float64]
) -> ReweightedAccuracy | None:
    """Return the weighted accuracy of predictions; None if no question has a weight.

    Parameters
    ----------
    is_right : (questions,) bool or float64
        From `score.right_of`.
    weights : (questions,) float64
        From `inverse_frequencies`.
    """
    counted = weights > 0
    total = float(weights.sum())
    if not counted.any():
        return None
    share = min(max(float((weights * is_right).sum()) / total, 0.0), 1.0)
    effective = round(total**2 / float((weights**2).sum()), DECIMALS)
    whole = max(int(effective), 1)
    n = int(counted.sum())
    return ReweightedAccuracy(share, wilson(share * whole, whole), n, effective, len(weights) - n)


def accuracy_of_slices(
    n: NDArray[np.float64], rights: NDArray[np.float64], weights: NDArray[np.float64]
) -> list[ReweightedAccuracy]:
    """Return the mean accuracy over disjoint slices, each with its weight, for each run of a method.

    The interval is Wilson's for the number of questions that would give the stratified variance: the sum over slices of
    the squared weight times p (1 - p) / n, where p is the centre of Wilson's interval of the slice. As for other
    accuracies of several runs, p is the mean over runs, so that all runs have the same number.

    Parameters
    ----------
    n : (slices,) float64
        The number of questions of each slice, at least 1 if it has a weight.
    rights : (runs, slices) float64
        The number of right answers of each run; for guesses the expected number.
    weights : (slices,) float64
        At least 0; their sum must be greater than 0.

    References
    ----------
    Cochran 1977, Sampling techniques, chapter 5.
    """
    counted = weights > 0
    sizes, parts = n[counted], weights[counted] / weights.sum()
    squared = NormalDist().inv_cdf(0.5 + LEVEL / 2) ** 2
    centres = (rights[:, counted].mean(axis=0) + squared / 2) / (sizes + squared)
    variance = float((parts**2 * centres * (1 - centres) / sizes).sum())
    centre = float((parts * centres).sum())
    effective = round(centre * (1 - centre) / variance, DECIMALS)
    whole = max(int(effective), 1)
    total = int(n[counted].sum())
    found = []
    for right in rights[:, counted]:
        share = min(max(float((parts * right / sizes).sum()), 0.0), 1.0)
        found.append(ReweightedAccuracy(share, wilson(share * whole, whole), total, effective, int(n.sum()) - total))
    return found
