"""Answer balancing: which answers a family may still give within a batch of scenes."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def may_answer(counts: NDArray[np.int64], answer: int, ratio: float, median_ratio: float, median_floor: int) -> bool:
    """Return whether a family may give an answer once more.

    Parameters
    ----------
    counts : ndarray, shape (answers,)
        How often the family gave each answer in this batch.
    answer : int
        Code of the answer in question.
    ratio : float
        Refused when the answer was given more than `ratio` times as often as the second most frequent.
    median_ratio, median_floor : float, int
        Refused when it was given more than `median_ratio` times the median count, taken to be `median_floor` at least.

    References
    ----------
    Johnson et al. 2017, CLEVR, section 3 (rejection sampling); the thresholds of the original generator.
    """
    ordered = np.sort(counts)
    count = counts[answer]
    if count > ratio * ordered[-2]:
        return False
    return not count > median_ratio * max(ordered[len(ordered) // 2], median_floor)
