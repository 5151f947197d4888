"""Shares of right answers: their intervals, the smallest number of questions for a share, rounding, and texts."""

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, NamedTuple

LEVEL = 0.95
TOO_FEW = 30  # no share is shown for a smaller n; at n = 30 the interval of a half reaches 18 points to both sides
DECIMALS = 6  # decimal places of a share in files and charts


def is_too_few(n: int) -> bool:
    """Return whether `n` questions are too few to show a share."""
    return n < TOO_FEW


class Interval(NamedTuple):
    """An interval from `low` to `high`; of a share, both are 0 .. 1."""

    low: float
    high: float


def wilson(right: float, n: int, *, level: float = LEVEL) -> Interval:
    """Return Wilson's score interval of a share.

    Parameters
    ----------
    right : float
        The number of right answers: a count, or the mean of several counts.
    n : int
        The number of questions. For 0 the interval is 0 .. 1.
    level : float
        The probability that an interval contains the true share, greater than 0 and less than 1.

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


# Text and rounding


def points(share: float) -> str:
    """Return a share in percentage points."""
    return f"{100 * share:z.1f}"  # without a minus before 0.0


def signed_points(difference: float) -> str:
    """Return a difference of two shares in percentage points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", "−")


def signed_interval_points(interval: Interval | None) -> str:
    """Return the interval of a difference in percentage points, with signs; empty if there is none."""
    return "" if interval is None else f"{signed_points(interval.low)} to {signed_points(interval.high)}"


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{points(share)} %"


def interval_points(interval: Interval) -> str:
    """Return an interval in percentage points."""
    return f"{points(interval.low)}–{points(interval.high)}"


def interval_text(interval: Interval) -> str:
    """Return an interval in per cent."""
    return f"{interval_points(interval)} %"


def too_few_text(n: int) -> str:
    """Return the text that replaces the share of too few questions."""
    return f"too few (n = {n:,})"


def rounded(share: float) -> float:
    """Return a share, rounded for files and charts."""
    return round(share, DECIMALS)


def rounded_or_none(share: float | None) -> float | None:
    """Return a share, rounded for files; None if it is not known."""
    return None if share is None else rounded(share)


# Shares


class Share(NamedTuple):
    """The number of right answers to `n` questions."""

    right: int
    n: int

    @property
    def is_too_small(self) -> bool:
        """Return whether there are too few questions to show a share."""
        return is_too_few(self.n)

    @property
    def value(self) -> float | None:
        """Return the share, 0 .. 1; None without questions."""
        return self.right / self.n if self.n else None

    @property
    def wilson(self) -> Interval:
        """Return Wilson's 95 % interval."""
        return wilson(self.right, self.n)

    @property
    def text(self) -> str:
        """Return the share as text, or a text that says that there are too few questions."""
        return too_few_text(self.n) if self.is_too_small else percent(self.right / self.n)

    @property
    def interval_text(self) -> str:
        """Return Wilson's interval as text; empty if there are too few questions."""
        return "" if self.is_too_small else interval_text(self.wilson)


class Averaged(NamedTuple):
    """The number of right answers to `n` questions for each run of a method; for guesses the expected number."""

    n: int
    rights: tuple[float, ...]

    @property
    def mean(self) -> float | None:
        """Return the mean share over runs, 0 .. 1; None without questions or runs."""
        return sum(self.rights) / len(self.rights) / self.n if self.n and self.rights else None

    @property
    def exact_mean(self) -> Fraction:
        """Return the exact mean share over runs, so that equal shares compare as equal; 0 without questions."""
        return Fraction(sum(self.rights)) / max(1, len(self.rights) * self.n)

    @property
    def deviation(self) -> float | None:
        """Return the standard deviation over runs as of a sample (divided by runs - 1); None for a single run."""
        if self.mean is None or len(self.rights) < 2:
            return None
        squares = sum((right / self.n - self.mean) ** 2 for right in self.rights)
        return math.sqrt(squares / (len(self.rights) - 1))

    @property
    def interval(self) -> Interval:
        """Return Wilson's interval of the mean share for `n` questions."""
        return wilson(sum(self.rights) / max(1, len(self.rights)), self.n)


