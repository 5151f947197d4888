"""Microworlds as data: JSON, masks, areas, and bad scenes."""

import json
import math
from typing import Any

import pytest

from generation.engine.errors import BadScene
from generation.engine.worlds.shapeworld.scene import Entity, FlatScene, read_scene

SQUARE = Entity("square", "red", 0.0, 0.25, 0.5, 0.2, 0.2, 0.125)
CIRCLE = Entity("circle", "blue", -0.2, 0.35, 0.5, 0.2, 0.2, 0.0)
SCENE = FlatScene((SQUARE, CIRCLE), (0, 1), (0, 0), 64, 64, noise=0.1, noise_seed=7)


def test_a_scene_is_unchanged_after_json() -> None:
    assert read_scene(json.loads(json.dumps(SCENE.to_json()))) == SCENE


def test_masks_mark_the_entities_with_a_value() -> None:
    assert (SCENE.having("shape", "square"), SCENE.having("color", "blue"), SCENE.having("shape", "cross")) == (1, 2, 0)
    assert SCENE.everything == 3


def test_the_area_is_that_of_the_shape() -> None:
    assert SQUARE.area == 0.04
    assert CIRCLE.area == round(math.pi * 0.01, 6)
    radius = 0.5  # of the circle through the corners of a regular pentagon
    wide, high = 2 * radius * math.sin(math.tau / 5), radius * (1 + math.cos(math.tau / 10))
    pentagon = Entity("pentagon", "red", 0.0, 0.5, 0.5, wide, high, 0.0)
    assert pentagon.area == round(2.5 * radius**2 * math.sin(math.tau / 5), 6)


@pytest.mark.parametrize(
    "change",
    [
        {"entities": []},
        {"entities": [SQUARE.to_json()]},
        {"covers": [[], [1]]},
        {"covers": [[0], []]},
        {"covers": [[], [0.0]]},
        {"grazes": [[], [0]]},
        {"grazes": [[]]},
        {"entities": [SQUARE.to_json(), {**CIRCLE.to_json(), "x": math.inf}]},
        {"entities": [SQUARE.to_json(), {**CIRCLE.to_json(), "shape": "star"}]},
        {"height": None},
    ],
)
def test_a_bad_scene_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadScene):
        read_scene({**SCENE.to_json(), **change})
