"""Episodes: everything that gymnasium's checker of environments checks, and what a user could get wrong."""

import json
from typing import Any

import numpy as np
import pytest

from generation.engine.environment import Environment, create_dataset
from generation.engine.environment.episodes import ObservationSpace, PictureSpace, TextSpace
from generation.engine.errors import BadSpec, EngineError
from tests.engine.environment.specs import SMALL

ONESHAPE = "shapeworld-oneshape"


def equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return set(one) == set(other) and all(np.array_equal(one[name], other[name]) for name in one)


# What gymnasium's checker checks (gymnasium.utils.env_checker.check_env)


@pytest.mark.parametrize("name", SMALL)
def test_reset_gives_an_observation_of_the_space_and_information(name: str) -> None:
    with Environment(SMALL[name]) as environment:
        answer = environment.reset(seed=1)
        assert isinstance(answer, tuple) and len(answer) == 2
        observation, info = answer
        assert observation in environment.observation_space
        assert isinstance(info, dict)
        assert ("image" in observation) == (name != "babi")


@pytest.mark.parametrize("name", SMALL)
def test_a_step_gives_five_values_of_the_right_types(name: str) -> None:
    environment = Environment(SMALL[name])
    first, _ = environment.reset(seed=1)
    answer = environment.step("no")
    assert isinstance(answer, tuple) and len(answer) == 5
    observation, reward, terminated, truncated, info = answer
    assert observation in environment.observation_space and equal(observation, first)
    assert isinstance(reward, float) and reward in (0.0, 1.0)
    assert (terminated, truncated) == (True, False)
    assert isinstance(info, dict)


def test_reset_with_a_seed_is_deterministic_and_seeds_differ() -> None:
    environment = Environment(ONESHAPE)
    firsts = [environment.reset(seed=seed)[0] for seed in (5, 5, 6)]
    assert equal(firsts[0], firsts[1]) and not equal(firsts[0], firsts[2])
    assert equal(Environment(ONESHAPE).reset(seed=5)[0], firsts[0])


def test_episodes_after_a_seed_are_deterministic() -> None:
    def play() -> list[Any]:
        environment = Environment(ONESHAPE)
        found = [environment.reset(seed=3)[0]["prompt"]]
        for _ in range(6):
            found.append(environment.step("yes").reward)
            found.append(environment.reset()[0]["prompt"])
        return found

    assert play() == play()


def test_reset_without_a_seed_goes_on_with_the_next_item() -> None:
    environment = Environment(ONESHAPE)
    assert [environment.reset()[1]["index"] for _ in range(3)] == [0, 1, 2]
    environment.reset(seed=0)
    assert environment.item is not None and environment.item.index == 0


def test_reset_accepts_its_arguments_by_name_and_none() -> None:
    assert Environment(ONESHAPE).reset(seed=None, options=None)[1]["index"] == 0
    assert Environment(ONESHAPE).reset(options={})[1]["index"] == 0


def test_samples_belong_to_the_spaces_and_seeds_repeat_them() -> None:
    environment = Environment(ONESHAPE)
    for space in (environment.action_space, environment.observation_space):
        space.seed(1)
        first = space.sample()
        space.seed(1)
        again = space.sample()
        assert first in space
        assert equal(first, again) if isinstance(first, dict) else first == again


def test_a_sampled_action_can_be_played() -> None:
    environment = Environment(ONESHAPE)
    environment.action_space.seed(2)
    for _ in range(5):
        environment.reset()
        assert environment.step(environment.action_space.sample()).terminated


def test_render_modes_are_listed_and_followed() -> None:
    assert Environment.metadata["render_modes"] == ["rgb_array"]
    environment = Environment(ONESHAPE, render_mode="rgb_array")
    assert environment.render() is None
    observation, _ = environment.reset(seed=1)
    drawn = environment.render()
    assert drawn is not None and np.array_equal(drawn, observation["image"])
    silent = Environment(ONESHAPE)
    silent.reset()
    assert silent.render() is None
    story = Environment("babi", render_mode="rgb_array")
    story.reset()
    assert story.render() is None
    with pytest.raises(ValueError, match="Expected the render mode rgb_array or None, got 'human'"):
        Environment(ONESHAPE, render_mode="human")


def test_an_environment_has_the_attributes_of_gymnasiums() -> None:
    environment = Environment(ONESHAPE)
    assert environment.unwrapped is environment and environment.spec is None
    environment.close()
    environment.close()


# Episodes


def test_the_right_answer_earns_one_and_is_told_after_the_step() -> None:
    environment = Environment(ONESHAPE)
    for _ in range(10):
        _, info = environment.reset()
        assert environment.item is not None
        assert set(info) == {"index", "choices", "kind"}
        reply = environment.item.answer
        result = environment.step(f"Answer: {reply}")
        assert (result.reward, result.info["answer"]) == (1.0, reply)
        assert set(result.info["difficulty"]) == {"objects", "captions"}


def test_a_step_needs_an_open_episode() -> None:
    environment = Environment(ONESHAPE)
    with pytest.raises(RuntimeError, match="Expected reset"):
        environment.step("yes")
    environment.reset()
    environment.step("yes")
    with pytest.raises(RuntimeError, match="Expected reset"):
        environment.step("yes")