class Figure(NamedTuple):
    """The share of right answers to `n` questions, over `runs` runs; only `n` if there are too few questions.

    Attributes
    ----------
    n, runs : int
    share, low, high, deviation : float or None
        0 .. 1: the mean over runs, its interval over the questions, the standard deviation over runs.
    note : str
        Why there is no share, if the reason is not too few questions.
    """

    n: int
    runs: int
    share: float | None = None
    low: float | None = None
    high: float | None = None
    deviation: float | None = None
    note: str = ""

    @property
    def is_missing(self) -> bool:
        """Return whether no share is shown."""
        return self.share is None

    @property
    def text(self) -> str:
        """Return the share as text, or why there is none."""
        return (self.note or too_few_text(self.n)) if self.share is None else percent(self.share)

    @property
    def points(self) -> str:
        """Return the share in percentage points; empty if there is none."""
        return "" if self.share is None else points(self.share)

    @property
    def interval_text(self) -> str:
        """Return the interval in percentage points; empty if there is none."""
        return "" if self.low is None or self.high is None else interval_points(Interval(self.low, self.high))

    @property
    def said(self) -> str:
        """Return n, and the interval if there is one, as text."""
        return f"n = {self.n:,}" if self.low is None else f"n = {self.n:,}, {self.interval_text}"

    @property
    def deviation_text(self) -> str:
        """Return the standard deviation over runs as text; empty for a single run."""
        return "" if self.deviation is None else f"± {points(self.deviation)}"

    def shares(self) -> dict[str, float | None]:
        """Return the share and its interval as JSON data."""
        found = {"accuracy": self.share, "low": self.low, "high": self.high}
        return {name: rounded_or_none(share) for name, share in found.items()}

    def to_json(self) -> dict[str, Any]:
        """Return the figure as JSON data."""
        return {"n": self.n, **self.shares(), "runs": self.runs, "deviation": rounded_or_none(self.deviation)}


def figure(averaged: Averaged) -> Figure:
    """Return the figure of some runs, for visitors who may see the result of each question."""
    n, runs = averaged.n, len(averaged.rights)
    if averaged.mean is None or is_too_few(n):
        return Figure(n, runs)
    interval = averaged.interval
    return Figure(n, runs, averaged.mean, interval.low, interval.high, averaged.deviation)


def difference_of(first: Figure, second: Figure) -> Interval | None:
    """Return the 95 % interval of the difference of two figures about different questions; None without both intervals.

    It is the hybrid score interval, from Wilson's interval of each share. The shares must be independent.

    References
    ----------
    Newcombe 1998, Interval estimation for the difference between independent proportions, method 10.
    """
    return difference_from_mean(first, [second])


def difference_from_mean(first: Figure, others: Sequence[Figure]) -> Interval | None:
    """Return the 95 % interval of a figure minus the mean of others, all about different questions.

    It is the interval for a sum of independent shares with weights, here 1 for the first and -1/k for each of k others.
    It is computed from Wilson's interval of each share. With one other figure it is the interval of `difference_of`.

    Parameters
    ----------
    first : Figure
    others : sequence of Figure

    Returns
    -------
    Interval or None
        From -1 to 1; None without others, or if one of the figures has no interval.

    References
    ----------
    Zou, Huang and Zhang 2009, A note on confidence interval estimation for a linear function of binomial proportions.
    """
    reaches = [_reach(one) for one in (first, *others)]
    known = [one for one in reaches if one is not None]
    if not others or len(known) < len(reaches):
        return None
    own, rest = known[0], known[1:]
    difference = own.share - sum(one.share for one in rest) / len(rest)
    low = math.hypot(own.below, *(one.above / len(rest) for one in rest))
    high = math.hypot(own.above, *(one.below / len(rest) for one in rest))
    return Interval(difference - low, difference + high)


class _Reach(NamedTuple):
    share: float
    below: float  # from the share down to the lower end of its interval
    above: float


def _reach(one: Figure) -> _Reach | None:
    if one.share is None or one.low is None or one.high is None:
        return None
    return _Reach(one.share, one.share - one.low, one.high - one.share)
