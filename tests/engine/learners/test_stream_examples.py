"""Examples from a stream: any of its scenes, the same for the same arguments, and a training from end to end.

`tests/leaderboards/training/test_example_folders.py` compares them with examples from a stored split.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.errors import BadSpec, BadTraining
from generation.engine.learners import find_learner
from generation.engine.learners.base import ExampleParts, LearnerConfig, accuracy
from generation.engine.learners.classical.nearest_question import NearestQuestion
from generation.engine.learners.examples import Examples
from generation.engine.learners.stream_examples import stream_examples
from generation.engine.worlds import REGISTRY
from tests.engine.environment.specs import SMALL
from tests.engine.learners.conformance import SilentReporter
from tests.engine.learners.test_example_writer import as_lists
from tests.proof import sample, size
from tests.worlds import marbles

MARBLES = marbles.PRESETS["marbles"]
LONG = 20  # scenes; a chunk of marbles has 3


@pytest.fixture(autouse=True, scope="module")
def _marbles() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(REGISTRY, marbles.NAME, marbles.WHERE)
        yield


class Sized(LearnerConfig):
    """Settings of a method that sees pictures, in the size of marbles."""

    height: int = 4
    width: int = 36


class WithPictures(NearestQuestion):
    """A method that needs pictures, programs and boxes."""

    needs = ExampleParts(images=True, programs=True, regions=True)
    config_model = Sized


def marble_examples(*, scenes: int, first: int = 0, split: str = "train", seed: int | None = None) -> Examples:
    learner = WithPictures(Sized(), seed=0)
    return stream_examples(MARBLES, split, learner, scenes=scenes, first=first, seed=seed)


def of_scenes(examples: Examples, first: int, scenes: int) -> Examples:
    """Return the examples about some scenes, slowly, as if there were no others."""
    found = examples.select(np.flatnonzero((examples.items >= first) & (examples.items < first + scenes)))
    assert examples.images is not None and examples.regions is not None
    starts, boxes, ids, labels = examples.regions
    place = slice(int(starts[first]), int(starts[first + scenes]))
    own = starts[first : first + scenes + 1] - starts[first]
    regions = examples.regions._replace(starts=own, boxes=boxes[place], ids=ids[place], labels=labels[place])
    images = examples.images[first : first + scenes]
    return replace(found, items=found.items - first, images=images, regions=regions)


@given(st.integers(0, LONG - 1), st.data())
@settings(max_examples=size(20, least=8), deadline=None)
def test_the_scenes_of_a_stream_can_be_read_from_any_scene_on(first: int, data: st.DataObject) -> None:
    scenes = data.draw(st.integers(1, LONG - first))
    found = marble_examples(scenes=scenes, first=first)
    assert as_lists(found) == as_lists(of_scenes(marble_examples(scenes=LONG), first, scenes))


def test_the_seed_and_the_split_decide_the_examples() -> None:
    def content(**changes: Any) -> str:
        return repr(as_lists(replace(marble_examples(scenes=LONG, **changes), name="")))

    assert content() == content(seed=0)
    assert len({content(), content(seed=1), content(split="val")}) == 3


@pytest.mark.parametrize(
    ("name", "spec"),
    sample([("n-grams", {"base": "babi", "tasks": [20]}), ("bag-of-words", SMALL["clevr"])], gate=1),
)
def test_a_method_is_trained_and_tested_on_streams(name: str, spec: Any) -> None:
    method = find_learner(name)
    learner = method(method.read_config({}, size="mini"), seed=1)
    train = stream_examples(spec, "train", learner, scenes=60)
    val = stream_examples(spec, "train", learner, scenes=20, first=60)
    test = stream_examples(spec, "test", learner, scenes=40, seed=9)
    learner.fit(train, val, report=SilentReporter())
    share = accuracy(learner.predict(test.without_answers()), test)
    assert test.answers is not None and share is not None
    assert share > 1.2 * Counter(test.answers).most_common(1)[0][1] / len(test)
    assert learner.examples_seen >= len(train)


def test_a_method_that_needs_pictures_refuses_a_stream_of_stories() -> None:
    learner = WithPictures(Sized(), seed=0)
    stories = stream_examples({"base": "babi", "tasks": [1]}, "train", learner, scenes=2)
    with pytest.raises(BadTraining, match="babi/train: Expected examples with images and regions"):
        learner.fit(stories, stories, report=SilentReporter())


@pytest.mark.parametrize("numbers", [{"scenes": 0}, {"scenes": 3, "first": -1}])
def test_scenes_that_a_stream_does_not_have_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1 scene"):
        marble_examples(**numbers)


def test_a_split_that_the_spec_does_not_have_is_refused() -> None:
    with pytest.raises(BadSpec, match="split: Expected one of train, val, got 'trian'"):
        marble_examples(scenes=1, split="trian")
