"""What holds for all learners that need no PyTorch."""

from typing import Any, NamedTuple

import pytest

from generation.engine.learners import CLASSICAL, find_learner
from generation.engine.learners.base import accuracy
from generation.engine.learners.examples import Examples
from tests import proof
from tests.engine.learners import made_examples
from tests.engine.learners.conformance import Check, checks_of, overfits, train


class Case(NamedTuple):
    """Examples on which a learner is checked, its settings, and the share of them that it answers after training."""

    examples: Examples
    settings: dict[str, Any]
    least: float


STORIES = made_examples.stories(64)
FEWER = made_examples.stories(proof.size(64, least=24))  # for the two methods that learn most slowly
MEMORY = {"starts": 1, "batch": 8, "noise": 0.0, "memory": 10}
CASES = {
    "n-grams": Case(STORIES, {}, 0.8),
    "nearest-question": Case(made_examples.pictures(64), {}, 0.4),  # the same words occur with several answers
    "bag-of-words": Case(STORIES, {"epochs": 200, "batch": 16, "learning_rate": 0.05}, 0.8),  # it sees no order
    "structured-svm": Case(FEWER, {}, 1.0),
    "memn2n": Case(FEWER, {**MEMORY, "epochs": 200, "linear_epochs": 20, "halve_every": 100}, 0.95),
    "memnn": Case(STORIES, {"nonlinear": True, "adaptive": True, "embedding": 20, "learning_rate": 0.1}, 0.95),
}
assert CASES.keys() == CLASSICAL.keys()
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


@pytest.mark.parametrize(
    ("name", "least"), [("n-grams", 0.6), ("structured-svm", 1.0), ("memn2n", 0.9), ("memnn", 0.9)]
)
def test_one_model_can_learn_all_types_of_questions(name: str, least: float) -> None:
    case = CASES[name]
    learner = train(find_learner(name), STORIES, {**case.settings, "joint": True})
    assert len(learner.state()[1]["groups"]) == 1
    assert len(train(find_learner(name), STORIES, case.settings).state()[1]["groups"]) == len(set(STORIES.kinds))
    share = accuracy(learner.predict(STORIES), STORIES)
    assert share is not None and share >= least


@pytest.mark.parametrize("name", ["n-grams", "structured-svm", "memn2n", "memnn"])
def test_types_that_were_not_trained_get_an_answer(name: str) -> None:
    known = STORIES.select([row for row, kind in enumerate(STORIES.kinds) if kind == "where"])
    learner = train(find_learner(name), known, {**CASES[name].settings})
    assert {one.answer for one in learner.predict(STORIES)} <= set(STORIES.vocabulary)


@pytest.mark.parametrize("name", ["n-grams", "nearest-question", "bag-of-words"])
def test_questions_without_stories_are_read_too(name: str) -> None:
    examples = made_examples.pictures(64)
    share = accuracy(train(find_learner(name), examples, CASES[name].settings).predict(examples), examples)
    assert share is not None and share >= 0.4
