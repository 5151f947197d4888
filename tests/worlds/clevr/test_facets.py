"""Facets have a code for every question that the families of a spec can ask."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from generation.engine.items import Item, Question
from generation.engine.program import to_json
from generation.engine.programs.skeleton import skeleton
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.worlds.clevr import twin

WORLD, MAKER = get_world("clevr"), get_maker("clevr")
LETTERS = {"Z": "Size", "C": "Color", "M": "Material", "S": "Shape"}


def union_of_filters(count: int) -> dict[str, Any]:
    """Return a family that counts a union of many filtered sets. Its programs are the longest possible ones."""
    names = [[f"<{letter}{number}>" for letter in LETTERS] for number in range(count)]
    nodes: list[dict[str, Any]] = [{"type": "scene", "inputs": []}]
    nodes += [{"type": "filter", "inputs": [0], "side_inputs": sides} for sides in names]
    joined = 1
    for number in range(2, count + 1):
        nodes.append({"type": "union", "inputs": [joined, number]})
        joined = len(nodes) - 1
    nodes.append({"type": "count", "inputs": [joined]})
    sides = [name for group in names for name in group]
    params = [{"type": LETTERS[name[1]], "name": name} for name in sides]
    return {"params": params, "text": [" ".join(sides) + "?"], "nodes": nodes}


def test_the_longest_program_that_families_allow_has_a_code() -> None:
    content = json.dumps([union_of_filters(23)]).encode()
    digest = "0" * 64
    parameters = {"families": {"long.json": digest}, "per_scene": 1, "degeneracy": "clevr"}
    spec = WORLD.read_spec(
        {"base": "clevr-mini", "questions": parameters, "splits": {"train": {"scenes": 5}, "val": None, "test": None}},
        files={digest: content},
    )
    [length] = [facet for facet in WORLD.facets(spec) if facet.name == "length"]
    lengths = []
    for item in MAKER.make(spec, "train", MAKER.plan(spec, "train")[0]):
        [code] = WORLD.facet_codes(spec, item)["length"]
        assert item.questions[0].program is not None
        assert length.values[code] == str(len(item.questions[0].program))
        lengths.append(int(length.values[code]))
    assert max(lengths) > 60


def test_the_number_of_words_is_one_more_than_the_number_of_spaces() -> None:
    spec = WORLD.read_spec({"base": "clevr-mini", "splits": {"train": {"scenes": 4}, "val": None, "test": None}})
    [words] = [facet for facet in WORLD.facets(spec) if facet.name == "words"]
    for item in MAKER.make(spec, "train", MAKER.plan(spec, "train")[0]):
        counted = [words.values[code] for code in WORLD.facet_codes(spec, item)["words"]]
        assert counted == [str(question.text.count(" ") + 1) for question in item.questions]


def test_words_of_longer_synonyms_are_counted() -> None:
    plain = WORLD.read_spec({"base": "clevr-mini"})
    synonyms = {"vocabulary": {"colors": {"cyan": {"synonyms": ["of the colour of a summer sky"]}}}}
    wordy = WORLD.read_spec({"base": "clevr-mini", **synonyms})
    values = [len(facet.values) for spec in (plain, wordy) for facet in WORLD.facets(spec) if facet.name == "words"]
    assert values[1] > values[0] + 6


def test_the_asked_shape_equals_that_of_the_twin(mini: ClevrSpec, mini_items: Mapping[str, list[Item]]) -> None:
    """The twin runs the program without its last step, and looks up the shape of the remaining object."""
    [facet] = [facet for facet in WORLD.facets(mini) if facet.name == "asked_shape"]
    asked = 0
    for item in mini_items["val"]:
        assert item.scene is not None
        scene = item.scene.to_json()
        for question, code in zip(item.questions, WORLD.facet_codes(mini, item)["asked_shape"], strict=True):
            assert question.program is not None
            if not question.kind.startswith("query_"):
                assert code == -1
                continue
            *before, last = to_json(question.program)
            number = twin.run(before, scene)[last["inputs"][0]]
            assert facet.values[code] == scene["objects"][number]["shape"]
            asked += 1
    assert asked > 50


def test_the_skeletons_of_all_questions_are_known_in_advance(
    mini: ClevrSpec, mini_items: Mapping[str, list[Item]]
) -> None:
    outlines = mini.outlines
    assert outlines is not None
    for item in [item for items in mini_items.values() for item in items]:
        for question in item.questions:
            assert question.program is not None
            assert question.family is not None
            found = {outline.skeleton: outline for outline in outlines[question.family]}[skeleton(question.program)]
            assert found.least <= len(question.program) <= found.most
    assert len(mini.skeletons or ()) == 545


def test_a_spec_with_too_many_skeletons_has_no_facet_of_skeletons() -> None:
    names = [[f"<{letter}{number}>" for letter in LETTERS] for number in range(15)]
    nodes: list[dict[str, Any]] = [{"type": "scene", "inputs": []}]
    for sides in names:
        nodes.append({"type": "filter_unique", "inputs": [len(nodes) - 1], "side_inputs": sides})
        nodes.append({"type": "same_size", "inputs": [len(nodes) - 1]})
    nodes.append({"type": "count", "inputs": [len(nodes) - 1]})
    sides = [name for group in names for name in group]
    params = [{"type": LETTERS[name[1]], "name": name} for name in sides]
    content = json.dumps([{"params": params, "text": [" ".join(sides) + "?"], "nodes": nodes}]).encode()
    parameters = {"families": {"long.json": "0" * 64}, "per_scene": 1}
    spec = WORLD.read_spec({"base": "clevr-mini", "questions": parameters}, files={"0" * 64: content})
    assert "skeleton" not in {facet.name for facet in WORLD.facets(spec)}


def test_facets_without_scene_or_program_have_only_the_known_codes(
    mini: ClevrSpec, mini_items: Mapping[str, list[Item]]
) -> None:
    item = mini_items["val"][0]
    full = WORLD.facet_codes(mini, item)
    blind = WORLD.facet_codes(mini, replace(item, scene=None))
    known = ("group", "type", "template", "answer", "words", "length", "topology", "spatial", "same", "skeleton")
    assert {name: blind[name] for name in known} == {name: full[name] for name in known}
    assert all(set(codes) == {-1} for name, codes in blind.items() if name not in known)
    bare = replace(item, scene=None, questions=(Question("How many cubes are there?"),))
    assert {name for name, codes in WORLD.facet_codes(mini, bare).items() if codes != [-1]} == {"words"}
    assert WORLD.train_keys(mini, bare, bare.questions[0])["seen_text"] == ("How many cubes are there?",)
