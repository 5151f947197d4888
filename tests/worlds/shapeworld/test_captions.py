"""Captions are definitely true or definitely false, of their type, in words that mean what is run, and as declared."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from generation.engine.program import to_json
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.worlds.shapeworld.caption_parameters import ALL_RELATIONS, ALL_SELECTORS, KINDS
from generation.engine.worlds.shapeworld.captions import Caption, Captioner
from generation.engine.worlds.shapeworld.logical_form import head_of, makes_sense, program_of, statements
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.phrases import (
    COMPARISONS,
    DIFFERING,
    PAPER,
    PROXIMITIES,
    QUANTIFIERS,
    RELATIONS,
)
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.scene_sampling import sample_scene
from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec, read_spec
from tests.proof import size
from tests.worlds.shapeworld import twin
from tests.worlds.shapeworld.drawn import VOCABULARY, brought_together, said_of

WORLDS = 12  # captions of each microworld that proofs look at: sampling takes longer than captioning
EVERYTHING: dict[str, Any] = {
    "relations": list(ALL_RELATIONS),
    "selectors": list(ALL_SELECTORS),
    "quantifiers": list(QUANTIFIERS),
    "nouns": {"both": 1.0, "shape": 1.0, "color": 1.0},
    "articles": {"a": 2.0, "the": 1.0},
    "existential": {"there": 1.0, "body": 1.0},
    "patterns": dict.fromkeys(
        ("thing-color", "thing-shape", "thing-both", "shape-color", "color-shape", "relation"), 1.0
    ),
    "negation": 0.3,
}
CROWDED = {"entities_min": 4, "entities_max": 9, "size_max": 0.25, "shade": 0.4, "collision_tolerance": 0.25}
HELD_OUT = [["square", "red"], ["circle", "blue"], ["cross", "green"]]


def spec_of(kind: str, **parameters: Any) -> ShapeWorldSpec:
    """Return a spec of one caption type in which everything may be said."""
    return read_spec(
        {
            "splits": {"train": {"scenes": 1}},
            "scene": {**CROWDED, "choosing": {"reinforced": 1.0}},
            "captions": {**EVERYTHING, "kinds": {kind: 1.0}, **parameters},
            "held_out": {"combinations": HELD_OUT},
        }
    )


def chance(index: int = 0) -> Stream:
    return stream(seed=5, split="captions", index=index, stage=Stage.QUESTIONS)


def captions(spec: ShapeWorldSpec, count: int, *, each: int = 1, index: int = 0) -> Iterator[tuple[FlatScene, Caption]]:
    """Yield so many captions with their microworlds, of each world so many, true and false in turn."""
    captioner, random = Captioner(spec), chance(index)
    made = 0
    while made < count:
        scene = sample_scene(spec, random)
        for _ in range(each):
            fits = made % 2 == 0
            caption = captioner.caption(scene, random, fits=fits, other=lambda: sample_scene(spec, random))
            if caption is not None:
                assert caption.agreement == fits
                made += 1
                yield scene, caption


@pytest.mark.parametrize("negatives", ["world", "corrupt"])
@pytest.mark.parametrize("kind", KINDS)
def test_agreements_are_the_twins(kind: str, negatives: str):
    wanted = size(10_000, name=f"{kind}, false by {negatives}: agreements as the twin has them")
    parser, held_out = Parser(spec_of(kind).vocabulary), {(shape, color) for shape, color in HELD_OUT}
    for scene, caption in captions(spec_of(kind, negatives=negatives), wanted, each=WORLDS):
        truth = twin.run(to_json(caption.program), scene.to_json())[-1]
        assert truth == (1 if caption.agreement else -1), (caption.text, scene)
        assert caption.kind == kind, caption.text
        meaning = parser.parse(caption.text)
        assert (meaning, program_of(meaning)) == (caption.meaning, caption.program)
        assert all(not brought_together(one) & held_out for one in statements(meaning)), caption.text
        assert makes_sense(meaning), caption.text


PAPERS = ("shapeworld-oneshape", "shapeworld-multishape", "shapeworld-spatial", "shapeworld-quantifier")
VARIANTS = ("shapeworld-oneshape-balanced", "shapeworld-spatial-corrupt")
AFTER_CODE = (
    "shapeworld-existential",
    "shapeworld-relational",
    "shapeworld-selection",
    "shapeworld-quantification",
    "shapeworld-quantification-complex",
    "shapeworld-logical",
)


@cache
def made_of(name: str) -> tuple[Caption | None, ...]:
    """Return captions of a preset's training microworlds, true and false in turn; None for a world thrown away."""
    spec = read_spec(PRESETS[name]).for_split("train")
    captioner, random = Captioner(spec), chance()

    def world() -> FlatScene:
        return sample_scene(spec, random)

    count = size(10_000, name=f"captions of {name}")
    return tuple(captioner.caption(world(), random, fits=turn % 2 == 0, other=world) for turn in range(count))


