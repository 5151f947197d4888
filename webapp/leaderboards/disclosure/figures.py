"""Accuracies as boards show them: with n and interval, or the one figure that is published of withheld answers."""

from fractions import Fraction
from typing import Any, NamedTuple

from generation.engine.scoring.statistics import TOO_FEW, Averaged

SMALLEST = TOO_FEW  # questions of which a share is shown
DECIMALS = 6  # of a share in files
DEFERRED = "opens with the answers"


class Figure(NamedTuple):
    """The share that is right of `n` questions, over so many runs; only n where there are too few questions.

    Attributes
    ----------
    n, runs : int
    share, low, high, deviation : float or None
        0 .. 1: the mean over runs, its interval over the questions, the standard deviation over runs.
    note : str
        Why there is no share, where that is not because of too few questions.
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
        return self.share is None

    @property
    def text(self) -> str:
        if self.share is None:
            return self.note or f"too few (n = {self.n:,})"
        return f"{100 * self.share:.1f} %"

    @property
    def points(self) -> str:
        return "" if self.share is None else f"{100 * self.share:.1f}"

    @property
    def interval_text(self) -> str:
        return "" if self.low is None or self.high is None else f"{100 * self.low:.1f}–{100 * self.high:.1f}"

    @property
    def said(self) -> str:
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


def figure(averaged: Averaged) -> Figure:
    """Return runs as they are shown to those who may see the result of each question."""
    n, runs = averaged.n, len(averaged.rights)
    if averaged.mean is None or n < SMALLEST:
        return Figure(n, runs)
    interval = averaged.interval
    return Figure(n, runs, averaged.mean, interval.low, interval.high, averaged.deviation)


def shade(share: float | None) -> str:
    """Return the class of a table's cell that is shaded by its share, in steps of a tenth; empty without one."""
    return "" if share is None else f"shade-{min(9, int(10 * share))}"


def exact_share(averaged: Averaged) -> Fraction:
    """Return the mean share over runs, 0 of nothing: exactly, so that equal ones are equal."""
    return Fraction(sum(averaged.rights)) / max(1, len(averaged.rights) * averaged.n)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, DECIMALS)
