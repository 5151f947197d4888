"""Levels: each one is at least as hard as the one before it, by the facet that measures it."""

from collections.abc import Iterable
from typing import Any

import pytest

from generation.engine.environment import EnvironmentDataset, EnvironmentItem, create_dataset
from generation.engine.errors import BadSpec, EngineError
from generation.engine.only_never_rules import RuleValues
from generation.engine.worlds import REGISTRY, get_world, usable
from generation.engine.worlds.levels import NAMES, LevelAttribute, Trend, apply, outside
from tests import proof
from tests.engine.environment.specs import SMALL
from tests.worlds import marbles

FEWER = proof.size(160, name="questions of each level", least=32)
ENOUGH = dict.fromkeys(SMALL, FEWER) | {"simtown": 160}  # its levels of distance differ least
ATTRIBUTES = [(name, attribute) for name in SMALL for attribute in get_world(name).levels]
# Specs in which the attribute alone changes questions.
SPECS: dict[tuple[str, str], Any] = {
    ("babi", "steps"): {"base": "babi", "tasks": [18, 19]},
    ("babi", "distance"): {"base": "babi", "tasks": [1, 2]},
    ("babi", "story"): {"base": "babi", "tasks": [1]},
    ("shapeworld", "captions"): "shapeworld-multishape",
}


def codes_of(dataset: EnvironmentDataset, attribute: LevelAttribute, items: Iterable[EnvironmentItem]) -> list[int]:
    """Return the code of the attribute's facet for each of these items of a dataset."""
    [facet] = [one for one in dataset.facets if one.name == attribute.facet]
    codes = {value: code for code, value in enumerate(facet.values)}
    return [codes.get(str(one.facets[attribute.facet]), -1) for one in items]


def hardness_of(codes: list[int], trend: Trend) -> float:
    """Return how hard questions with these codes are; harder ones have a larger number."""
    known = [code for code in codes if code >= 0]
    if trend is Trend.VARIETY:
        return float(len(set(known)))
    mean = sum(known) / len(known) if known else 0.0
    return mean if trend is Trend.MORE else -mean


@pytest.mark.parametrize(("name", "attribute"), ATTRIBUTES, ids=lambda one: getattr(one, "name", one))
def test_each_level_of_an_attribute_is_at_least_as_hard_as_the_one_before(name: str, attribute: LevelAttribute) -> None:
    dataset = create_dataset(SPECS.get((name, attribute.name), SMALL[name]), seed=1)
    found = [dataset.at(**{attribute.name: level}) for level in NAMES]
    levels = [codes_of(one, attribute, one[: ENOUGH[name]]) for one in found]
    hardness = [hardness_of(codes, attribute.trend) for codes in levels]
    assert all(any(code >= 0 for code in codes) for codes in levels)
    assert hardness == sorted(hardness)
    assert hardness[0] < hardness[-1]


@pytest.mark.parametrize("name", SMALL)
def test_each_joint_level_is_harder_by_every_attribute(name: str) -> None:
    dataset = create_dataset(SMALL[name], seed=1)
    found = [(one, one[: ENOUGH[name]]) for one in map(dataset.at, NAMES)]
    for attribute in get_world(name).levels:
        codes = [codes_of(one, attribute, items) for one, items in found]
        hardness = [hardness_of(one, attribute.trend) for one in codes]
        assert hardness == sorted(hardness), attribute.name


@pytest.mark.parametrize("name", SMALL)
def test_every_attribute_names_a_facet_and_describes_every_level(name: str) -> None:
    world = get_world(name)
    facets = {facet.name for facet in create_dataset(SMALL[name]).facets}
    for attribute in world.levels:
        assert attribute.facet in facets
        assert tuple(attribute.levels) == tuple(attribute.labels) == NAMES
        assert attribute.label and all(attribute.labels.values())
        assert attribute.name not in ("index", "level")  # options of an environment


