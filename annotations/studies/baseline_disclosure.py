"""The share of right answers that a human baseline on withheld answers publishes; an upper layer registers its rule."""

from collections.abc import Callable
from typing import NamedTuple

from annotations.models import Baseline


class _Rule(NamedTuple):
    decide: Callable[[Baseline], object]  # called in the transaction that publishes a baseline
    share_of: Callable[[Baseline], float | None]  # the share that was decided


_RULES: list[_Rule] = []


def register(*, decide: Callable[[Baseline], object], share_of: Callable[[Baseline], float | None]) -> None:
    _RULES[:] = [_Rule(decide, share_of)]


def decide(baseline: Baseline) -> None:
    for rule in _RULES:
        rule.decide(baseline)


def share_of(baseline: Baseline) -> float | None:
    return next((rule.share_of(baseline) for rule in _RULES), None)
