"""Shares of right answers as pages show them: with n and an interval, and no percentage where there are too few."""

from typing import NamedTuple

from generation.engine.scoring.statistics import TOO_FEW, Interval, wilson


class Share(NamedTuple):
    """So many of `n`, as pages say it: too few for a share say so."""

    right: int
    n: int

    @property
    def is_too_small(self) -> bool:
        """Return whether there are too few for a share."""
        return self.n < TOO_FEW

    @property
    def value(self) -> float | None:
        """Return the share, 0 .. 1; None of nothing."""
        return self.right / self.n if self.n else None

    @property
    def wilson(self) -> Interval:
        """Return Wilson's 95 % interval."""
        return wilson(self.right, self.n)

    @property
    def text(self) -> str:
        """Return the share for people, or that there are too few for one."""
        return f"too few (n = {self.n:,})" if self.is_too_small else percent(self.right / self.n)

    @property
    def interval_text(self) -> str:
        """Return Wilson's interval for people; nothing where there are too few."""
        return "" if self.is_too_small else interval_text(self.wilson)


def percent(share: float) -> str:
    """Return a share for people."""
    return f"{100 * share:.1f} %"


def interval_text(interval: Interval) -> str:
    """Return an interval for people."""
    return f"{100 * interval.low:.1f}–{percent(interval.high)}"
