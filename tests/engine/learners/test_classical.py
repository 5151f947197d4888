"""What holds for all learners that need no PyTorch."""

from typing import Any, NamedTuple

import pytest

from generation.engine.learners import find_learner
from generation.engine.learners.examples import Examples
from tests.engine.learners import made_examples
from tests.engine.learners.conformance import Check, checks_of, overfits


class Case(NamedTuple):
    """Examples on which a learner is checked, its settings, and the share of them that it answers after training."""

    examples: Examples
    settings: dict[str, Any]
    least: float


STORIES = made_examples.stories(64)
MEMORY = {"starts": 1, "batch": 8, "noise": 0.0, "memory": 10}
CASES = {
    "n-grams": Case(STORIES, {}, 0.8),
    "nearest-question": Case(made_examples.pictures(64), {}, 0.4),  # the same words occur with several answers
    "bag-of-words": Case(
        STORIES, {"epochs": 200, "patience": 200, "batch": 16, "learning_rate": 0.05}, 0.8
    ),  # it sees no order
    "memn2n": Case(STORIES, {**MEMORY, "epochs": 200, "patience": 200, "linear_epochs": 20, "halve_every": 100}, 0.95),
}
CHECKS = [
    pytest.param(name, check, id=f"{name}-{check.__name__}")
    for name in CASES
    for check in checks_of(find_learner(name))
]


@pytest.mark.parametrize(("name", "check"), CHECKS)
def test_learners_conform(name: str, check: Check) -> None:
    case = CASES[name]
    if check is overfits:
        overfits(find_learner(name), case.examples, case.settings, least=case.least)
    else:
        check(find_learner(name), case.examples, case.settings)
