"""Pictures of microworlds: shapes are in the right place, as drawn by another program, and noise is as configured."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from generation.engine.worlds.shapeworld.footprints import GAP, GRID, MARGIN, SIDE, Footprint
from generation.engine.worlds.shapeworld.picture import CUT, draw, noise_levels
from generation.engine.worlds.shapeworld.proofs.geometry import patch
from generation.engine.worlds.shapeworld.scene import SHAPES, Entity
from generation.engine.worlds.shapeworld.shape_geometry import reach
from generation.engine.worlds.shapeworld.vocabulary import ShapeVocabulary
from tests import proof
from tests.worlds.shapeworld.pictured import draw_by_pillow, entities, outline, scene_of

WORDS = ShapeVocabulary()
EDGE_POINTS = 3  # points on an edge may count as inside or outside


def as_array(mask: int) -> np.ndarray:
    """Return a set of grid points as a bool array of shape `(GRID, GRID)`."""
    bits = np.unpackbits(np.frombuffer(mask.to_bytes(-(-SIDE * SIDE // 8), "little"), np.uint8), bitorder="little")
    return bits[: SIDE * SIDE].reshape(SIDE, SIDE)[MARGIN : MARGIN + GRID, MARGIN : MARGIN + GRID].astype(bool)


@settings(max_examples=proof.size(1_000), deadline=None)
@given(some.lists(entities, min_size=1, max_size=4))
def test_a_picture_equals_that_of_pillow(shown: list[Entity]) -> None:
    rgb, ids = draw(scene_of(*shown), WORDS)
    other, others = draw_by_pillow(scene_of(*shown), WORDS)
    assert np.abs(rgb.astype(int) - other).mean() < 1.0
    assert (ids == others).mean() > 0.98  # Pillow's polygons include their outline, which is half a point wide


@settings(max_examples=proof.size(1_000), deadline=None)
@given(entities)
def test_a_footprint_equals_that_of_half_planes(entity: Entity) -> None:
    found, slow = Footprint(entity).points, patch(entity, side=GRID)
    assert abs(found.all - slow.size) <= EDGE_POINTS
    inside = np.zeros((GRID, GRID), bool)
    rows, columns = np.nonzero(slow.within(GRID).covered)
    inside[rows + slow.row, columns + slow.column] = True
    assert (as_array(found.mask) != inside).sum() <= EDGE_POINTS
    assert found.mask.bit_count() == as_array(found.mask).sum()


@settings(max_examples=proof.size(400), deadline=None)
@given(entities, entities)
def test_entities_touch_if_their_distance_is_within_the_gap(one: Entity, other: Entity) -> None:
    first, second = Footprint(one), Footprint(other)
    here, there = (np.argwhere(as_array(each.points.mask)) for each in (first, second))
    apart = np.abs(here[:, None] - there[None]).max(axis=2).min(initial=99) if len(here) and len(there) else 99
    assert first.touches(second) == (apart <= GAP) == second.touches(first)
    assert (
        first.common(second)
        == second.common(first)
        == (as_array(first.points.mask) & as_array(second.points.mask)).sum()
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_the_area_is_proportional_to_the_number_of_points(shape: str) -> None:
    width, height = (
        0.5,
        {"triangle": math.sqrt(3) / 4, "pentagon": 0.5 * math.cos(math.pi / 10), "semicircle": 0.25}.get(shape, 0.5),
    )
    entity = Entity(shape, "red", 0.0, 0.5, 0.5, width, height, 0.1)
    assert Footprint(entity).points.all / GRID**2 == pytest.approx(entity.area, rel=0.02)


@settings(max_examples=200, deadline=None)
@given(entities)
def test_an_entity_is_within_its_reach(entity: Entity) -> None:
    across, along = reach(entity)
    for x, y in outline(entity):
        assert abs(x - entity.x) <= across + 1e-5
        assert abs(y - entity.y) <= along + 1e-5


def test_later_entities_are_drawn_over_earlier_ones() -> None:
    below = Entity("square", "red", 0.0, 0.5, 0.5, 0.5, 0.5, 0.0)
    above = Entity("circle", "blue", 0.0, 0.5, 0.5, 0.25, 0.25, 0.0)
    rgb, ids = draw(scene_of(below, above), WORDS)
    assert (rgb[32, 32].tolist(), ids[32, 32]) == ([0, 0, 255], 2)
    assert (rgb[18, 18].tolist(), ids[18, 18]) == ([255, 0, 0], 1)
    assert (rgb[2, 2].tolist(), ids[2, 2]) == ([0, 0, 0], 0)


def test_colours_are_shaded_and_the_background_is_painted() -> None:
    entity = Entity("square", "red", -0.5, 0.5, 0.5, 0.5, 0.5, 0.0)
    rgb, _ = draw(scene_of(entity, side=100), ShapeVocabulary(background=(10, 20, 30)))
    assert rgb.shape == (100, 100, 3)
    assert (rgb[50, 50].tolist(), rgb[0, 0].tolist()) == ([128, 0, 0], [10, 20, 30])


def test_noise_is_a_truncated_normal_distribution_and_depends_on_the_seed() -> None:
    gray = ShapeVocabulary(background=(128, 128, 128))
    entity = Entity("square", "red", 0.0, 0.1, 0.1, 0.03, 0.03, 0.0)
    plain, ids = draw(scene_of(entity, side=256), gray)
    noisy, others = (draw(scene_of(entity, side=256, noise=0.1, seed=seed), gray)[0].astype(int) for seed in (3, 4))
    off = noisy - plain
    assert np.array_equal(ids, draw(scene_of(entity, side=256, noise=0.1), gray)[1])
    assert abs(off[64:]).max() == round(CUT * 25.5)
    assert off[64:].std() == pytest.approx(25.5 * 0.8796, rel=0.01)  # a normal truncated at two deviations
    assert abs(off[64:].mean()) < 0.2
    for one, two in ((off[64:], (others - plain)[64:]), (off[64:-1], off[65:]), (off[64:, :-1], off[64:, 1:])):
        assert abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(off[64:, :, 0].ravel(), off[64:, :, 1].ravel())[0, 1]) < 0.02


def test_noise_equals_that_of_a_slow_twin() -> None:
    scene, words = scene_of(Entity("circle", "cyan", 0.2, 0.5, 0.5, 0.4, 0.4, 0.0), noise=0.05, seed=2**32 - 1), WORDS
    plain, _ = draw(scene_of(*scene.entities), words)
    levels, whole, slow = noise_levels(0.05), 2**64 - 1, plain.astype(int).ravel()
    for at in range(slow.size):
        bits = ((scene.noise_seed << 32) + at - at % 5) * 0x9E3779B97F4A7C15 & whole
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & whole
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & whole
        bits ^= bits >> 31
        slow[at] = min(max(slow[at] + levels[bits >> 12 * (at % 5) & 4095], 0), 255)
    assert np.array_equal(draw(scene, words)[0].ravel(), slow)
