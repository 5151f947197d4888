"""Captions and microworlds in the models of the original program."""

import math
import re
from collections import Counter
from itertools import islice
from typing import Any

import pytest

from generation.engine import dataset
from generation.engine.language.token_vocabulary import split_words
from generation.engine.worlds import get_maker
from generation.engine.worlds.shapeworld.caption_parameters import Thresholds
from generation.engine.worlds.shapeworld.formats.original_serialization import (
    caption_model,
    polish,
    reverse_polish,
    world_model,
)
from generation.engine.worlds.shapeworld.functions import truth_of
from generation.engine.worlds.shapeworld.logical_form import program_of
from generation.engine.worlds.shapeworld.microworld import Microworld
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.scene import SHAPES, Entity, FlatScene
from generation.engine.worlds.shapeworld.spec import PRESETS, read_spec
from generation.engine.worlds.shapeworld.vocabulary import ShapeColor, ShapeVocabulary
from tests.proof import size
from tests.worlds.shapeworld.original_meaning import World
from tests.worlds.shapeworld.pictured import outline, scene_of
from tests.worlds.shapeworld.test_captions import WORLDS, captions
from tests.worlds.shapeworld.test_item_sampler import scene_of as scene_in
from webapp import documentation

WORDS = ShapeVocabulary()
WORDS_OF_ALL = ShapeVocabulary(colors={**WORDS.colors, "gray": ShapeColor(rgb=(128, 128, 128))})


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("There is a red square.", "Attribute-shape-square Attribute-color-red 2 EntityType"),
        (
            "There is a square that is red.",
            "Attribute-shape-square 1 EntityType Attribute-color-red Relation-attribute Existential",
        ),
        (
            "The red circle is to the left of the blue cross.",
            "Attribute-shape-circle Attribute-color-red 2 EntityType Selector-unique "
            "Attribute-shape-cross Attribute-color-blue 2 EntityType Relation-x-rel--1 Existential",
        ),
        (
            "The square is red.",
            "Attribute-shape-square 1 EntityType Selector-unique Attribute-color-red Relation-attribute Existential",
        ),
        (
            "A square is not bigger than a circle.",
            "Attribute-shape-square 1 EntityType "
            "Attribute-shape-circle 1 EntityType Relation-size-rel-1 Relation-negation--1 Existential",
        ),
        (
            "A square is closer to the circle than the cross is.",
            "Attribute-shape-square 1 EntityType Attribute-shape-cross 1 EntityType "
            "Attribute-shape-circle 1 EntityType Selector-unique Relation-proximity-rel--1 Existential",
        ),
        (
            "The square closest to the cross is red.",
            "Attribute-shape-square 1 EntityType Attribute-shape-cross 1 EntityType Selector-unique "
            "Selector-proximity-max--1 Attribute-color-red Relation-attribute Existential",
        ),
        (
            "Most shapes are squares.",
            "0 EntityType Attribute-shape-square 1 EntityType Relation-type Quantifier-ratio-gt-0.5",
        ),
        (
            "At least two of the five squares are red.",
            "Attribute-shape-square 1 EntityType Attribute-color-red "
            "Relation-attribute Quantifier-count-geq-2 NumberBound-5",
        ),
        (
            "Exactly twice as many squares as circles are red.",
            "Attribute-shape-square 1 EntityType Attribute-shape-circle 1 EntityType "
            "Attribute-color-red Relation-attribute ComparativeQuantifier-ratio-eq-2.0",
        ),
        (
            "There is a red square and there is a circle.",
            "Attribute-shape-square Attribute-color-red 2 EntityType Attribute-shape-circle 1 EntityType "
            "2 Proposition-conjunction",
        ),
        (
            "If there is a red square, then there is a circle.",
            "Attribute-shape-circle 1 EntityType Attribute-shape-square Attribute-color-red 2 EntityType "
            "2 Proposition-implication",
        ),
    ],
)
def test_captions_have_the_notation_of_the_original(text: str, notation: str) -> None:
    model = caption_model(Parser(WORDS).parse(text))
    assert " ".join(reverse_polish(model)) == notation
    assert sorted(polish(model)) == sorted(reverse_polish(model))
    assert polish(model)[0] == reverse_polish(model)[-1]


def test_the_documentation_has_both_notations_of_a_red_square() -> None:
    model = caption_model(Parser(WORDS).parse("There is a red square."))
    text = " ".join(documentation.source("shapeworld").split())
    assert f"`{' '.join(polish(model))}` in Polish notation" in text
    assert f"`{' '.join(reverse_polish(model))}` in reverse Polish notation" in text


def test_parts_of_models_have_the_names_of_the_original() -> None:
    def square(color: str) -> dict[str, Any]:
        named = {"shape": "square", "color": color}
        value = [{"component": "Attribute", "predtype": name, "value": one} for name, one in named.items()]
        return {"component": "EntityType", "predtype": "type", "value": value}

    def body(text: str) -> Any:
        return caption_model(Parser(WORDS).parse(text))["body"]

    assert body("A circle is not to the left of a red square.") == {
        "component": "Relation",
        "predtype": "negation",
        "value": -1,
        "reference": {"component": "Relation", "predtype": "x-rel", "value": -1, "reference": square("red")},
    }
    assert body("A circle is farther from the red square than the blue square is.") == {
        "component": "Relation",
        "predtype": "proximity-rel",
        "value": 1,
        "reference": square("blue"),
        "comparison": {"component": "Selector", "predtype": "unique", "scope": square("red")},
    }
    assert caption_model(Parser(WORDS).parse("The red square closest to the blue square is a circle."))[
        "restrictor"
    ] == {
        "component": "Selector",
        "predtype": "proximity-max",
        "value": -1,
        "scope": square("red"),
        "comparison": {"component": "Selector", "predtype": "unique", "scope": square("blue")},
    }


