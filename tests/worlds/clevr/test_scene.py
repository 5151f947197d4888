"""CLEVR's scenes in files: the meaning of `rotation`, and bad values that are refused."""

import random
from typing import Any

import pytest

from generation.engine.errors import BadScene
from generation.engine.worlds.clevr.scene import read_published, read_scene
from tests.worlds.clevr.drawn import random_scene

PUBLISHED = 269.84548  # this means 341 degrees, not 270


def record(rotation: float) -> dict[str, Any]:
    scene = random_scene(random.Random(0), 1)
    scene["objects"][0]["rotation"] = rotation
    return scene


def test_a_published_rotation_is_in_radians() -> None:
    [thing] = read_published(record(PUBLISHED)).objects
    assert (thing.rotation, thing.published_rotation) == (pytest.approx(341.0, abs=1.0), PUBLISHED)
    [thing] = read_scene(record(PUBLISHED)).objects
    assert (thing.rotation, thing.published_rotation) == (PUBLISHED, None)


def test_a_published_scene_is_stored_with_both_numbers() -> None:
    scene = read_published(record(PUBLISHED))
    assert read_scene(scene.to_json()) == scene


def test_contradictory_rotations_are_refused() -> None:
    stored = read_published(record(PUBLISHED)).to_json()
    stored["objects"][0]["rotation"] += 1.0
    with pytest.raises(BadScene, match=r"Expected the published rotation in degrees, .*, got"):
        read_scene(stored)


def test_a_rotation_that_is_too_large_is_refused() -> None:
    with pytest.raises(BadScene, match="Expected a rotation in radians, got 1e\\+308"):
        read_published(record(1e308))
