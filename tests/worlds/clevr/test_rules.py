"""Splits with rules follow them for every object and question, and bundled presets have their stored fingerprints."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from generation.engine.balance import may_answer
from generation.engine.errors import Exhausted
from generation.engine.items import FacetKind, Item, Needs
from generation.engine.program import to_json
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.engine.programs.test_skeleton import skeleton_twin
from tests.proof import SHARE, size
from tests.worlds.clevr.fingerprints import HELD, MINIS
from tests.worlds.fingerprints import of_items

WORLD, MAKER = get_world("clevr"), get_maker("clevr")
GRAYS, REDS = {"gray", "blue", "brown", "yellow"}, {"red", "green", "purple", "cyan"}
CONDITIONS = {
    "A": {"cube": GRAYS, "cylinder": REDS, "sphere": GRAYS | REDS},
    "B": {"cube": REDS, "cylinder": GRAYS, "sphere": GRAYS | REDS},
}


def generate(spec: Any, splits: Iterable[str] = ()) -> dict[str, list[Item]]:
    """Return the items of these splits, or of all splits."""
    return {
        split: [item for chunk in MAKER.plan(spec, split) for item in MAKER.make(spec, split, chunk)]
        for split in splits or spec.splits
    }


# The splits of the presets that runs make which are not full: each rule has one that follows it.
SPLITS = {
    "clevr-cogent-mini": ("trainA", "testB"),
    "clevr-length-mini": ("val", "test"),
    "clevr-skeleton-mini": ("val", "test"),
}


@cache
def mini(name: str) -> Mapping[str, list[Item]]:
    """Return the items of a preset by split: of all splits in a full run, otherwise of those in `SPLITS`."""
    spec = WORLD.read_spec({"base": name})
    return generate(spec, spec.splits if SHARE == 1 else SPLITS[name])


def objects(items: list[Item]) -> list[dict[str, str]]:
    return [thing for item in items if item.scene for thing in item.scene.to_json()["objects"]]


def programs(items: list[Item]) -> list[list[dict[str, Any]]]:
    return [to_json(question.program) for item in items for question in item.questions if question.program]


def spec_of(**changes: Any) -> ClevrSpec:
    """Return clevr-mini with changes, and only with a few scenes of train."""
    splits = {"train": {"scenes": changes.pop("scenes", 6)}, "val": None, "test": None}
    scene = {"min_pixels": 0, **changes.pop("scene", {})}
    return WORLD.read_spec({"base": "clevr-mini", "splits": splits, "scene": scene, **changes})  # type: ignore[return-value]


# Presets ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "split", ["trainA", *(pytest.param(one, marks=pytest.mark.full) for one in ("valA", "valB", "testA")), "testB"]
)
def test_every_object_of_cogent_follows_the_condition_of_its_split(split: str):
    allowed = CONDITIONS[split[-1]]
    seen = {(thing["shape"], thing["color"]) for thing in objects(mini("clevr-cogent-mini")[split])}
    assert seen <= {(shape, color) for shape, colors in allowed.items() for color in colors}
    assert {shape for shape, _ in seen} == set(allowed)
    if split == "trainA":
        assert len(seen) == 16


@pytest.mark.slow
def test_shapes_of_cogent_are_equally_frequent_although_fewer_colours_are_allowed():
    shapes = Counter(thing["shape"] for thing in objects(mini("clevr-cogent-mini")["trainA"]))
    assert min(shapes.values()) > 0.8 * max(shapes.values())


def test_cogent_has_the_splits_of_the_paper_with_train_a_as_reference():
    spec = WORLD.read_spec({"base": "clevr-cogent"})
    sizes = {"trainA": 70_000, "valA": 15_000, "valB": 15_000, "testA": 15_000, "testB": 15_000}
    assert {name: split.scenes for name, split in spec.splits.items()} == sizes
    assert {name: spec.reference_of(name) for name in sizes} == {
        name: None if name == "trainA" else "trainA" for name in sizes
    }


@pytest.mark.slow
def test_programs_of_train_are_short_and_those_of_test_are_longer():
    found = mini("clevr-length-mini")
    lengths = {split: {len(program) for program in programs(found[split])} for split in found}
    assert max(set().union(*(lengths[split] for split in found if split != "test"))) == 8
    assert min(lengths["test"]) == 9


@pytest.mark.slow
def test_a_fifth_of_the_skeletons_occurs_only_in_test():
    preset = MAKER.preset("clevr-skeleton-mini")
    [rule] = preset["questions"]["never"]
    held_back, every = set(rule["skeleton"]), WORLD.read_spec(preset).skeletons  # type: ignore[attr-defined]
    assert len(held_back) * 5 == len(every) == 545
    assert held_back < set(every)
    asked = {
        split: {"-".join(skeleton_twin(program)) for program in programs(items)}
        for split, items in mini("clevr-skeleton-mini").items()
    }
    assert not set().union(*(asked[split] for split in asked if split != "test")) & held_back
    assert asked["test"] <= held_back
    assert len({skeleton.rpartition("-")[2] for skeleton in asked["test"]}) == 13


@pytest.mark.slow
@pytest.mark.parametrize("name", MINIS)
def test_fingerprints_of_presets_equal_the_stored_ones(name: str):
    found, held = of_items(mini(name)), json.loads(HELD.read_text())["datasets"][name]
    if SHARE < 1:  # the fingerprint of the dataset needs all splits
        found, held = ({split: one[split] for split in mini(name)} for one in (found, held))
    assert found == held


@pytest.mark.parametrize("name", MINIS)
def test_a_mini_has_the_rules_of_its_preset(name: str):
    small, large = (dict(MAKER.preset(one)) for one in (name, name.removesuffix("-mini")))
    for preset in (small, large):
        for split in preset["splits"].values():
            del split["scenes"]
        del preset["title"], preset["description"]
    assert small == large


# Objects ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules",
    [
        {"never": [{"shape": "cube", "size": "small"}, {"color": ["red", "cyan"]}]},
        {"only": [{"shape": "cube", "material": "metal"}, {"shape": "sphere", "size": "large"}]},
        {"only": [{"size": "small"}], "never": [{"material": "metal", "shape": ["cube", "sphere"]}]},
    ],
)
def test_objects_follow_rules_about_any_attribute(rules: dict[str, Any]):
    spec = spec_of(scene=rules, scenes=12)
    for thing in objects(generate(spec)["train"]):
        fits = {
            kind: [all(thing[name] in value for name, value in rule.items()) for rule in rules.get(kind, ())]
            for kind in ("only", "never")
        }
        assert any(fits["only"]) or not fits["only"]
        assert not any(fits["never"])


def test_a_rule_that_allows_everything_changes_nothing():
    plain, ruled = spec_of(), spec_of(scene={"only": [{"size": ["large", "small"]}], "never": []})
    assert of_items(generate(plain)) == of_items(generate(ruled))


# Questions -------------------------------------------------------------------------------------------------

HALVES: dict[str, list[str]] = {
    "group": ["query", "count"],
    "type": ["count", "query_color", "query_size", "exist"],
    "template": [str(number) for number in range(30, 90, 2)],
    "answer": ["yes", "no", "1", "2", "cube", "metal"],
    "length": ["..9"],
    "topology": ["chain", "zero-hop"],
    "spatial": ["1..2"],
    "same": ["0"],
    "words": ["12..25"],
    "objects": ["3..7"],
    "effective": ["4..9"],
    "absolute": ["none", "enough"],
    "asked_shape": ["cube", "sphere"],
}


def values_of_rule(name: str, values: list[str]) -> set[str]:
    """Return all values of a facet that the values of a rule mean."""
    [facet] = [facet for facet in WORLD.facets(spec_of()) if facet.name == name]
    found = set()
    for value in values:
        low, dots, high = value.partition("..")
        if not dots:
            found.add(value)
        else:
            found |= {one for one in facet.values if int(low or 0) <= int(one) <= int(high or 999)}
    return found


CASES = [(name, kind) for name in HALVES for kind in ("only", "never")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), CASES[:: max(1, len(CASES) // size(len(CASES), least=4))])
def test_questions_follow_rules_about_any_facet(name: str, kind: str):
    """The twin computes the facet from the generated items."""
    spec = spec_of(questions={"per_scene": 3, kind: [{name: HALVES[name]}]}, scenes=3)
    [facet] = [facet for facet in WORLD.facets(spec) if facet.name == name]
    for item in generate(spec)["train"]:
        for code in WORLD.facet_codes(spec, item)[name]:
            assert (code >= 0 and facet.values[code] in values_of_rule(name, HALVES[name])) == (kind == "only")


def test_rules_may_be_about_every_facet_that_needs_only_the_item():
    facets = {facet.name for facet in WORLD.facets(spec_of()) if facet.needs == Needs.ITEM}
    assert {*HALVES, "skeleton"} == facets
    assert all(facet.kind != FacetKind.FLAGS for facet in WORLD.facets(spec_of()))


def test_a_rule_about_templates_selects_the_families():
    """The remaining families are asked as if the others did not exist, so that no question is rejected."""
    spec = spec_of(questions={"per_scene": 3, "only": [{"template": ["84", "85", "86", "87"]}]})
    asked = Counter(question.family for item in generate(spec)["train"] for question in item.questions)
    assert set(asked) == {84, 85, 86, 87}
    assert max(asked.values()) - min(asked.values()) <= 1


def test_refused_questions_are_not_counted_for_balance():
    """Every question must be allowed by the counts of the questions before it."""
    spec = spec_of(questions={"only": [{"length": "..8"}]}, scenes=20)
    counts = {family.number: [0] * len(family.answers) for family in spec.families}
    for item in generate(spec)["train"]:
        for question in item.questions:
            assert question.family is not None
            assert question.answer is not None
            answers, code = counts[question.family], spec.families[question.family].answers.index(question.answer.text)
            assert may_answer(np.array(answers), code, 1.1, 5.0, 5)
            answers[code] += 1


def test_rules_that_no_scene_can_follow_cause_a_clear_error():
    with pytest.raises(Exhausted, match=r"train, scene 0: .* loosen questions\.only") as refused:
        generate(spec_of(questions={"only": [{"objects": "..2"}], "replacements": 3}))
    assert refused.value.count == 4


def test_specs_without_rules_are_written_as_before():
    data = spec_of().to_json()
    assert not {"only", "never"} & (data["scene"].keys() | data["questions"].keys())
    ruled = spec_of(questions={"never": [{"length": 8}]}).to_json()
    assert ruled["questions"]["never"] == [{"length": ["8"]}]
