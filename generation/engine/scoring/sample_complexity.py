"""Asymptotic sample complexity: how the training size that reaches a target accuracy grows with the world.

A world has a number k, for example its number of entities. If the size n that reaches the target grows like a power of
k, then log n over log k is a line, and its slope is the power.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.figures import LEVEL, Averaged, Interval
from generation.engine.scoring.statistics import RESAMPLES, percentiles

FEWEST = 2  # values of k for a slope, and runs for an interval


class MeasuredSize(NamedTuple):
    """The right answers of the runs with one training size."""

    size: int
    averaged: Averaged


class SizeInterval(NamedTuple):
    """The interval of the training size that reaches a target; None stands for a size above the largest one."""

    low: int | None
    high: int | None


def size_interval(
    measured: Sequence[MeasuredSize],
    target: Fraction,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> SizeInterval | None:
    """Return the percentile bootstrap interval of the size that reaches the target, resampling the runs of each size.

    Both ends are measured sizes, or None if the target is not reached in so many resamples. None if there is no size,
    or if a size has a single run.

    Parameters
    ----------
    measured : sequence of MeasuredSize
        In order of size.
    target : Fraction
        The accuracy to reach.
    seed : int
        The same seed gives the same interval.
    resamples : int
    level : float
    """
    if not _have_several_runs(measured):
        return None
    sizes = _reached(measured, target, np.random.Generator(np.random.PCG64(seed)), resamples)
    ends = np.quantile(np.nan_to_num(sizes, nan=np.inf), [0.5 - level / 2, 0.5 + level / 2], method="inverted_cdf")
    low, high = (None if np.isinf(end) else int(end) for end in ends)
    return SizeInterval(low, high)


def slope(points: Iterable[tuple[float, float]]) -> float | None:
    """Return the slope of log n over log k by least squares; None for fewer than two points.

    Parameters
    ----------
    points : iterable of (float, float)
        k, different for each point, and n; both greater than 0.

    References
    ----------
    Bingham et al. 2017, Characterizing how Visual Question Answering models scale with the world, section 1.
    """
    found = list(points)
    if len(found) < FEWEST:
        return None
    ks, sizes = np.log(np.array(found, np.float64)).T
    return float(_slopes(ks, sizes[np.newaxis])[0])


def slope_interval(
    measured: Mapping[float, Sequence[MeasuredSize]],
    target: Fraction,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval | None:
    """Return the percentile bootstrap interval of the slope, resampling the runs of each training size of each k.

    In each resample, the size that reaches the target is found again for each k. Resamples in which fewer than two k
    reach the target don't count. None if fewer than two k reach the target, or if one of these k has a training size
    with a single run.

    Parameters
    ----------
    measured : mapping of float to sequence of MeasuredSize
        By k, in order of size.
    target : Fraction
        The accuracy to reach.
    seed : int
        The same seed gives the same interval.
    resamples : int
    level : float
    """
    reaching = [one for one in measured.values() if any(size.averaged.exact_mean >= target for size in one)]
    if len(reaching) < FEWEST or not all(_have_several_runs(one) for one in reaching):
        return None
    random = np.random.Generator(np.random.PCG64(seed))
    ks = sorted(measured)
    sizes = np.stack([_reached(measured[k], target, random, resamples) for k in ks], axis=1)
    slopes = _slopes(np.log(np.array(ks, np.float64)), np.log(sizes))
    return percentiles(slopes, level) if np.isfinite(slopes).any() else None


def _have_several_runs(measured: Sequence[MeasuredSize]) -> bool:
    """Return whether there are at least two runs of each size, and at least one size."""
    return min((len(one.averaged.rights) for one in measured), default=0) >= FEWEST


def _reached(
    measured: Sequence[MeasuredSize], target: Fraction, random: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """Return for each resample the smallest size that reaches the target, shape (resamples,); NaN if none.

    All counts are whole numbers, so a mean that is equal to the target reaches it.
    """
    found = np.full(resamples, np.nan)
    for size, averaged in reversed(measured):
        rights = np.array(averaged.rights)
        drawn = rights[random.integers(0, len(rights), (resamples, len(rights)))].sum(axis=1)
        found[drawn >= math.ceil(target * len(rights) * averaged.n)] = size
    return found


def _slopes(ks: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least-squares slope of each row, NaN with fewer than two known values.

    `ks` has shape (k,), `sizes` (rows, k) with NaN where the target is not reached; both are logarithms.
    """
    is_known = np.isfinite(sizes)
    count = is_known.sum(axis=1)
    mean = (is_known * ks).sum(axis=1) / np.maximum(count, 1)
    across = np.where(is_known, ks - mean[:, np.newaxis], 0.0)
    along = np.where(is_known, sizes, 0.0)
    squares = (across * across).sum(axis=1)
    is_line = count >= FEWEST
    return np.where(is_line, (across * along).sum(axis=1) / np.where(is_line, squares, 1.0), np.nan)
