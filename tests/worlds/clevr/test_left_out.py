"""Families that a vocabulary makes trivial are left out of new datasets, and are named with their reasons."""

from typing import Any

import pytest

from generation.engine.errors import BadSpec
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.question_rules import left_out

WORLD = get_world("clevr")
ONE_SHAPE: dict[str, Any] = {
    "base": "clevr-mini",
    "vocabulary": {"shapes": {"sphere": None, "cylinder": None}},
    "splits": {"train": {"scenes": 20}, "val": None, "test": None},
}


def test_a_question_whose_answer_is_always_the_same_is_not_asked() -> None:
    spec = WORLD.read_spec(ONE_SHAPE)
    maker = get_maker("clevr")
    asked = {
        question.family
        for chunk in maker.plan(spec, "train")
        for item in maker.make(spec, "train", chunk)
        for question in item.questions
    }
    assert {12, 39, 86} <= set(left_out(spec)) and asked and asked.isdisjoint(left_out(spec))
    old = WORLD.read_stored_spec({**ONE_SHAPE, "splits": {"train": {"scenes": 1}, "val": None, "test": None}})
    assert left_out(old) == {} and "trivial_families" not in old.to_json()["questions"]


def test_the_sentences_name_family_question_and_reason() -> None:
    said = WORLD.left_out(WORLD.read_spec(ONE_SHAPE), "train")
    assert any(one.startswith("Family 39, such as “") and one.endswith("”: the answer is always yes.") for one in said)
    assert any(one.startswith("Family 86, ") and "shape" in one and one.endswith("always cube.") for one in said)


def test_rules_over_objects_count_as_the_vocabulary_does() -> None:
    spec = WORLD.read_spec({"base": "clevr-mini", "scene": {"only": [{"color": "red"}]}})
    assert {10, 88} <= set(left_out(spec))
    split = {"splits": {"val": {"overrides": {"scene": {"only": [{"color": "red"}]}}}}}
    spec = WORLD.read_spec({"base": "clevr-mini", **split})
    assert left_out(spec.for_split("train")) == {} != left_out(spec.for_split("val"))


def test_a_usual_spec_leaves_nothing_out_and_has_the_same_json_as_before() -> None:
    for name in get_maker("clevr").presets():
        spec = WORLD.read_spec({"base": name})
        assert "trivial_families" not in spec.to_json()["questions"]
        assert [WORLD.left_out(spec, split) for split in spec.splits] == [()] * len(spec.splits)


def test_a_spec_that_leaves_families_out_is_read_again_as_it_is() -> None:
    spec = WORLD.read_spec(ONE_SHAPE)
    assert (
        WORLD.read_spec(spec.to_json()).to_json() == WORLD.read_stored_spec(spec.to_json()).to_json() == spec.to_json()
    )


def test_more_questions_than_families_that_are_left_are_refused() -> None:
    with pytest.raises(
        BadSpec, match="Expected at most 77, the number of families that can have two different"
    ) as refused:
        WORLD.read_spec({**ONE_SHAPE, "questions": {"per_scene": 80}})
    assert refused.value.where == "questions.per_scene"
