"""Skeletons and descriptions of programs, compared with twins that read the published JSON without the engine."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from hypothesis import given

from generation.engine.program import from_json
from generation.engine.programs.skeleton import describe_skeleton, descriptions, pairs, skeleton
from tests.worlds.clevr.drawn import FEW, questions

Published = list[dict[str, Any]]


def skeleton_twin(program: Published, last: int | None = None) -> list[str]:
    """Return the names of a skeleton: those of its inputs, then its own name, unless it continues a run of filters."""
    step = program[len(program) - 1 if last is None else last]
    names = [name for source in step["inputs"] for name in skeleton_twin(program, source)]
    name = "filter" if step["function"].startswith("filter_") else step["function"]
    return names if name == "filter" and names[-1] == "filter" else [*names, name]


def pairs_twin(program: Published) -> set[frozenset[tuple[str, str]]]:
    """Return each pair of different conditions in a run of filters."""
    found = set()
    for step in program:
        run = []
        while step["function"].startswith("filter_"):
            run.append((step["function"].removeprefix("filter_"), step["value_inputs"][0]))
            step = program[step["inputs"][0]]
        found |= {frozenset(two) for two in combinations(set(run), 2)}
    return found


@given(questions(values=FEW))
def test_skeletons_equal_those_of_the_twin(drawn: tuple[Published, Mapping[str, Any]]):
    assert skeleton(from_json(drawn[0])) == "-".join(skeleton_twin(drawn[0]))


@given(questions(values=FEW))
def test_pairs_equal_those_of_the_twin(drawn: tuple[Published, Mapping[str, Any]]):
    found = pairs(from_json(drawn[0]))
    assert len(found) == len(set(found))
    split = {frozenset(tuple(one.split("=")) for one in pair.split("&")) for pair in found}
    assert {two for two in split if len(two) == 2} == pairs_twin(drawn[0])


def test_a_skeleton_drops_values_and_merges_filters():
    names = ("scene", "filter_size", "filter_shape", "unique", "relate", "filter_color", "count")
    values: Mapping[str, list[str]] = {"filter_size": ["large"], "filter_shape": ["cube"], "relate": ["left"]}
    program = [
        {
            "function": name,
            "inputs": [at - 1] if at else [],
            "value_inputs": values.get(name, ["red"] if name == "filter_color" else []),
        }
        for at, name in enumerate(names)
    ]
    assert skeleton(from_json(program)) == "scene-filter-unique-relate-filter-count"
    assert descriptions(from_json(program)) == [(("size", "large"), ("shape", "cube")), (("color", "red"),)]
    assert pairs(from_json(program)) == ["shape=cube&size=large"]


def test_branches_of_a_skeleton_are_described_separately():
    assert (
        describe_skeleton("scene-filter-count-scene-count-less_than")
        == "scene → filter → count; scene → count → less than"
    )
