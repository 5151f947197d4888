"""Answer balancing: which answers a family may still give in a batch of scenes."""

import numpy as np
from numpy.typing import NDArray

from generation.engine.numba_compiler import njit


@njit(cache=True)
def may_answer(counts: NDArray[np.int64], answer: int, ratio: float, median_ratio: float, median_floor: int) -> bool:
    """Return whether a family may give an answer one more time.

    Parameters
    ----------
    counts : ndarray, shape (answers,)
        How often the family gave each answer in this batch so far.
    answer : int
        Code of the answer.
    ratio : float
        The answer is refused when it was given more than `ratio` times as often as the second most frequent answer.
    median_ratio, median_floor : float, int
        The answer is refused when it was given more than `median_ratio` times the median count. The median count is
        taken to be at least `median_floor`.

    References
    ----------
    Johnson et al. 2017, CLEVR, section 3 (rejection sampling). The thresholds are those of the original generator.
    """
    ordered = np.sort(counts)
    count = counts[answer]
    if count > ratio * ordered[-2]:
        return False
    return not count > median_ratio * max(ordered[len(ordered) // 2], median_floor)
