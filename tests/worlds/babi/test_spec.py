"""Specs of bAbI: the presets, and bad specs, each of which is refused with one message."""

import json
from typing import Any

import pytest

from generation.engine.content_hash import digest
from generation.engine.errors import BadSpec
from generation.engine.worlds.babi import spec as spec_module
from generation.engine.worlds.babi.spec import PRESETS, BabiSpec, read_spec
from generation.engine.worlds.babi.story_parameters import TASKS, StoryParameters
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests.worlds.babi.items import generate_items

SMALL = {"world": "babi", "splits": {"train": {"questions": 4}}}
SIZES = {
    "babi": {"train": 1_000, "test": 1_000},
    "babi-10k": {"train": 10_000, "test": 1_000},
    "babi-valid": {"train": 900, "val": 100, "test": 1_000},
    "babi-hard": {"train": 1_000, "test": 1_000},
    "babi-shuffled": {"train": 1_000, "test": 1_000},
    "babi-hindi": {"train": 1_000, "test": 1_000},
}


def read(data: Any) -> BabiSpec:
    return read_spec(data)


def test_there_are_twenty_tasks_with_distinct_names() -> None:
    assert tuple(BY_NUMBER) == TASKS
    assert len({task.name for task in BY_NUMBER.values()}) == len({task.label for task in BY_NUMBER.values()}) == 20


@pytest.mark.parametrize("name", tuple(PRESETS))
def test_a_preset_is_unchanged_after_json_and_has_equally_many_questions_of_each_task(name: str) -> None:
    spec = read(PRESETS[name])
    assert digest(read(json.loads(json.dumps(spec.to_json()))).to_json()) == digest(spec.to_json())
    assert read({"base": name}).to_json() == spec.to_json()
    assert list(spec.splits) == list(SIZES[name])
    for split, questions in SIZES[name].items():
        again = read({"base": name, "splits": {split: {"questions": questions}}})
        assert again.to_json() == spec.to_json()


def test_every_preset_is_listed() -> None:
    assert set(PRESETS) == set(SIZES)
    assert next(iter(PRESETS)) == "babi"


def test_another_number_of_questions_or_stories_replaces_that_of_the_preset() -> None:
    spec = read({"base": "babi", "tasks": [1, 19], "splits": {"train": {"scenes": 50}, "test": {"questions": 30}}})
    assert (spec.splits["train"].scenes, spec.splits["test"].scenes) == (50, 6 + 30)
    items = generate_items(spec, "train")
    assert len(items) == 50
    assert {question.family for item in items for question in item.questions} == {1, 19}


