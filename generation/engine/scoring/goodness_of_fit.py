"""Pearson's chi-square test of counts against the requested shares."""

import math
from collections.abc import Sequence
from typing import NamedTuple

LEAST_EXPECTED = 5.0  # values that are expected less often are counted together
TERMS = 10_000
PRECISION = 1e-14


class Fit(NamedTuple):
    """The result of a chi-square test.

    Attributes
    ----------
    statistic : float
    degrees : int
        Degrees of freedom.
    p : float
        The probability that the statistic is at least as large if the counts come from the shares, 0 .. 1.
    """

    statistic: float
    degrees: int
    p: float


def chi_square(counts: Sequence[int], shares: Sequence[float]) -> Fit | None:
    """Return the test of counts against shares; None if fewer than two values are left to compare.

    Parameters
    ----------
    counts : sequence of int
        How often each value occurs.
    shares : sequence of float
        The requested share of each value; the shares sum to one. Values that are expected less than five times are
        counted together.

    Raises
    ------
    ValueError
        If there are not as many shares as counts.

    References
    ----------
    Pearson 1900, On the criterion that a given system of deviations is such that it can be reasonably supposed to have
    arisen from random sampling. Cochran 1954, Some methods for strengthening the common chi-square tests.
    """
    if len(counts) != len(shares):
        raise ValueError(f"Expected as many shares as counts, got {len(shares)} and {len(counts)}.")
    n = sum(counts)
    pairs = [(count, n * share) for count, share in zip(counts, shares, strict=True)]
    rare = [pair for pair in pairs if pair[1] < LEAST_EXPECTED]
    often = [pair for pair in pairs if pair[1] >= LEAST_EXPECTED]
    if any(count for count, _ in rare) or sum(expected for _, expected in rare) > 0.0:
        often.append((sum(count for count, _ in rare), sum(expected for _, expected in rare)))
    if len(often) < 2:
        return None
    if any(count and expected <= 0.0 for count, expected in often):
        return Fit(math.inf, len(often) - 1, 0.0)
    statistic = sum((count - expected) ** 2 / expected for count, expected in often)
    return Fit(statistic, len(often) - 1, upper_gamma((len(often) - 1) / 2, statistic / 2))


def upper_gamma(a: float, x: float) -> float:
    """Return the regularised upper incomplete gamma function Q(a, x), for a > 0 and x >= 0.

    References
    ----------
    Abramowitz and Stegun 1964, Handbook of Mathematical Functions, 6.5.29 (series) and 6.5.31 (continued fraction).
    """
    if x <= 0.0:
        return 1.0
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    return 1.0 - scale * _series(a, x) if x < a + 1.0 else scale * _fraction(a, x)


def _series(a: float, x: float) -> float:
    term = total = 1.0 / a
    for number in range(1, TERMS):
        term *= x / (a + number)
        total += term
        if term < total * PRECISION:
            break
    return total


def _fraction(a: float, x: float) -> float:
    """Evaluate the continued fraction by the method of Lentz."""
    b = x + 1.0 - a
    c, d = 1e300, 1.0 / b
    value = d
    for number in range(1, TERMS):
        step = -number * (number - a)
        b += 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        value *= c * d
        if abs(c * d - 1.0) < PRECISION:
            break
    return value
