"""Captions are certainly true or certainly false, have the declared type, and their text and program mean the same."""

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
from tests.worlds.shapeworld.drawn import VOCABULARY, combinations_of, nouns_of

WORLDS = 12  # captions for each microworld in proofs, because sampling a microworld takes longer than a caption
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
    """Return a spec of one caption type in which every kind of word is allowed."""
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
    """Yield `count` captions with their microworlds, `each` of one microworld, true and false in turn."""
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
def test_agreements_equal_those_of_the_twin(kind: str, negatives: str):
    wanted = size(10_000, name=f"{kind}, false by {negatives}: agreements as the twin has them", most=2 * WORLDS)
    parser, held_out = Parser(spec_of(kind).vocabulary), {(shape, color) for shape, color in HELD_OUT}
    for scene, caption in captions(spec_of(kind, negatives=negatives), wanted, each=WORLDS):
        truth = twin.run(to_json(caption.program), scene.to_json())[-1]
        assert truth == (1 if caption.agreement else -1), (caption.text, scene)
        assert caption.kind == kind, caption.text
        meaning = parser.parse(caption.text)
        assert (meaning, program_of(meaning)) == (caption.meaning, caption.program)
        assert all(not combinations_of(one) & held_out for one in statements(meaning)), caption.text
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
# Other tests of this file count the captions of these presets, so each run makes them.
COUNTED = ("shapeworld-oneshape", "shapeworld-spatial", "shapeworld-quantifier", *AFTER_CODE[-2:])
EACH = [
    pytest.param(name, marks=[] if name in (*COUNTED, VARIANTS[0]) else [pytest.mark.full])
    for name in PAPERS + VARIANTS + AFTER_CODE
]


@cache
def captions_of_preset(name: str) -> tuple[Caption | None, ...]:
    """Return captions of a preset's training microworlds, true and false in turn; None if no caption was found."""
    spec = read_spec(PRESETS[name]).for_split("train")
    captioner, random = Captioner(spec), chance()

    def world() -> FlatScene:
        return sample_scene(spec, random)

    most = 250 if name == "shapeworld-logical" else 500  # their captions take longest
    count = size(10_000, name=f"captions of {name}", least=most, most=most)
    return tuple(captioner.caption(world(), random, fits=turn % 2 == 0, other=world) for turn in range(count))


def found_captions(name: str) -> list[Caption]:
    return [caption for caption in captions_of_preset(name) if caption is not None]


def count_missing_captions(name: str) -> int:
    return captions_of_preset(name).count(None)


@pytest.mark.parametrize("name", EACH)
def test_held_out_combinations_never_occur_in_training_captions(name: str):
    spec = read_spec(PRESETS[name]).for_split("train")
    held_out = set(spec.held_out.combinations)
    assert held_out or name in ("shapeworld-multishape", "shapeworld-quantifier")
    for caption in found_captions(name):
        assert all(not combinations_of(one) & held_out for one in statements(caption.meaning)), caption.text


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
def test_true_and_false_captions_have_equally_frequent_heads(name: str, heads: tuple[str, ...], agreement: bool):
    found = Counter(head_of(one.meaning) for one in found_captions(name) if one.agreement == agreement)
    assert set(found) == set(heads)
    share = 1 / len(heads)
    by_chance = 4 * math.sqrt(share * (1 - share) / found.total())  # two shapes are beside or above each other
    assert shares(found) == pytest.approx(dict.fromkeys(heads, share), abs=0.01 + by_chance)


def test_comparisons_quantifiers_and_bounds_are_about_equally_likely():
    found = found_captions("shapeworld-quantification-complex")
    kinds = shares(Counter(one.kind for one in found))
    assert kinds == pytest.approx(
        dict.fromkeys(("quantification", "number-bound", "comparative-quantification"), 1 / 3), abs=0.08
    )
    for kind, known in (("quantification", len(QUANTIFIERS)), ("comparative-quantification", len(COMPARISONS))):
        heads = Counter(head_of(one.meaning) for one in found if one.kind == kind)
        assert len(heads) > 0.8 * min(known, heads.total())
        assert max(heads.values()) < 2.5 * heads.total() / known + 2, kind  # corrupted captions use the common ones


