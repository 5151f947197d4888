"""The colours that participants must distinguish: their samples, and captions without colours."""

import re

import numpy as np
import pytest

from annotations.answering import color_vision
from annotations.answering.answer_forms import swatches_of
from generation.engine.worlds import get_world
from generation.making import dataset_jobs

WORLD = get_world("shapeworld")
SPEC = WORLD.read_spec({"base": "shapeworld-quantifier"})
COLOURS = {"blue", "cyan", "green", "magenta", "red", "white", "yellow"}


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("name", sorted(COLOURS))
def test_a_sample_is_a_shape_of_its_colour_on_the_background(name: str, which: int) -> None:
    rgb = WORLD.draw_colour(SPEC, name, which=which, size=60)
    assert rgb is not None and (rgb.shape, rgb.dtype) == ((60, 60, 3), np.uint8)
    assert tuple(rgb[30, 30]) == WORLD.swatches(SPEC)[name]
    assert not rgb[:2].any()  # black


@pytest.mark.django_db
def test_captions_without_colours_need_no_colour_vision() -> None:
    splits = {"train": {"scenes": 60}, "validation": None, "test": None}
    spec = {"world": "shapeworld", "base": "shapeworld-quantifier", "splits": splits}
    dataset = dataset_jobs.start(spec, slug="flat", visibility="public", images=False)
    dataset_jobs.work(dataset=dataset)
    split = dataset.splits.get(name="train")
    assert set(swatches_of(split)) == COLOURS
    named = re.compile(rf"\b({'|'.join(COLOURS)}|colou?r)\b")
    texts = dict(split.question_set.values_list("position", "text"))
    plain = {position for position, text in texts.items() if not named.search(text)}
    assert 0 < len(plain) < len(texts)
    assert set(color_vision.without_colours(split, list(texts))) == plain
