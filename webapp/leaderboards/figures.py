"""Accuracies as boards show them: with n and interval, and of withheld splits no finer than a tenth of a point."""

from fractions import Fraction
from typing import Any, NamedTuple

from generation.engine.statistics import Averaged, wilson
from generation.models import Split
from webapp.access import Visitor, What, may_see

SMALLEST = 30  # questions of which a share is told: at half of 30 it is uncertain by 18 points
TENTH = 3  # decimals of a share that is told to a tenth of a point


class Figure(NamedTuple):
    """The share that is right of `n` questions, over so many runs; nothing but n where they are too few.

    Attributes
    ----------
    n, runs : int
    share, low, high, deviation : float or None
        0 .. 1: the mean over runs, its interval over the questions, the standard deviation over runs.
    coarse : bool
        Whether they are told to a tenth of a point.
    """

    n: int
    runs: int
    share: float | None = None
    low: float | None = None
    high: float | None = None
    deviation: float | None = None
    coarse: bool = False

    @property
    def is_too_small(self) -> bool:
        """Return whether there are too few questions for a share."""
        return self.share is None

    @property
    def text(self) -> str:
        """Return the share for people, or that there are too few questions for one."""
        return f"too few (n = {self.n:,})" if self.share is None else f"{100 * self.share:.1f} %"

    @property
    def points(self) -> str:
        """Return the share in points, as columns have it."""
        return "" if self.share is None else f"{100 * self.share:.1f}"

    @property
    def interval_text(self) -> str:
        """Return the interval for people."""
        return "" if self.low is None or self.high is None else f"{100 * self.low:.1f}–{100 * self.high:.1f}"

    @property
    def said(self) -> str:
        """Return n and interval for people."""
        return f"n = {self.n:,}" if self.low is None else f"n = {self.n:,}, {self.interval_text}"

    @property
    def deviation_text(self) -> str:
        """Return the standard deviation over runs for people; nothing of one run."""
        return "" if self.deviation is None else f"± {100 * self.deviation:.1f}"

    def to_json(self) -> dict[str, Any]:
        """Return it for other programs."""
        return {
            "n": self.n,
            "accuracy": _rounded(self.share),
            "low": _rounded(self.low),
            "high": _rounded(self.high),
            "runs": self.runs,
            "deviation": _rounded(self.deviation),
        }


def figure(averaged: Averaged, *, coarse: bool) -> Figure:
    """Return runs as they are shown; `coarse` for whoever may not know the answers."""
    n, runs = averaged.n, len(averaged.rights)
    if averaged.mean is None or n < SMALLEST:
        return Figure(n, runs)
    if not coarse:
        interval = averaged.interval
        return Figure(n, runs, averaged.mean, interval.low, interval.high, averaged.deviation)
    share = round(averaged.mean, TENTH)
    low, high = (round(end, TENTH) for end in wilson(share * n, n))
    deviation = averaged.deviation
    return Figure(n, runs, share, low, high, None if deviation is None else round(deviation, TENTH), coarse=True)


def exact_share(averaged: Averaged, *, coarse: bool) -> Fraction:
    """Return the mean share over runs, 0 of nothing: exactly, so that equal ones are equal, or to a tenth of a point.

    Where it may be told to a tenth only (`coarse`), neither order, rank nor threshold tells more.
    """
    share = Fraction(sum(averaged.rights), max(1, len(averaged.rights) * averaged.n))
    return round(share, TENTH) if coarse else share


def is_coarse(user: Visitor, split: Split) -> bool:
    """Return whether somebody sees no figure of a split finer than a tenth of a point."""
    return not may_see(user, split, What.PER_QUESTION_RESULT)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 6)
