"""What a row is worth over tasks: the mean of their accuracies, and how many are failed."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from generation.engine.statistics import Averaged
from webapp.leaderboards.disclosure.figures import DECIMALS, SMALLEST, exact_share


class Passed(NamedTuple):
    """A row over `of` tasks, as it may be told; mean and failed are None where a task has too few questions."""

    of: int
    mean: float | None = None
    failed: int | None = None

    @property
    def mean_text(self) -> str:
        """Return the mean in points for people; empty where it isn't told."""
        return "" if self.mean is None else f"{100 * self.mean:.1f}"

    @property
    def failed_text(self) -> str:
        """Return how many are failed for people; empty where it isn't told."""
        return "" if self.failed is None else str(self.failed)

    def to_json(self) -> dict[str, Any]:
        """Return it for other programs."""
        return self._asdict()


def passed_of(tasks: Sequence[Averaged], *, at: Fraction) -> Passed:
    """Return what a row is worth over tasks; those without questions don't count.

    Parameters
    ----------
    tasks : sequence of Averaged
        How right it is on each.
    at : Fraction
        The share of right answers from which one is passed.
    """
    asked = [one for one in tasks if one.n and one.rights]
    if not asked or any(one.n < SMALLEST for one in asked):
        return Passed(len(asked))
    shares = [exact_share(one) for one in asked]
    mean = sum(shares, Fraction(0)) / len(shares)
    return Passed(len(asked), round(float(mean), DECIMALS), sum(one < at for one in shares))
