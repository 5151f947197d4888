"""What of a human row on withheld answers is published; an upper layer decides, and registers how when it is loaded."""

from collections.abc import Callable
from typing import NamedTuple

from annotations.models import Baseline


class _Rule(NamedTuple):
    """`decide` is called when a row is published, in its transaction; `share_of` gives what was decided."""

    decide: Callable[[Baseline], object]
    share_of: Callable[[Baseline], float | None]


_RULES: list[_Rule] = []


def register(*, decide: Callable[[Baseline], object], share_of: Callable[[Baseline], float | None]) -> None:
    _RULES[:] = [_Rule(decide, share_of)]


def decide(baseline: Baseline) -> None:
    for rule in _RULES:
        rule.decide(baseline)


def share_of(baseline: Baseline) -> float | None:
    """Return the share that was published of a human row on withheld answers; None where none was."""
    return next((rule.share_of(baseline) for rule in _RULES), None)