@pytest.mark.parametrize("name", ["relational", "selection", "quantification-complex", "logical"])
def test_models_mean_the_same_as_captions(name: str) -> None:
    """By its own rules, the original finds a true caption true and a false one false, or finds it ambiguous."""
    spec = read_spec(PRESETS[f"shapeworld-{name}"]).for_split("train")
    found: Counter[str] = Counter()
    for scene, caption in captions(spec, size(6_000, name=f"{name}: the original's agreements", most=100), each=WORLDS):
        agreement = original_world(scene).agreement(caption_model(caption.meaning))
        kind = "open" if agreement == 0 else "same" if (agreement == 1) == caption.agreement else "opposite"
        assert kind != "opposite", caption.text
        found[kind] += 1
    assert found["same"] > 0.75 * found.total(), found


def test_the_original_finds_no_caption_with_closest_or_farthest_opposite() -> None:
    """False captions about a shape that is closer than another, but not the closest, are left out."""
    preset = PRESETS["shapeworld-selection"]
    spec = read_spec({**preset, "captions": {**preset["captions"], "selectors": ["closest", "farthest"]}})
    found: Counter[tuple[int, bool]] = Counter()
    count = size(2_000, name="captions with closest and farthest", least=150)
    for scene, caption in captions(spec.for_split("train"), count, each=WORLDS):
        if re.search("closest|farthest", caption.text):
            found[original_world(scene).agreement(caption_model(caption.meaning)), caption.agreement] += 1
    assert found[1, False] == found[-1, True] == 0
    assert found.total() > 0.3 * count
    assert found[1, True] > 0.4 * found.total()


def original_world(scene: FlatScene) -> World:
    def pairs(masks: tuple[int, ...]) -> list[tuple[int, int]]:
        return [(one, other) for one, mask in enumerate(masks) for other in range(one) if mask >> other & 1]

    return World(world_model(scene, WORDS_OF_ALL), overlaps=pairs(scene.covers), grazes=pairs(scene.grazes))


def test_the_original_accepts_the_second_closest_as_the_closest() -> None:
    """The answers are opposite if the caption is about an entity that is closer than another, but not the closest."""
    places = (("cross", "white", 0.1), ("square", "blue", 0.2), ("square", "red", 0.5), ("square", "green", 0.8))
    scene = scene_of(*(Entity(shape, color, 0.0, x, 0.5, 0.1, 0.1, 0.0) for shape, color, x in places))
    world = Microworld(scene, Thresholds())
    for color, ours, theirs in (("blue", 1, 1), ("red", -1, 1), ("green", -1, 0)):
        meaning = Parser(WORDS).parse(f"The square closest to the cross is {color}.")
        assert truth_of(program_of(meaning), world) == ours
        assert original_world(scene).agreement(caption_model(meaning)) == theirs
    assert world.nearer_than_another(0b1110, 0b0001, "closest") == 0b0110  # blue and red
    assert world.nearer_than_another(0b1111, 0b0001, "farthest") == 0b1100  # red and green; the cross itself is none


def test_batches_contain_models_of_the_original_on_request() -> None:
    shapes = dataset("shapeworld-relational", seed=4)
    batch = shapes.generate(6, "train", include_model=True)
    spec = read_spec({**PRESETS["shapeworld-relational"], "seed": 4})
    words = spec.vocabulary
    chunk = get_maker("shapeworld").plan(spec, "train")[0]
    items = list(islice(get_maker("shapeworld").make(spec, "train", chunk), 6))
    assert batch.world_model == [world_model(scene_in(item), words) for item in items]
    texts = [item.questions[0].text for item in items]
    assert batch.caption_model == [caption_model(Parser(words).parse(text)) for text in texts]
    assert [shapes.vocabulary.decode(row) for row in batch.words] == [" ".join(split_words(text)) for text in texts]


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_in_the_same_place_as_in_the_original(shape: str) -> None:
    """The y axis of the original also points down, but its triangles point down before they are rotated."""
    entity = Entity(shape, "red", 0.25, 0.3, 0.6, 0.2, 0.1, 0.125)
    model = world_model(scene_of(entity), WORDS)["entities"][0]
    half = (model["shape"]["size"]["x"], model["shape"]["size"]["y"])
    assert half == (0.1, 0.05)
    if shape == "triangle":
        turn = math.tau * model["rotation"]
        corners = [(-half[0], -half[1]), (half[0], -half[1]), (0.0, half[1])]
        theirs = [
            (0.3 + x * math.cos(turn) - y * math.sin(turn), 0.6 + x * math.sin(turn) + y * math.cos(turn))
            for x, y in corners
        ]
        assert sorted(theirs) == [pytest.approx(place, abs=1e-6) for place in sorted(outline(entity))]
    box = model["bounding_box"]
    for x, y in outline(entity):
        assert box["topleft"]["x"] - 1e-6 <= x <= box["bottomright"]["x"] + 1e-6
        assert box["topleft"]["y"] - 1e-6 <= y <= box["bottomright"]["y"] + 1e-6