def test_every_generated_world_of_this_package_has_levels() -> None:
    assert {world.name for world in usable() if world.maker is not None and world.levels} == set(SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_every_preset_has_every_level_or_says_why_not(name: str) -> None:
    maker, items = get_world(name).maker, proof.size(10)
    assert maker is not None
    presets = list(maker.presets())
    if proof.SHARE < 1:
        presets = [preset for preset in presets[::4] if not preset.startswith("clevr-length")]  # it refuses late
    for preset in presets:
        for level in NAMES if proof.SHARE == 1 else NAMES[-1:]:
            try:
                found = create_dataset(preset).at(level)[:items]
            except EngineError as error:
                assert "Expected" in str(error) and level == "hard" and preset.startswith("clevr-length")
            else:
                assert len(found) == items


@pytest.mark.parametrize(
    ("name", "numbers", "facet"),
    [
        ("clevr", {"objects": 4}, "objects"),
        ("shapeworld", {"objects": 4}, "entities"),
        ("counting", {"objects": 8}, "objects"),
    ],
)
def test_a_number_is_the_number_of_objects(name: str, numbers: dict[str, int], facet: str) -> None:
    [number] = numbers.values()
    assert {one.facets[facet] for one in create_dataset(SMALL[name], seed=1).at(**numbers)[:30]} == {number}


def test_numbers_limit_programs_relations_and_distances() -> None:
    clevr = create_dataset(SMALL["clevr"], seed=1)
    assert max(one.facets["length"] for one in clevr.at(length=9)[:60]) <= 9
    few = create_dataset({**SMALL["clevr"], "questions": {"per_scene": 3}}, seed=1)  # type: ignore[dict-item]
    for number in (0, 1, 3):
        assert {one.facets["spatial"] for one in few.at(relations=number)[:30]} == {number}
    assert min(one.facets["nearest"] for one in create_dataset("babi", seed=1).at(distance=7)[:40]) >= 7


@pytest.mark.parametrize("longest", [27, 1000])
def test_a_number_that_no_program_exceeds_limits_nothing(longest: int) -> None:
    dataset = create_dataset(SMALL["clevr"], seed=1)
    assert dataset.at(length=longest)[0].content_hash() == dataset[0].content_hash()


def test_a_level_keeps_what_earlier_calls_chose() -> None:
    dataset = create_dataset("shapeworld-oneshape", 9, seed=1)
    both = dataset.at(objects=3).at(captions="medium")
    assert both.levels == {"objects": 3, "captions": "medium"}
    assert (both.size, both.split) == (9, "train")
    assert {(one.facets["entities"], one.kind) for one in both} == {(3, "relational")}
    assert both.at("easy", objects=5).levels == {"objects": 5, "captions": "easy"}
    assert dataset.levels == {}


def test_a_joint_level_leaves_out_the_attributes_that_exclude_others() -> None:
    levels = create_dataset("babi").at("hard").levels
    assert levels == {"distance": "hard", "steps": "hard", "story": "hard"}
    assert create_dataset("babi").at("hard", facts="easy")[0].facets["supports"] == 1


def test_a_level_keeps_the_rules_of_the_spec() -> None:
    spec = {**SMALL["clevr"], "questions": {"never": [{"group": ["query"]}], "per_scene": 3}}  # type: ignore[dict-item]
    assert "query" not in {one.facets["group"] for one in create_dataset(spec, seed=1).at("easy")[:40]}


def test_a_level_holds_although_a_split_overrides_its_fields() -> None:
    spec = {
        "base": "shapeworld-oneshape",
        "splits": {"train": {"overrides": {"scene": {"entities_min": 1, "entities_max": 2}}}},
    }
    assert {one.facets["entities"] for one in create_dataset(spec, seed=1).at(objects=5)[:20]} == {5}


@pytest.mark.parametrize(
    ("spec", "level", "attributes", "message"),
    [
        ("babi", "hardest", {}, "level: Expected one of easy, medium, hard, got 'hardest'"),
        ("babi", None, {"objects": 3}, "level: Expected one of facts, distance, steps, story, got 'objects'"),
        ("babi", None, {"steps": 3}, "steps: Expected one of easy, medium, hard, got 3"),
        (
            "babi",
            None,
            {"distance": "far"},
            "distance: Expected one of easy, medium, hard or a number from 0, got 'far'",
        ),
        ("babi", None, {"facts": 4}, "facts: Expected 1 to 3 supporting facts, got 4"),
        ("babi", None, {"facts": 0}, "facts: Expected 1 to 3 supporting facts, got 0"),
        ("babi", None, {"distance": -1}, "or a number from 0, got -1"),
        ("babi", None, {"distance": True}, "or a number from 0, got True"),
        ("babi", None, {"distance": 10_000}, "told.distance: Expected"),
        ("clevr-mini", None, {"objects": 200}, "scene.objects_min: Expected"),
        (marbles.PRESETS["marbles"], "easy", {}, "Expected a world with levels, got one without"),
    ],
)
def test_an_unknown_level_or_attribute_is_refused(
    monkeypatch: pytest.MonkeyPatch, spec: Any, level: str | None, attributes: dict[str, Any], message: str
) -> None:
    monkeypatch.setitem(REGISTRY, marbles.NAME, marbles.WHERE)
    with pytest.raises(BadSpec, match=message):
        create_dataset(spec).at(level, **attributes)


def test_what_a_preset_cannot_have_is_said_at_the_first_item() -> None:
    with pytest.raises(EngineError, match="Expected a microworld that admits"):
        create_dataset("shapeworld-oneshape").at(captions="medium")[0]


def test_changes_replace_values_and_add_rules() -> None:
    data = {"a": {"b": {"c": 1}, "never": [{"x": ["1"]}]}}
    changed = apply(data, [{"a.b": {"d": 2}, "a.never": [{"y": ["2"]}], "e.f": 3}])
    assert changed == {"a": {"b": {"d": 2}, "never": [{"x": ["1"]}, {"y": ["2"]}]}, "e": {"f": 3}}
    assert data == {"a": {"b": {"c": 1}, "never": [{"x": ["1"]}]}}


def test_rules_that_no_value_matches_are_left_out() -> None:
    facets = {"spatial": RuleValues(("0", "1"), are_numbers=True)}
    rules = [*outside("spatial", 1, 1), *outside("length", 0, 5)]
    assert apply({}, [{"never": rules}], facets=facets) == {"never": [{"spatial": ["..0"]}, {"length": ["6.."]}]}


def test_rules_forbid_the_numbers_outside() -> None:
    assert outside("length", 3, 5) == [{"length": ["..2"]}, {"length": ["6.."]}]
    assert outside("length", 0, 5) == [{"length": ["6.."]}]
    assert outside("length", 3) == [{"length": ["..2"]}]
