"""How far the distribution of labels or words differs between two sets of questions.

References
----------
Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, sections 6.1 and 6.4.
"""

import numpy as np
from numpy.typing import NDArray

_COMMON = (
    "how many can you scene picture pictured image photo there are seen see visible shown this in the on be of a to"
)
COMMON_WORDS = frozenset(_COMMON.split())
"""The words that the paper leaves out when it compares the words of questions."""


def similarity(one: NDArray[np.integer], other: NDArray[np.integer]) -> float | None:
    """Return the Bhattacharyya coefficient of two distributions: 1 for equal ones, 0 for ones without overlap.

    Parameters
    ----------
    one, other : array (values,) of integers
        How often each value occurs in each set.

    Returns
    -------
    float or None
        None if one of them is empty.
    """
    totals = int(one.sum()), int(other.sum())
    if not all(totals):
        return None
    found = np.sqrt(one / totals[0] * (other / totals[1])).sum()
    return min(1.0, float(found))


def guessing_accuracy(guessed: NDArray[np.integer], asked: NDArray[np.integer]) -> float | None:
    """Return the expected accuracy of answers that are drawn from one distribution, if the right answers have another.

    Parameters
    ----------
    guessed, asked : array (labels,) of integers
        How often each label occurs in the set whose distribution is used, and in the set that is answered.

    Returns
    -------
    float or None
        0 .. 1, exact except for rounding; None if one of them is empty.
    """
    totals = int(guessed.sum()), int(asked.sum())
    return float((guessed / totals[0] * (asked / totals[1])).sum()) if all(totals) else None
