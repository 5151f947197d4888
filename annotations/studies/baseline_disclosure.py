"""The share that is published of a human baseline on withheld answers; an upper layer registers how it is decided."""

from collections.abc import Callable
from typing import NamedTuple

from annotations.models import Baseline


class _Rule(NamedTuple):
    """`decide` is called in the transaction that publishes a baseline; `share_of` returns what was decided."""

    decide: Callable[[Baseline], object]
    share_of: Callable[[Baseline], float | None]


_RULES: list[_Rule] = []


def register(*, decide: Callable[[Baseline], object], share_of: Callable[[Baseline], float | None]) -> None:
    _RULES[:] = [_Rule(decide, share_of)]


def decide(baseline: Baseline) -> None:
    for rule in _RULES:
        rule.decide(baseline)


def share_of(baseline: Baseline) -> float | None:
    """Return the published share of a human baseline on withheld answers, or None if none was published."""
    return next((rule.share_of(baseline) for rule in _RULES), None)
