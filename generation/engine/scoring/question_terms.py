"""Figures that are computed from sums over the questions of any slice, such as the RMSE, and their intervals.

Each question has some terms. The sums of the terms over the questions of a slice give the figure of the slice, so a
figure is defined for every slice, and is not the mean of figures of smaller slices.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.figures import LEVEL, Interval, wilson
from generation.engine.scoring.score import Slicing, layers
from generation.engine.scoring.statistics import RESAMPLES, percentiles

FEW = 500  # up to this number, questions are drawn one by one; for more, their sums are drawn from the normal limit

Combine = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class SlicedFigures(NamedTuple):
    """A figure for each value of a facet: `n` counted questions (int64) and the figure, NaN if there is none.

    Both have shape (values,).
    """

    n: NDArray[np.int64]
    figures: NDArray[np.float64]


class QuestionTerms(NamedTuple):
    """The terms of each question, and how their sums give a figure.

    Attributes
    ----------
    terms : array (questions, terms) of float64
        Not negative; 0 for a question that does not count.
    is_counted : array (questions,) of bool
    combine : function of an array (..., terms)
        Returns the figures (...) of these sums, NaN if a figure is not defined.
    is_share : bool
        Whether the figure is a share of the counted questions, so that it has Wilson's interval.
    """

    terms: NDArray[np.float64]
    is_counted: NDArray[np.bool_]
    combine: Combine
    is_share: bool = False

    def count(self, among: NDArray[np.bool_] | None = None) -> int:
        """Return the number of questions that count, out of those in `among` (questions,), or out of all."""
        return int(self._wanted(among).sum())

    def figure(self, among: NDArray[np.bool_] | None = None) -> float | None:
        """Return the figure of the questions in `among` (questions,), or of all; None if it is not defined."""
        found = float(self.combine(self.terms[self._wanted(among)].sum(axis=0)))
        return None if np.isnan(found) else found

    def slices(self, slicing: Slicing, *, among: NDArray[np.bool_] | None = None) -> SlicedFigures:
        """Return the figure for each value of a facet."""
        wanted = self._wanted(among)
        terms, codes = self.terms[wanted], slicing.codes[wanted]
        n, sums = np.zeros(slicing.values, np.int64), np.zeros((slicing.values, terms.shape[1]))
        for places in layers(slicing, codes):
            n += np.bincount(places, minlength=slicing.values + 1)[: slicing.values]
            for term, column in enumerate(terms.T):
                sums[:, term] += np.bincount(places, column, minlength=slicing.values + 1)[: slicing.values]
        return SlicedFigures(n, self.combine(sums))

    def interval(
        self, among: NDArray[np.bool_] | None = None, *, seed: int = 0, level: float = LEVEL
    ) -> Interval | None:
        """Return Wilson's interval for a share; for another figure, the percentile bootstrap interval over questions.

        None if the figure is not defined. The same seed gives the same interval.
        """
        figure, n = self.figure(among), self.count(among)
        if figure is None:
            return None
        if self.is_share:
            return wilson(figure * n, n, level=level)
        return percentiles(self.resample(among, seed=seed), level)

    def resample(
        self, among: NDArray[np.bool_] | None = None, *, seed: int = 0, resamples: int = RESAMPLES
    ) -> NDArray[np.float64]:
        """Return the figures (resamples,) of resamples of the counted questions, NaN where a figure is not defined.

        The sums of more than `FEW` questions are drawn from the normal distribution with the mean and the covariance
        that sums of resamples have.
        """
        random = np.random.Generator(np.random.PCG64(seed))
        terms = self.terms[self._wanted(among)]
        n = len(terms)
        if not n:
            return np.full(resamples, np.nan)
        if n > FEW:
            covariance = n * np.atleast_2d(np.cov(terms.T, ddof=0))
            sums = random.multivariate_normal(
                terms.sum(axis=0), covariance, resamples, check_valid="ignore", method="eigh"
            )
            return self.combine(np.maximum(sums, 0.0))
        drawn = random.integers(0, n, (resamples, n)) + n * np.arange(resamples)[:, np.newaxis]
        times = np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n)
        return self.combine(times @ terms)

    def _wanted(self, among: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        return self.is_counted if among is None else self.is_counted & among


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first of two sums divided by the second, NaN if the second is 0."""
    whole = sums[..., 1]
    return np.divide(sums[..., 0], whole, out=np.full(whole.shape, np.nan), where=whole > 0)


def share_of(is_hit: NDArray[np.bool_], is_counted: NDArray[np.bool_]) -> QuestionTerms:
    """Return the terms of the share of the counted questions that are hit; both arrays have shape (questions,)."""
    terms = np.stack([is_hit & is_counted, is_counted], axis=1).astype(np.float64)
    return QuestionTerms(terms, is_counted, ratio, is_share=True)


def mean_of(values: NDArray[np.float64], is_counted: NDArray[np.bool_]) -> QuestionTerms:
    """Return the terms of the mean of the values (questions,) of the counted questions."""
    return QuestionTerms(np.stack([np.where(is_counted, values, 0.0), is_counted], axis=1), is_counted, ratio)


def balanced_accuracy(scores: NDArray[np.bool_] | NDArray[np.float64], truth: NDArray[np.integer]) -> QuestionTerms:
    """Return the terms of the mean of the accuracies on the questions with each correct answer.

    Parameters
    ----------
    scores : array (questions,)
        Whether each prediction is right, or the probability of it, 0 to 1.
    truth : array (questions,) of int
        The correct answers as codes. A question with a negative code does not count.
    """
    is_asked = truth == np.unique(truth[truth >= 0])[:, np.newaxis]  # (answers, questions)
    terms = np.stack([is_asked * scores, is_asked], axis=-1).astype(np.float64)  # (answers, questions, 2)
    answers, questions = is_asked.shape

    def combine(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = ratio(sums.reshape(*sums.shape[:-1], answers, 2))
        counts = np.isfinite(shares).sum(axis=-1)
        total = np.nansum(shares, axis=-1)
        return np.divide(total, counts, out=np.full(total.shape, np.nan), where=counts > 0)

    return QuestionTerms(terms.transpose(1, 0, 2).reshape(questions, 2 * answers), truth >= 0, combine)


def mean_over_runs(runs: Sequence[QuestionTerms]) -> QuestionTerms:
    """Return the mean of the figures of several runs on the same questions, of at least one run.

    It is a share, with Wilson's interval, if each run's figure is a share of the same questions.
    """
    first = runs[0]
    is_share = all(one.is_share and np.array_equal(one.is_counted, first.is_counted) for one in runs)
    return weighted_sum(runs, [1 / len(runs)] * len(runs))._replace(is_share=is_share)


def weighted_sum(some: Sequence[QuestionTerms], weights: Sequence[float]) -> QuestionTerms:
    """Return the weighted sum of several figures of the same questions; it is undefined if one of them is undefined.

    With the weights 1 and -1, it is the paired difference of two methods: for its interval, each resample has the same
    questions for both.
    """
    ends = np.cumsum([one.terms.shape[1] for one in some])

    def combine(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = np.split(sums, ends[:-1], axis=-1)
        figures = [weight * one.combine(part) for one, weight, part in zip(some, weights, parts, strict=True)]
        return np.sum(figures, axis=0)

    is_counted = np.any([one.is_counted for one in some], axis=0)
    return QuestionTerms(np.concatenate([one.terms for one in some], axis=1), is_counted, combine)