def of_preset(name: str) -> list[Caption]:
    return [caption for caption in made_of(name) if caption is not None]


def thrown_away(name: str) -> int:
    return made_of(name).count(None)


@pytest.mark.parametrize("name", PAPERS + VARIANTS + AFTER_CODE)
def test_held_out_combinations_are_never_named_in_training(name: str):
    spec = read_spec(PRESETS[name]).for_split("train")
    held_out = set(spec.held_out.combinations)
    assert held_out or name in ("shapeworld-multishape", "shapeworld-quantifier")
    for caption in of_preset(name):
        assert all(not brought_together(one) & held_out for one in statements(caption.meaning)), caption.text


def shares(found: Counter[str]) -> dict[str, float]:
    return {name: count / found.total() for name, count in found.items()}


@pytest.mark.parametrize("agreement", [True, False])
@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("shapeworld-spatial", ("left", "right", "above", "below")),
        ("shapeworld-quantifier", PAPER),
        ("shapeworld-logical", ("and", "or", "if", "iff")),
    ],
)
def test_what_captions_turn_on_is_as_likely_true_as_false(name: str, heads: tuple[str, ...], agreement: bool):
    found = Counter(head_of(one.meaning) for one in of_preset(name) if one.agreement == agreement)
    assert set(found) == set(heads)
    share = 1 / len(heads)
    by_chance = 4 * math.sqrt(share * (1 - share) / found.total())  # of two shapes, one is beside the other or above it
    assert shares(found) == pytest.approx(dict.fromkeys(heads, share), abs=0.01 + by_chance)


def test_comparisons_quantifiers_and_bounds_are_about_as_likely():
    found = of_preset("shapeworld-quantification-complex")
    kinds = shares(Counter(one.kind for one in found))
    assert kinds == pytest.approx(
        dict.fromkeys(("quantification", "number-bound", "comparative-quantification"), 1 / 3), abs=0.08
    )
    for kind, known in (("quantification", len(QUANTIFIERS)), ("comparative-quantification", len(COMPARISONS))):
        heads = Counter(head_of(one.meaning) for one in found if one.kind == kind)
        assert len(heads) > 0.8 * min(known, heads.total())
        assert max(heads.values()) < 2.5 * heads.total() / known + 2, kind  # changed captions turn on what is common


def test_every_combination_but_the_held_out_one_is_as_likely():
    found = Counter(one.text for one in of_preset("shapeworld-oneshape") if one.agreement)
    assert len(found) == 55
    mean = found.total() / 55
    assert sum((count - mean) ** 2 / mean for count in found.values()) < 54 + 5 * math.sqrt(2 * 54)


def test_patterns_of_quantifiers_are_about_as_declared():
    found: Counter[tuple[tuple[bool, bool], ...]] = Counter()
    for caption in of_preset("shapeworld-quantifier"):
        [statement] = statements(caption.meaning)
        found[tuple((noun.shape is not None, noun.color is not None) for noun in said_of(statement))] += 1
    assert len(found) == 5
    assert min(shares(found).values()) > 0.15


@pytest.mark.parametrize("name", PAPERS + VARIANTS + AFTER_CODE)
def test_worlds_are_hardly_ever_thrown_away(name: str):
    most = 0.05 if name.startswith("shapeworld-spatial") else 0.01  # two alike can't be called the red square
    assert thrown_away(name) <= most * len(of_preset(name))


