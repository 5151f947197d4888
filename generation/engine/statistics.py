"""The one set of intervals: how sure a share is that was counted."""

import math
from statistics import NormalDist
from typing import NamedTuple

LEVEL = 0.95


class Interval(NamedTuple):
    """From `low` to `high`, shares of 0 .. 1."""

    low: float
    high: float


def wilson(right: int, n: int, *, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval of a share.

    Parameters
    ----------
    right, n : int
        How many of how many; of none, nothing is known: 0 .. 1.
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