def test_all_combinations_except_the_held_out_one_are_equally_likely():
    found = Counter(one.text for one in found_captions("shapeworld-oneshape") if one.agreement)
    assert len(found) == 55
    mean = found.total() / 55
    assert sum((count - mean) ** 2 / mean for count in found.values()) < 54 + 5 * math.sqrt(2 * 54)


def test_patterns_of_quantifiers_have_about_the_declared_frequencies():
    found: Counter[tuple[tuple[bool, bool], ...]] = Counter()
    for caption in found_captions("shapeworld-quantifier"):
        [statement] = statements(caption.meaning)
        found[tuple((noun.shape is not None, noun.color is not None) for noun in nouns_of(statement))] += 1
    assert len(found) == 5
    assert min(shares(found).values()) > 0.15


@pytest.mark.parametrize("name", EACH)
def test_a_microworld_without_a_caption_is_rare(name: str):
    most = 0.05 if name.startswith("shapeworld-spatial") else 0.01  # two equal shapes cannot be "the red square"
    assert count_missing_captions(name) <= most * len(found_captions(name))


def test_equal_streams_give_equal_captions():
    for name in AFTER_CODE:
        spec = read_spec(PRESETS[name]).for_split("train")
        one, other = ([caption.text for _, caption in captions(spec, 20, index=3)] for _ in range(2))
        assert one == other


def test_a_microworld_with_one_entity_has_false_captions():
    spec = read_spec({**PRESETS["shapeworld-existential"], "scene": {"entities_min": 1, "entities_max": 1}})
    for scene, caption in captions(spec.for_split("train"), 40):
        assert caption.agreement == (twin.run(to_json(caption.program), scene.to_json())[-1] == 1)


@pytest.mark.parametrize("part", ["shape", "color"])
def test_corruption_changes_only_the_part_with_weight(part: str):
    other = "color" if part == "shape" else "shape"
    spec = spec_of("existential", negatives="corrupt", existential={"there": 1.0}, corruption={"noun": {part: 1.0}})
    for scene, caption in captions(spec, 60):
        [noun] = nouns_of(statements(caption.meaning)[0])
        assert any(getattr(entity, other) == getattr(noun, other) for entity in scene.entities)


@pytest.mark.parametrize(("rate", "least", "most"), [(1.0, 0.9, 1.0), (0.0, 0.0, 0.8)])
def test_corrupted_captions_name_existing_attributes_as_often_as_configured(rate: float, least: float, most: float):
    spec = spec_of("unique", negatives="corrupt", existing_attribute_rate=rate)
    named = []
    for scene, caption in captions(spec, 400, each=4):
        if not caption.agreement:
            body = nouns_of(statements(caption.meaning)[0])[1]
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
def test_captions_that_are_decided_by_their_words_are_not_used(text: str, sense: bool):
    assert makes_sense(Parser(VOCABULARY).parse(text)) == sense


PHRASES = f"(?:{'|'.join({**RELATIONS, **DIFFERING, **PROXIMITIES}.values())})"


@pytest.mark.parametrize("negatives", ["world", "corrupt"])
@pytest.mark.parametrize("kind", ["relational", "relational-single-attribute"])
def test_the_nouns_of_a_negated_relation_fit_an_entity(kind: str, negatives: str):
    """Without a circle, "a square is not above a circle" could be read in two ways."""
    wanted = size(2_000, name=f"{kind}, false by {negatives}: negated relations refer to something")
    for scene, caption in captions(spec_of(kind, negatives=negatives, negation=1.0), wanted, each=WORLDS):
        if " not " not in caption.text:
            continue  # a corrupted caption may have lost its negation
        _, *referred = nouns_of(statements(caption.meaning)[0])
        for place, noun in enumerate(referred):
            fitting = [
                entity
                for entity in scene.entities
                if noun.shape in (None, entity.shape) and noun.color in (None, entity.color)
            ]
            is_the = place == 1 or not re.search(rf"{PHRASES} an? ", caption.text)
            assert len(fitting) == 1 if is_the else fitting, caption.text


@pytest.mark.parametrize(("negation", "is_negated"), [(0.0, False), (1.0, True)])
def test_relations_are_negated_as_often_as_configured(negation: float, is_negated: bool):
    spec = spec_of("relational", negatives="corrupt", negation=negation, corruption={"negation": {"relation": 1.0}})
    for _, caption in captions(spec, 400, each=WORLDS):
        assert (" not " in caption.text) == is_negated, caption.text