def test_the_same_chance_gives_the_same_captions():
    for name in AFTER_CODE:
        spec = read_spec(PRESETS[name]).for_split("train")
        one, other = ([caption.text for _, caption in captions(spec, 20, index=3)] for _ in range(2))
        assert one == other


def test_a_world_of_one_value_admits_false_captions():
    spec = read_spec({**PRESETS["shapeworld-existential"], "scene": {"entities_min": 1, "entities_max": 1}})
    for scene, caption in captions(spec.for_split("train"), 40):
        assert caption.agreement == (twin.run(to_json(caption.program), scene.to_json())[-1] == 1)


@pytest.mark.parametrize("part", ["shape", "color"])
def test_only_the_part_with_weight_is_changed(part: str):
    other = "color" if part == "shape" else "shape"
    spec = spec_of("existential", negatives="corrupt", existential={"there": 1.0}, corruption={"noun": {part: 1.0}})
    for scene, caption in captions(spec, 60):
        [noun] = said_of(statements(caption.meaning)[0])
        assert any(getattr(entity, other) == getattr(noun, other) for entity in scene.entities)


@pytest.mark.parametrize(("rate", "least", "most"), [(1.0, 0.9, 1.0), (0.0, 0.0, 0.8)])
def test_changed_captions_name_what_the_picture_has_as_often_as_the_parameter_says(
    rate: float, least: float, most: float
):
    spec = spec_of("unique", negatives="corrupt", existing_attribute_rate=rate)
    named = []
    for scene, caption in captions(spec, 400, each=4):
        if not caption.agreement:
            body = said_of(statements(caption.meaning)[0])[1]
            named.append(any(body.shape in (None, e.shape) and body.color in (None, e.color) for e in scene.entities))
    assert least <= sum(named) / len(named) <= most


@pytest.mark.parametrize(
    ("text", "sense"),
    [
        ("More squares than squares are red.", False),
        ("More squares than crosses are red.", True),
        ("The red square is above the red square.", False),
        ("A red square is above a red square.", True),
        ("A cross is closer to the red square than the red square is.", False),
        ("The cross is closer to the red square than the cross is.", False),
        ("The cross is closer to the red square than the circle is.", True),
        ("A square has the same shape as a red square.", False),
        ("A red shape has a different shape from a square.", True),
        ("Most squares have the same color as the red square.", True),
        ("A square is bigger than a circle.", False),
        ("A square is bigger than a red square.", True),
        ("A red shape is darker than a green shape.", False),
        ("The leftmost square is above the square.", True),
    ],
)
def test_nothing_is_said_that_its_words_decide(text: str, sense: bool):
    assert makes_sense(Parser(VOCABULARY).parse(text)) == sense


PHRASES = f"(?:{'|'.join({**RELATIONS, **DIFFERING, **PROXIMITIES}.values())})"


@pytest.mark.parametrize("negatives", ["world", "corrupt"])
@pytest.mark.parametrize("kind", ["relational", "relational-single-attribute"])
def test_what_a_negated_relation_refers_to_is_there(kind: str, negatives: str):
    """Whether a square is not above a circle where there is no circle is read in both ways."""
    wanted = size(2_000, name=f"{kind}, false by {negatives}: negated relations refer to something")
    for scene, caption in captions(spec_of(kind, negatives=negatives, negation=1.0), wanted, each=WORLDS):
        if " not " not in caption.text:
            continue  # corrupting a caption may take its negation away
        _, *referred = said_of(statements(caption.meaning)[0])
        for place, noun in enumerate(referred):
            fitting = [
                entity
                for entity in scene.entities
                if noun.shape in (None, entity.shape) and noun.color in (None, entity.color)
            ]
            is_the = place == 1 or not re.search(rf"{PHRASES} an? ", caption.text)
            assert len(fitting) == 1 if is_the else fitting, caption.text


@pytest.mark.parametrize(("negation", "is_negated"), [(0.0, False), (1.0, True)])
def test_relations_are_negated_only_as_the_parameter_says(negation: float, is_negated: bool):
    spec = spec_of("relational", negatives="corrupt", negation=negation, corruption={"negation": {"relation": 1.0}})
    for _, caption in captions(spec, 400, each=WORLDS):
        assert (" not " in caption.text) == is_negated, caption.text
