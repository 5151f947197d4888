"""Facets have room for every question that a spec's families can ask."""

import json
from typing import Any

from generation.engine.worlds import get_maker, get_world

WORLD, MAKER = get_world("clevr"), get_maker("clevr")
LETTERS = {"Z": "Size", "C": "Color", "M": "Material", "S": "Shape"}


def union_of_filters(count: int) -> dict[str, Any]:
    """Return a family that counts a union of many filtered sets: the longest programs there can be."""
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
    knobs = {"families": {"long.json": digest}, "per_scene": 1, "degeneracy": "clevr"}
    spec = WORLD.read_spec(
        {"base": "clevr-mini", "questions": knobs, "splits": {"train": {"scenes": 5}, "val": None, "test": None}},
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


def test_a_question_has_the_words_that_it_has_spaces_between() -> None:
    spec = WORLD.read_spec({"base": "clevr-mini", "splits": {"train": {"scenes": 4}, "val": None, "test": None}})
    [words] = [facet for facet in WORLD.facets(spec) if facet.name == "words"]
    for item in MAKER.make(spec, "train", MAKER.plan(spec, "train")[0]):
        counted = [words.values[code] for code in WORLD.facet_codes(spec, item)["words"]]
        assert counted == [str(question.text.count(" ") + 1) for question in item.questions]


def test_words_of_longer_synonyms_are_counted_too() -> None:
    plain = WORLD.read_spec({"base": "clevr-mini"})
    synonyms = {"vocabulary": {"colors": {"cyan": {"synonyms": ["of the colour of a summer sky"]}}}}
    wordy = WORLD.read_spec({"base": "clevr-mini", **synonyms})
    values = [len(facet.values) for spec in (plain, wordy) for facet in WORLD.facets(spec) if facet.name == "words"]
    assert values[1] > values[0] + 6
