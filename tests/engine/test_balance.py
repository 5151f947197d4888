"""The answers of each family have about equal frequencies within a batch of scenes."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.balance import may_answer
from generation.engine.items import Item
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.proof import size


def may_answer_by_twin(counts: list[int], answer: int, ratio: float, median_ratio: float, floor: int) -> bool:
    """Return whether a family may give an answer once more, computed in plain Python."""
    downwards = sorted(counts, reverse=True)
    upwards = sorted(counts)
    too_many_beside_the_next = counts[answer] > ratio * downwards[1]
    too_many_beside_the_middle = counts[answer] > median_ratio * max(upwards[len(upwards) // 2], floor)
    return not (too_many_beside_the_next or too_many_beside_the_middle)


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=41),
    st.integers(0, 40),
    st.sampled_from([1.0, 1.1, 2.0, 1000.0]),
    st.sampled_from([1.0, 5.0, 1000.0]),
    st.integers(1, 30),
)
def test_the_rule_equals_that_of_the_twin(counts: list[int], pick: int, ratio: float, median_ratio: float, floor: int):
    answer = pick % len(counts)
    expected = may_answer_by_twin(counts, answer, ratio, median_ratio, floor)
    assert may_answer(np.array(counts), answer, ratio, median_ratio, floor) == expected


def test_the_rule_does_not_change_the_counts():
    counts = np.array([5, 1, 3])
    may_answer(counts, 0, 1.1, 5.0, 5)
    assert counts.tolist() == [5, 1, 3]


@pytest.mark.parametrize(
    ("counts", "answer", "allowed"),
    [
        ([0, 0], 0, True),  # no answers yet
        ([1, 0], 0, False),  # 1 > 1.1 * 0
        ([1, 0], 1, True),
        ([11, 10], 0, True),  # 11 is not more than 1.1 * 10
        ([12, 10], 0, False),
        ([25, 25, 0, 0, 0], 0, True),  # 25 is not more than 5 * 5, because the median 0 counts as 5
        ([26, 26, 0, 0, 0], 0, False),
        ([26, 26, 6, 0, 0], 0, True),
        ([31, 31, 6, 0, 0], 0, False),  # 31 > 5 * 6
        ([26, 26, 0, 0], 0, True),  # the median of an even number of counts is the upper one
    ],
)
def test_examples_of_the_rule(counts: list[int], answer: int, allowed: bool):
    assert may_answer(np.array(counts), answer, 1.1, 5.0, 5) is allowed


def replay(spec: ClevrSpec, items: list[Item]) -> dict[int, dict[str, int]]:
    """Return the counts of answers of each family in a batch. Check every question with the twin of the rule."""
    answers = {family.number: family.answers for family in spec.families}
    counts = {number: dict.fromkeys(possible, 0) for number, possible in answers.items()}
    parameters = spec.questions.balance
    for item in items:
        assert len({question.family for question in item.questions}) == len(item.questions)
        for question in item.questions:
            assert question.answer is not None
            assert question.family is not None
            mine = counts[question.family]
            at = answers[question.family].index(question.answer.text)
            assert may_answer_by_twin(
                list(mine.values()), at, parameters.ratio, parameters.median_ratio, parameters.median_floor
            ), question
            mine[question.answer.text] += 1
    return counts


@pytest.fixture(scope="module")
def counts() -> Mapping[int, Mapping[str, int]]:
    """The counts of answers of each family in one batch. Every question is checked with the twin of the rule."""
    spec = get_world("clevr").read_spec(
        {"base": "clevr-mini", "splits": {"val": None, "test": None, "train": {"scenes": 250}}}
    )
    maker = get_maker("clevr")
    [chunk] = maker.plan(spec, "train")
    chunk = chunk._replace(items=size(250, name="scenes of a batch whose balance is replayed", least=60))
    assert isinstance(spec, ClevrSpec)
    return replay(spec, list(maker.make(spec, "train", chunk)))


def test_yes_and_no_stay_within_the_limit_of_the_rule(counts: Mapping[int, Mapping[str, int]]):
    pairs = [tuple(answers.values()) for answers in counts.values() if set(answers) == {"yes", "no"}]
    assert len(pairs) > 30
    assert all(max(pair) <= 1.1 * min(pair) + 1 for pair in pairs), pairs


def test_no_answer_of_several_is_too_frequent(counts: Mapping[int, Mapping[str, int]]):
    for answers in counts.values():
        ordered = sorted(answers.values())
        assert ordered[-1] <= 1.1 * ordered[-2] + 1
        assert ordered[-1] <= 5 * max(ordered[len(ordered) // 2], 5) + 1


def test_families_are_used_about_equally(counts: Mapping[int, Mapping[str, int]]):
    used = [sum(answers.values()) for answers in counts.values()]
    assert len(used) == 90
    assert min(used) > 0
    assert max(used) <= 2 * sum(used) / len(used)
