"""Specs of microworlds: the presets of the paper and of the original code, and bad specs."""

import json
from typing import Any

import pytest

from generation.engine.content_hash import digest
from generation.engine.errors import BadSpec
from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec, read_spec

SMALL = {"splits": {"train": {"scenes": 4}}}
RED_SQUARE = ["square", "red"]


def own(name: str, split: str) -> ShapeWorldSpec:
    """Return a preset with the settings of one of its splits."""
    return read_spec(PRESETS[name]).for_split(split)


@pytest.mark.parametrize("name", tuple(PRESETS))
def test_a_preset_is_unchanged_after_json(name: str) -> None:
    spec = read_spec(PRESETS[name])
    assert digest(read_spec(json.loads(json.dumps(spec.to_json()))).to_json()) == digest(spec.to_json())
    assert list(spec.splits) == ["train", "validation", "test"]


@pytest.mark.parametrize("name", tuple(PRESETS))
def test_training_shows_no_held_out_things(name: str) -> None:
    for part in own(name, "train").parts:
        assert part.forbidden == frozenset(part.held_out.combinations)
        assert not set(part.counts) & set(part.held_out.counts)
        assert not part.held_out.shows_counts
    held_out = [part.held_out for part in own(name, "test").parts]
    assert any(one.shows_combinations or one.shows_counts for one in held_out)


@pytest.mark.parametrize(
    ("name", "counts", "left", "shown"),
    [
        ("oneshape", (1,), 55, [1]),
        ("multishape", (1, 2, 3, 4), 56, [5]),
        ("spatial", (2,), 55, [2]),
        ("quantifier", (3, 4, 5, 6), 56, [7]),
    ],
)
def test_presets_of_the_paper_are_those_of_section_4(
    name: str, counts: tuple[int, ...], left: int, shown: list[int]
) -> None:
    train, test = (own(f"shapeworld-{name}", split) for split in ("train", "test"))
    assert (train.counts, len(train.combinations)) == (counts, left)
    assert (train.captions.correct, test.captions.correct) == (0.33, 0.5)
    assert (train.images.width, train.scene.size_min, train.scene.size_max, train.scene.shade) == (64, 0.1, 0.15, 0.5)
    assert (test.held_out.shows_counts or list(test.counts)) == shown
    assert len(test.combinations) == 56


def test_presets_of_the_original_code_hold_out_thirteen_combinations() -> None:
    spec = read_spec(PRESETS["shapeworld-logical"])
    assert len(set(spec.held_out.combinations)) == 13
    shown = [spec.for_split(split).held_out.shows_combinations for split in ("validation", "test")]
    assert sorted(shown[0] + shown[1]) == sorted(spec.held_out.combinations)
    assert "white" not in spec.vocabulary.colors


def test_parts_of_a_mixture_inherit_its_pictures_and_share_of_true_captions() -> None:
    data = {"base": "shapeworld-mixer", "images": {"width": 32, "height": 32, "noise": 0.0}}
    spec = read_spec(data).for_split("test")
    assert [part.captions.kinds for part in spec.parts] == [
        {"existential": 1.0},
        {"existential": 1.0},
        {"quantification": 1.0},
        {"relational": 1.0},
    ]
    assert spec.weights == (1.0, 1.0, 2.0, 2.0)
    assert {(part.images.width, part.captions.correct) for part in spec.parts} == {(32, 0.5)}
    assert read_spec(data).for_split("train").parts[0].captions.correct == 0.33
    assert spec.most_entities == 7
    assert spec.part(2).held_out.shows_counts == [7]
    assert spec.part(None) is spec.parts[0]


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"scene": {"entities_min": 5, "entities_max": 4}}, "scene", "entities_min up to entities_max"),
        ({"scene": {"entities_max": 50, "size_min": 0.15}}, "scene", "fit into the world"),
        ({"scene": {"size_min": 0.2}}, "scene", "size_min up to size_max"),
        ({"scene": {"choosing": {"sorted": 1.0}}}, "scene.choosing.sorted", "random"),
        ({"images": {"width": 32}}, "images", "square worlds"),
        ({"held_out": {"shows_counts": [3]}}, "held_out", "shows_counts among held_out.counts"),
        ({"held_out": {"space_min": 0.5, "space_max": 0.2}}, "held_out", "space_min"),
        ({"held_out": {"combinations": [["square", "pink"]]}}, "", "held-out combinations of the vocabulary"),
        ({"held_out": {"combinations": [["star", "red"]]}}, "held_out.combinations.0.0", "square"),
        ({"held_out": {"counts": list(range(1, 11))}}, "", "not held out"),
        ({"vocabulary": {"colors": {"circle": {"rgb": [1, 2, 3]}}}}, "vocabulary", "otherwise than other words"),
        ({"vocabulary": {"colors": {"left": {"rgb": [1, 2, 3]}}}}, "vocabulary", "otherwise than other words"),
        ({"vocabulary": {"colors": {"night": {"rgb": [0, 0, 0]}}}}, "vocabulary", "other than the background"),
        ({"mix": {"shapeworld-mixer": 1.0}}, "mix.shapeworld-mixer", "shapeworld-oneshape"),
        ({"mix": {"shapeworld-logical": 1.0}}, "vocabulary", "gray"),
        ({"base": "no such preset"}, "base", "shapeworld-oneshape"),
        ({"base": 3}, "base", "name of a preset"),
        ({"splits": {"train": {"scenes": 4, "reference": "val"}}}, "splits.train.reference", "other splits"),
    ],
)
def test_bad_input_is_refused_and_its_field_is_named(changes: dict[str, Any], where: str, words: str) -> None:
    with pytest.raises(BadSpec) as refused:
        read_spec({**SMALL, **changes})
    assert refused.value.where == where
    assert words in str(refused.value)


def test_an_additional_colour_keeps_those_of_the_preset() -> None:
    spec = read_spec({"base": "shapeworld-oneshape", "vocabulary": {"colors": {"orange": {"rgb": [255, 140, 0]}}}})
    assert list(spec.vocabulary.colors) == sorted(
        [*read_spec(PRESETS["shapeworld-oneshape"]).vocabulary.colors, "orange"]
    )
    alone = read_spec({**SMALL, "vocabulary": {"colors": {"orange": {"rgb": [255, 140, 0]}}}})
    assert list(alone.vocabulary.colors) == ["orange"]


def test_colours_are_shaded_towards_black_and_white() -> None:
    red = read_spec(SMALL).vocabulary.colors["red"]
    assert [red.shaded(shade) for shade in (-1.0, -0.5, 0.0, 0.5, 1.0)] == [
        (0, 0, 0),
        (128, 0, 0),
        (255, 0, 0),
        (255, 128, 128),
        (255, 255, 255),
    ]