FAULTS: dict[str, tuple[Any, str, str]] = {
    "no tasks": ({"tasks": []}, "splits.train.tasks", "tasks of 1 to 20, got []"),
    "no such task": ({"tasks": [21]}, "splits.train.tasks", "got [21]"),
    "task 0": ({"tasks": [0]}, "splits.train.tasks", "got [0]"),
    "a task twice": ({"tasks": [2, 2]}, "tasks", "each task once, got [2, 2]"),
    "a task by its name": ({"tasks": ["counting"]}, "splits.train.tasks", "1 to 20"),
    "tasks that are no list": ({"tasks": 3}, "splits.train.tasks", "list of tasks"),
    "true for a task": ({"tasks": [True]}, "tasks.0", "integer"),
    "no things": ({"told": {"things": 0}}, "told.things", "1, got 0"),
    "too many things": ({"told": {"things": 9}}, "told.things", "8, got 9"),
    "one person": ({"told": {"people": 1}}, "told.people", "2, got 1"),
    "two places": ({"told": {"places": 2}}, "told.places", "3, got 2"),
    "a distance below 0": ({"told": {"distance": -1}}, "told.distance", "0, got -1"),
    "a distance beyond stories": ({"told": {"distance": 150}}, "told.distance", "task 14 (time)"),
    "a distance that two people can't be": ({"told": {"people": 2, "distance": 3}, "tasks": [12]}, "told.people", "2"),
    "a distance beyond a split's stories": (
        {"splits": {"test": {"questions": 4, "overrides": {"told": {"distance": 150}, "tasks": [14]}}}},
        "splits.test.overrides.told.distance",
        "task 14 (time)",
    ),
    "an unknown parameter": ({"told": {"rooms": 4}}, "told.rooms", "known key"),
    "an unknown language": ({"told": {"language": "klingon"}}, "told.language", "klingon"),
    "text for a switch": ({"told": {"faithful": "yes"}}, "told.faithful", "boolean"),
    "questions and scenes": (
        {"splits": {"train": {"questions": 4, "scenes": 4}}},
        "splits.train.questions",
        "or scenes, got both",
    ),
    "neither": ({"splits": {"train": {}}}, "splits.train.scenes", "none came"),
    "no questions": ({"splits": {"train": {"questions": 0}}}, "splits.train.questions", "1 to 1,000,000"),
    "half a question": ({"splits": {"train": {"questions": 0.5}}}, "splits.train.questions", "0.5"),
    "true questions": ({"splits": {"train": {"questions": True}}}, "splits.train.questions", "True"),
    "no stories": ({"splits": {"train": {"scenes": 0}}}, "splits.train.scenes", "1, got 0"),
    "a number for a split": ({"splits": {"train": 5}}, "splits.train", "object, got 5"),
    "two splits of the same stories": (
        {"splits": {"test": {"questions": 4}, "exam": {"questions": 4}}},
        "splits.exam.overrides.stories",
        "other stories than test",
    ),
    "stories of two splits overlap": (
        {"splits": {"test": {"questions": 4, "overrides": {"stories": {"low": 0.4, "high": 1.0}}}}},
        "splits.test.overrides.stories",
        "other stories than train",
    ),
    "an empty part": (
        {"splits": {"test": {"questions": 4, "overrides": {"stories": {"low": 0.9, "high": 0.9}}}}},
        "splits.test.overrides.stories",
        "low below high",
    ),
    "a part beyond all": ({"stories": {"low": 0.5, "high": 1.5}}, "stories.high", "1, got 1.5"),
    "no splits": ({"splits": {"train": None}}, "splits.train", "object, got null"),
    "a preset of another name": ({"base": "babi-100k"}, "base", "babi-10k"),
    "a preset that is no name": ({"base": 3}, "base", "name of a preset"),
    "a list": ([], "", "object, got list"),
    "an unknown key": ({"questions": 5}, "questions", "known key"),
    "a reference that isn't there": (
        {"splits": {"train": {"questions": 4, "reference": "test"}}},
        "splits.train.reference",
        "other splits",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_bad_input_is_refused_and_its_field_is_named(name: str) -> None:
    changes, where, words = FAULTS[name]
    splits = {**SMALL["splits"], **(changes.get("splits") or {})} if isinstance(changes, dict) else {}  # type: ignore[dict-item]
    with pytest.raises(BadSpec) as refused:
        read({**SMALL, **changes, "splits": splits} if isinstance(changes, dict) else changes)
    assert refused.value.where == where, str(refused.value)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_faithful_splits_may_have_the_same_stories() -> None:
    spec = read({**SMALL, "splits": {"one": {"questions": 4}, "two": {"questions": 4}}, "told": {"faithful": True}})
    assert spec.part_of("one") == spec.part_of("two")


def test_the_named_parameter_is_one_without_which_the_task_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spec_module.failing_parameter(14, StoryParameters(distance=200)) == "distance"
    assert spec_module.can_be_told(14, StoryParameters(distance=10)) and not spec_module.can_be_told(
        14, StoryParameters(distance=15)
    )
    monkeypatch.setattr(spec_module, "can_be_told", lambda task, parameters: False)
    assert spec_module.failing_parameter(14, StoryParameters(distance=200, people=5)) is None
    with pytest.raises(BadSpec) as refused:
        read({**SMALL, "told": {"people": 5}, "tasks": [3]})
    assert refused.value.where == "told" and "got none" in str(refused.value)
