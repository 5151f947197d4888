"""Specs of counting questions: defaults, and one message for each fault."""

from itertools import pairwise

import pytest

from generation.engine.errors import BadSpec
from generation.engine.seeding import Stage, stream
from generation.engine.worlds.counting.answer_plan import plan_chunk
from generation.engine.worlds.counting.spec import FALLING
from tests.worlds.counting.bad_specs import FAULTS
from tests.worlds.counting.made import WORLD, spec_of


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_field(fault: str) -> None:
    laid, where, said = FAULTS[fault]
    with pytest.raises(BadSpec) as refused:
        WORLD.read_spec({"base": "clevr-counting", **laid})
    assert refused.value.where == where
    assert refused.value.reason.startswith("Expected ")
    assert [words for words in said if words not in refused.value.reason] == []


def test_default_shares_fall_by_a_quarter_from_answer_to_answer() -> None:
    assert len(FALLING) == 16
    assert sum(FALLING) == pytest.approx(1.0, abs=1e-9)
    for larger, smaller in pairwise(FALLING):
        assert smaller / larger == pytest.approx(0.75, abs=0.12)


@pytest.mark.parametrize("base", ["clevr-counting", "clevr-counting-mini"])
def test_presets_differ_only_in_size(base: str) -> None:
    spec = spec_of(base)
    assert list(spec.splits) == ["train", "val", "test", "grounding"]
    assert spec.for_split("grounding").questions.per_scene == 1
    of_size = ("splits", "title", "description")
    other = spec_of("clevr-counting", seed=spec.seed)
    assert {name: value for name, value in spec if name not in of_size} == {
        name: value for name, value in other if name not in of_size
    }
    assert spec.for_split("grounding").questions == other.for_split("grounding").questions


def test_the_preset_of_tallyqa_has_its_numbers_of_odd_answers() -> None:
    """Table 3 of the paper, without a shift: odd and even answers of train and val together, and of test."""
    spec = spec_of("clevr-counting-tallyqa")
    published = {"train": (87_289 + 9_635, 137_102 + 15_292), "test": (23_138, 15_451)}
    for split, (odd, even) in published.items():
        shares = spec.for_split(split).questions.shares
        assert sum(shares[1::2]) == pytest.approx(odd / (odd + even), abs=1e-5)
        for parity in (shares[0::2], shares[1::2]):
            assert all(after / before == pytest.approx(0.75**2, abs=0.001) for before, after in pairwise(parity))
    assert spec.for_split("val").questions == spec.for_split("train").questions


def test_answers_of_each_split_have_its_own_shares() -> None:
    """A plan of 77 scenes has its part of every answer."""
    spec = spec_of("clevr-counting-tallyqa")
    for split in ("train", "test"):
        chance = stream(seed=spec.seed, split=split, index=0, stage=Stage.QUESTIONS)
        planned = [one for scene in plan_chunk(spec.for_split(split), 0, chance) for one in scene]
        odd = sum(one.answer % 2 for one in planned) / len(planned)
        assert odd == pytest.approx(sum(spec.for_split(split).questions.shares[1::2]), abs=0.02)


def test_expected_shares_are_those_of_the_spec() -> None:
    spec = spec_of(most=20, questions={"shares": [0.5, 0.5]})
    assert WORLD.expected_shares(spec) == {"answer": [0.5, 0.5, *[0.0] * 19]}
    assert WORLD.most_counted(spec) == 20
    assert WORLD.answers(spec) == tuple(map(str, range(21)))
