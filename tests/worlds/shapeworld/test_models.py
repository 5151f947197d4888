"""Captions and microworlds as the original program models them."""

import math

import pytest

from generation.engine.worlds.shapeworld.formats.models import caption_model, polish, reverse_polish, world_model
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.scene import SHAPES, Entity
from generation.engine.worlds.shapeworld.vocabulary import Vocabulary
from tests.worlds.shapeworld.pictured import outline, scene_of

WORDS = Vocabulary()


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
            "Attribute-shape-cross Attribute-color-blue 2 EntityType Selector-unique Relation-x-rel--1 Existential",
        ),
        (
            "A square is not bigger than a circle.",
            "Attribute-shape-square 1 EntityType "
            "Attribute-shape-circle 1 EntityType Relation-size-rel-1 Relation-negation Existential",
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
    ],
)
def test_captions_have_the_originals_notation(text: str, notation: str) -> None:
    model = caption_model(Parser(WORDS).parse(text))
    assert " ".join(reverse_polish(model)) == notation
    assert sorted(polish(model)) == sorted(reverse_polish(model))
    assert polish(model)[0] == reverse_polish(model)[-1]


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_lie_where_the_original_draws_them(shape: str) -> None:
    """The original has y downwards, too, but its triangles point down before they are turned."""
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
