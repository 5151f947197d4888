"""Metrics of predicted numbers: accuracy after rounding, sizes of errors, and errors that repeat the train split.

References
----------
Dancette et al. 2020, Overcoming statistical shortcuts for open-ended visual counting, section 4 and supplement 6.4.
"""

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.question_terms import QuestionTerms, mean_of, ratio, share_of

LARGEST = 1e9  # larger numbers are refused, so that squared errors of all questions can be added


def round_counts(predicted: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return the numbers (questions,) after clipping to 0 .. `most` and rounding; -1 if there is no number (NaN).

    A half is rounded to the even neighbour, as in the code of Dancette et al.: 0.5 is 0, and 1.5 and 2.5 are 2.
    """
    return np.rint(np.nan_to_num(np.clip(predicted, 0, most), nan=-1.0)).astype(np.int64)


def count_terms(
    predicted: NDArray[np.float64],
    true: NDArray[np.int64],
    *,
    most: int,
    frequent: NDArray[np.int64] | None = None,
    is_own: NDArray[np.bool_] | None = None,
) -> dict[str, QuestionTerms]:
    """Return the terms of each metric of numbers, by the names in `metrics.METRICS`.

    A question without a number is wrong, and does not count in the sizes of errors: RMSE, L1 and relative error.

    Parameters
    ----------
    predicted : array (questions,) of float64
        Numbers that are not rounded; NaN if there is no number.
    true : array (questions,) of int64
        0 .. most.
    most : int
        The largest possible answer.
    frequent : array (questions,) of int64, optional
        The most frequent answer to the question's type in the train split; negative for a question that does not count
        because the train split does not have its type. Without `frequent`, there are no biased errors.
    is_own : array (questions,) of bool, optional
        Whether the right number has the parity that a count shift keeps whole in train. Without `is_own`, there are no
        accuracies of the own and the opposite parity.

    Raises
    ------
    ValueError
        If the lengths differ, or a number is out of its range.
    """
    _check(predicted, true, most, frequent)
    nearest = round_counts(predicted, most)
    is_right, is_odd, is_answered = nearest == true, true % 2 == 1, ~np.isnan(predicted)
    everything = np.ones(len(true), np.bool_)
    errors = np.abs(predicted - true)
    squares = mean_of(errors**2, is_answered)
    terms = {
        "accuracy_rounded": share_of(is_right, everything),
        "rmse": squares._replace(combine=_root_of_ratio),
        "l1": mean_of(errors, is_answered),
        "relative_error": mean_of(errors / np.maximum(true, 1), is_answered),
        "mean_over_labels": _mean_over_labels(is_right, true, most),
        "odd": share_of(is_right, is_odd),
        "even": share_of(is_right, ~is_odd),
    }
    if is_own is not None:
        terms |= {"own_parity": share_of(is_right, is_own), "opposite_parity": share_of(is_right, ~is_own)}
    if frequent is not None:
        terms["biased_errors"] = share_of(nearest == frequent, ~is_right & (frequent >= 0))
    return terms


def harmonic_mean(first: float, second: float) -> float:
    """Return the harmonic mean of two accuracies, for example of val and test; 0 if one of them is 0."""
    return 2 * first * second / (first + second) if first and second else 0.0


def _check(
    predicted: NDArray[np.float64], true: NDArray[np.int64], most: int, frequent: NDArray[np.int64] | None
) -> None:
    for name, one in {"predicted numbers": predicted, "frequent answers": frequent}.items():
        if one is not None and len(one) != len(true):
            raise ValueError(f"Expected {len(true)} {name}, got {len(one)}.")
    is_large = np.abs(predicted) > LARGEST
    if is_large.any():
        place = int(np.argmax(is_large))
        raise ValueError(f"Expected numbers from {-LARGEST:g} to {LARGEST:g}, got {predicted[place]} at {place}.")
    is_outside = (true < 0) | (true > most)
    if is_outside.any():
        place = int(np.argmax(is_outside))
        raise ValueError(f"Expected right answers from 0 to {most}, got {true[place]} at {place}.")


def _root_of_ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(ratio(sums))


def _mean_over_labels(is_right: NDArray[np.bool_], true: NDArray[np.int64], most: int) -> QuestionTerms:
    """Return the terms: for each label whether the question is right, then for each whether it is the question's."""
    is_label = true[:, np.newaxis] == np.arange(most + 1)
    terms = np.concatenate([is_label & is_right[:, np.newaxis], is_label], axis=1).astype(np.float64)
    return QuestionTerms(terms, np.ones(len(true), np.bool_), _mean_of_ratios)


def _mean_of_ratios(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the first half of the sums divided by the second half, where the second half is not 0."""
    parts, wholes = np.split(sums, 2, axis=-1)
    is_known = wholes > 0
    shares = np.divide(parts, wholes, out=np.zeros(parts.shape), where=is_known).sum(axis=-1)
    known = is_known.sum(axis=-1)
    return np.divide(shares, known, out=np.full(shares.shape, np.nan), where=known > 0)