@pytest.mark.parametrize("reply", [None, 3, b"yes", ["yes"]])
def test_a_reply_that_is_no_text_is_refused_and_the_episode_stays_open(reply: Any) -> None:
    environment = Environment(ONESHAPE)
    environment.reset()
    with pytest.raises(TypeError, match="Expected a reply as a text"):
        environment.step(reply)
    assert environment.step("yes").terminated


def test_a_reply_beyond_the_space_earns_nothing() -> None:
    environment = Environment(ONESHAPE)
    environment.reset(seed=1)
    assert environment.item is not None
    said = environment.item.answer
    assert environment.step(" " * environment.action_space.longest + said).reward == 0.0


def test_options_choose_the_item_and_the_level() -> None:
    environment = Environment(create_dataset(ONESHAPE, seed=1))
    assert environment.reset(options={"index": 300})[1]["index"] == 300
    assert environment.reset()[1]["index"] == 301
    environment.reset(options={"objects": 4})
    assert environment.step("yes").info["difficulty"]["objects"] == 4
    assert environment.reset()[1]["index"] == 1
    assert environment.step("yes").info["difficulty"]["objects"] == 4
    environment.reset(options={"level": "hard"})
    assert environment.dataset.levels == {"objects": "hard", "captions": "hard"}
    environment.reset(seed=7)
    assert environment.dataset.levels == {"objects": "hard", "captions": "hard"}


@pytest.mark.parametrize(
    ("seed", "options", "message"),
    [
        (-1, None, "Expected a whole number of at least 0 as seed, got -1"),
        (1.5, None, "Expected a whole number of at least 0 as seed, got 1.5"),
        (True, None, "Expected a whole number of at least 0 as seed"),
        (None, {"index": -1}, "Expected a whole number of at least 0 as index, got -1"),
        (None, {"level": "hardest"}, "level: Expected one of easy, medium, hard, got 'hardest'"),
        (None, {"colour": 3}, "level: Expected one of objects, captions, got 'colour'"),
    ],
)
def test_bad_arguments_of_reset_are_refused(seed: Any, options: Any, message: str) -> None:
    with pytest.raises((ValueError, BadSpec), match=message):
        Environment(ONESHAPE).reset(seed=seed, options=options)


@pytest.mark.parametrize(
    ("seed", "options"),
    [(9, {"level": "hardest"}), (9, {"index": 4, "colour": 3}), (9, {"captions": "medium"}), (None, {"index": 10**30})],
)
def test_a_refused_reset_leaves_the_environment_as_it_was(seed: Any, options: Any) -> None:
    environment = Environment(create_dataset(ONESHAPE, seed=1))
    first, _ = environment.reset()
    with pytest.raises((ValueError, EngineError, IndexError)):
        environment.reset(seed=seed, options=options)
    assert environment.dataset.spec.seed == 1 and environment.dataset.levels == {}
    assert equal(environment.step("yes").observation, first)
    assert environment.reset()[1]["index"] == 1


def test_a_split_beside_a_dataset_is_refused() -> None:
    dataset = create_dataset(ONESHAPE)
    with pytest.raises(ValueError, match="got a dataset of the split train and the split 'test'"):
        Environment(dataset, split="test")
    assert Environment(ONESHAPE, split="test").dataset.split == "test"


def test_after_the_last_item_of_a_dataset_the_first_follows() -> None:
    environment = Environment(create_dataset(ONESHAPE, 3))
    assert [environment.reset()[1]["index"] for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_a_changed_observation_changes_no_other() -> None:
    environment = Environment(ONESHAPE)
    observation, _ = environment.reset()
    observation["image"][:] = 0
    assert environment.step("yes").observation["image"].any()


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (TextSpace(3), "four"),
        (TextSpace(3), 3),
        (PictureSpace(2, 3), np.zeros((3, 2, 3), np.uint8)),
        (PictureSpace(2, 3), np.zeros((2, 3, 3))),
        (PictureSpace(2, 3), [[0]]),
        (ObservationSpace({"prompt": TextSpace()}), {}),
        (ObservationSpace({"prompt": TextSpace()}), {"prompt": "a", "image": None}),
        (ObservationSpace({"prompt": TextSpace()}), "a"),
    ],
)
def test_other_values_are_outside_a_space(space: Any, value: Any) -> None:
    assert value not in space


def test_steps_are_asked_for_and_rewarded_on_request() -> None:
    environment = Environment(ONESHAPE, steps_weight=0.25)
    observation, _ = environment.reset(seed=1)
    item = environment.item
    assert item is not None and observation["prompt"] == item.prompt_with_steps
    steps = json.dumps([{"step": step.function, "result": step.result} for step in item.steps])
    assert environment.step(f"{steps}\nAnswer: neither").reward == 0.25
    environment.reset(seed=1)
    assert environment.step(f"{steps}\nAnswer: {item.answer}").reward == 1.0
    with pytest.raises(ValueError, match="Expected a steps_weight from 0 to 1, got 2"):
        Environment(ONESHAPE, steps_weight=2)
