"""Sampled microworlds follow every parameter, contain no held-out things in training, and have the declared shares."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from generation.engine.errors import Exhausted
from generation.engine.verification.proof import Proof
from generation.engine.worlds.shapeworld.proofs.scenes import prove_scene
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.scene_sampling import sample_scene, shades
from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec, read_spec
from tests import proof
from tests.worlds.shapeworld.pictured import chance


def spec_of(scene: dict[str, Any], **parts: Any) -> ShapeWorldSpec:
    """Return a spec with these parameters."""
    return read_spec({"splits": {"train": {"scenes": 1}}, "scene": scene, **parts})


def sample_scenes(spec: ShapeWorldSpec, count: int, *, index: int = 0) -> list[FlatScene]:
    """Return `count` microworlds."""
    random = chance(index)
    return [sample_scene(spec, random) for _ in range(count)]


def flaws(spec: ShapeWorldSpec, scene: FlatScene) -> list[Any]:
    """Return all errors that the verification finds in a microworld."""
    found = Proof()
    prove_scene(spec, scene, found)
    return found.settle()


def parts_of(split: str) -> list[tuple[str, ShapeWorldSpec]]:
    """Return every preset with the settings of a split. Mixtures are replaced by their parts."""
    return [(name, part) for name in tuple(PRESETS) for part in read_spec(PRESETS[name]).for_split(split).parts]


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_presets_follow_their_parameters(split: str) -> None:
    for name, spec in parts_of(split):
        for scene in sample_scenes(spec, proof.size(200, least=3)):
            assert flaws(spec, scene) == [], name


@settings(max_examples=proof.size(600, most=25), deadline=None)
@given(
    some.fixed_dictionaries(
        {
            "entities_max": some.integers(1, 8),
            "size_min": some.floats(0.05, 0.15),
            "size_max": some.floats(0.15, 0.3),
            "size_by": some.sampled_from(["area", "length"]),
            "rotation": some.booleans(),
            "shade": some.floats(0.0, 1.0),
            "collision_tolerance": some.sampled_from([0.0, 0.1, 0.25, 0.6]),
            "boundary_tolerance": some.sampled_from([None, 0.0, 0.3]),
            "collision_rate": some.floats(0.0, 1.0),
            "collision_shade": some.floats(0.0, 1.0),
            "choosing": some.sampled_from([{"random": 1.0}, {"limited": 1.0}, {"reinforced": 2.0, "limited": 1.0}]),
        }
    ),
    some.integers(0, 2**32),
)
def test_any_parameters_are_followed(parameters: dict[str, Any], index: int) -> None:
    spec = spec_of(parameters)
    for scene in sample_scenes(spec, 3, index=index):
        assert flaws(spec, scene) == []


def test_an_entity_near_another_stays_inside_if_the_boundary_is_strict() -> None:
    spec = spec_of({"entities_max": 5, "collision_tolerance": 0.1, "boundary_tolerance": 0.0, "collision_rate": 1.0})
    for scene in sample_scenes(spec, 100):
        assert flaws(spec, scene) == []


def test_training_contains_no_held_out_things() -> None:
    for name, spec in parts_of("train"):
        for scene in sample_scenes(spec, proof.size(4_000, name="worlds without what is held out", most=80)):
            assert not {entity[:2] for entity in scene.entities} & set(spec.held_out.combinations), name
            assert len(scene.entities) not in spec.held_out.counts, name


def test_evaluation_shows_held_out_things_as_often_as_configured() -> None:
    held_out = {
        "combinations": [["square", "red"], ["circle", "blue"]], "counts": [3, 5],
        "shows_combinations": [["square", "red"]], "shows_counts": [5],
        "combination_rate": 0.25, "count_rate": 0.75, "space_max": 0.0,
    }  # fmt: skip
    spec = spec_of({"entities_min": 2, "entities_max": 4}, held_out=held_out)
    scenes = sample_scenes(spec, 2_000)
    counts = Counter(len(scene.entities) for scene in scenes)
    assert set(counts) == {2, 4, 5}
    assert counts[5] / 2_000 == pytest.approx(0.75, abs=0.04)
    kinds = Counter(entity[:2] for scene in scenes for entity in scene.entities)
    assert ("circle", "blue") not in kinds
    shown = sum(scene.having("shape", "square") & scene.having("color", "red") > 0 for scene in scenes) / 2_000
    by_chance = 1 - sum(counts[n] / 2_000 * (54 / 55) ** n for n in counts)
    assert shown == pytest.approx(0.25 + 0.75 * by_chance, abs=0.04)


def test_shapes_colours_and_numbers_are_uniform() -> None:
    spec = read_spec(PRESETS["shapeworld-multishape"]).for_split("train")
    scenes = sample_scenes(spec, 4_000)
    kinds = Counter(entity[:2] for scene in scenes for entity in scene.entities)
    assert len(kinds) == 56
    assert chi_square(kinds) < 100  # with 55 degrees of freedom, one in 4,000 is above
    assert chi_square(Counter(len(scene.entities) for scene in scenes)) < 20


def chi_square(counts: Counter[Any]) -> float:
    """Return the chi-square value of counts that should be equal."""
    expected = sum(counts.values()) / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts.values())


def test_sizes_rotations_shades_and_places_are_uniform() -> None:
    spec = spec_of({"entities_max": 1, "size_min": 0.1, "size_max": 0.2}, vocabulary={"shapes": ["circle"]})
    entities = [scene.entities[0] for scene in sample_scenes(spec, 3_000)]
    plain = [entity for entity in entities if entity.color != "white"]
    for values, low, high in (
        ([entity.width**2 for entity in entities], 0.01, 0.04),
        ([entity.rotation for entity in entities], 0.0, 1.0),
        ([entity.shade for entity in plain], -0.5, 0.5),
        ([(entity.x - entity.width / 2) / (1 - entity.width) for entity in entities], 0.0, 1.0),
    ):
        assert distance_from_uniform(values, low, high) * math.sqrt(len(values)) < 2.0  # one in 1,500 is above
    assert shades(spec, "white") == (-0.5, 0.0)
    assert max(entity.shade for entity in entities if entity.color == "white") <= 0.0


def distance_from_uniform(values: list[float], low: float, high: float) -> float:
    """Return the largest distance between the distribution of the values and a uniform one."""
    ordered = (np.sort(values) - low) / (high - low)
    steps = np.arange(len(values)) / len(values)
    return float(max(np.abs(ordered - steps).max(), np.abs(ordered - steps - 1 / len(values)).max()))


def test_limited_microworlds_have_few_shapes_and_colours() -> None:
    spec = spec_of({"entities_min": 15, "entities_max": 15, "choosing": {"limited": 1.0}})
    for scene in sample_scenes(spec, 30):
        assert len({entity.shape for entity in scene.entities}) <= 4
        assert len({entity.color for entity in scene.entities}) <= 4


def test_reinforced_microworlds_repeat_shapes() -> None:
    def repeats(choosing: dict[str, float]) -> float:
        scenes = sample_scenes(spec_of({"entities_min": 10, "entities_max": 10, "choosing": choosing}), 60)
        return float(np.mean([max(Counter(e.shape for e in scene.entities).values()) for scene in scenes]))

    assert repeats({"reinforced": 1.0}) > repeats({"random": 1.0}) + 0.5


def test_overlaps_occur_if_they_are_allowed() -> None:
    spec = spec_of({"entities_min": 6, "entities_max": 6, "collision_tolerance": 0.25, "size_max": 0.25})
    scenes = sample_scenes(spec, 40)
    assert any(any(scene.covers) for scene in scenes)
    assert any(any(scene.grazes) for scene in scenes)


def test_a_microworld_without_room_causes_an_error_with_the_number_of_tries() -> None:
    spec = spec_of({"entities_min": 12, "entities_max": 12, "size_min": 0.28, "size_max": 0.28, "scene_tries": 3})
    with pytest.raises(Exhausted, match="3 tries") as given_up:
        sample_scenes(spec, 1)
    assert given_up.value.count == 3
