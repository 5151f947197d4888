"""The effective question and related properties, compared with a twin that tries all pruned programs in turn."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from generation.engine.items import Item
from generation.engine.program import from_json, to_json
from generation.engine.programs.question_demands import Topology, demands
from generation.engine.seeding import Stage, stream
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.question_demands import answer_without_looking, diagnose
from generation.engine.worlds.clevr.question_generation import Asker
from generation.engine.worlds.clevr.scene import read_scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.proof import size
from tests.worlds.clevr import diagnose_twin, twin
from tests.worlds.clevr.drawn import FEW, questions

SPEC = get_world("clevr").read_spec({"base": "clevr-mini"})
assert isinstance(SPEC, ClevrSpec)
MOST_WAYS = 300
Published = list[dict[str, Any]]


def check_diagnosis(program: Published, scene: dict[str, Any], *, view: View) -> int:
    """Compare engine and twin on one question, and return the size of the effective question."""
    assert isinstance(SPEC, ClevrSpec)
    [found] = diagnose(SPEC, read_scene(scene), view, [from_json(program)])
    assert found.effective is not None
    wanted = diagnose_twin.effective(program, scene)
    if wanted is None:
        assert to_json(found.effective) == program
    else:
        assert _tree(to_json(found.effective)) == wanted
        assert len(found.effective) == wanted.size
    assert found.absolute == diagnose_twin.is_absolute(program, scene, width=view.width, height=view.height)
    return len(found.effective)


def _tree(program: Published) -> diagnose_twin.Tree:
    def tree(number: int) -> diagnose_twin.Tree:
        step = program[number]
        inputs = tuple(tree(source) for source in step["inputs"])
        return diagnose_twin.Tree(step["function"], tuple(step["value_inputs"]), inputs)

    return tree(len(program) - 1)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.filter_too_much])  # most random programs are ill-posed
@given(questions(values=FEW))
def test_random_programs_are_diagnosed_as_by_the_twin(drawn: tuple[Published, dict[str, Any]]):
    program, scene = _used(drawn[0]), drawn[1]
    last = twin.OUTPUT[program[-1]["function"]]
    assume(last not in ("ObjectSet", "Object"))
    assume(_ways(program, len(program) - 1) <= MOST_WAYS)
    try:
        twin.run(program, scene)
    except twin.TwinIllPosed:
        assume(False)
    check_diagnosis(program, _placed(scene), view=View())


def _used(program: Published) -> Published:
    """Return the steps on which the last one depends."""
    used = {len(program) - 1}
    for number in range(len(program) - 1, -1, -1):
        if number in used:
            used.update(program[number]["inputs"])
    places = {number: place for place, number in enumerate(sorted(used))}
    return [{**program[number], "inputs": [places[i] for i in program[number]["inputs"]]} for number in sorted(used)]


def _ways(program: Published, last: int) -> int:
    ways = 1
    for source in program[last]["inputs"]:
        ways *= 1 + _ways(program, source)
    return ways


def _placed(scene: dict[str, Any]) -> dict[str, Any]:
    """Return the scene with random pixel coordinates for its objects."""
    chance = random.Random(len(scene["objects"]))
    placed = [
        {**thing, "pixel_coords": [chance.randint(0, 480), chance.randint(0, 320), 10.0]} for thing in scene["objects"]
    ]
    return {**scene, "objects": placed}


@pytest.mark.slow
def test_questions_about_published_scenes_are_diagnosed_as_by_the_twin(real_scenes: list[dict[str, Any]]):
    asked = list(_asked(real_scenes))
    for program, scene in random.Random(0).sample(asked, size(2000, name="questions about real scenes diagnosed")):
        check_diagnosis(program, scene, view=View())


def _asked(real_scenes: list[dict[str, Any]]) -> Iterator[tuple[Published, dict[str, Any]]]:
    assert isinstance(SPEC, ClevrSpec)
    numbers = (stream(seed=0, split="real", index=0, stage=stage) for stage in (Stage.QUESTIONS, Stage.WORDS))
    asker = Asker(SPEC, search=next(numbers), words=next(numbers))
    for data in real_scenes:
        for question in asker.ask(read_scene(data)) or ():
            assert question.program is not None
            yield to_json(question.program), data


def test_generated_questions_are_diagnosed_as_by_the_twin(mini_items: Mapping[str, list[Item]]):
    shorter = tried = 0
    for item in mini_items["val"]:
        assert item.scene is not None
        assert isinstance(item.view, View)
        for question in item.questions:
            assert question.program is not None
            found = check_diagnosis(to_json(question.program), item.scene.to_json(), view=item.view)
            shorter += found < len(question.program)
            tried += 1
    assert tried == 200
    assert tried / 2 < shorter < tried


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(questions(values=FEW))
def test_an_answer_that_follows_without_the_picture_is_the_answer_in_every_scene(
    drawn: tuple[Published, dict[str, Any]],
) -> None:
    program, scene = _used(drawn[0]), drawn[1]
    assume(twin.OUTPUT[program[-1]["function"]] not in ("ObjectSet", "Object"))
    try:
        found = twin.answer(program, scene)
    except twin.TwinIllPosed:
        assume(False)
    assert answer_without_looking(from_json(program)) in ("", found)


ALL = ("scene", [], [])
RED, BIG = ("filter_color", [0], ["red"]), ("filter_size", [0], ["large"])


@pytest.mark.parametrize(
    ("steps", "known"),
    [
        ([ALL, ("count", [0], []), ALL, ("count", [2], []), ("greater_than", [1, 3], [])], "no"),
        ([ALL, ("count", [0], []), ("less_than", [1, 1], [])], "no"),
        ([ALL, ("count", [0], []), ALL, ("count", [2], []), ("equal_integer", [1, 3], [])], "yes"),
        ([ALL, RED, ("count", [1], []), ("count", [0], []), ("greater_than", [2, 3], [])], "no"),
        ([ALL, RED, ("count", [1], []), ("count", [0], []), ("less_than", [3, 2], [])], "no"),
        ([ALL, RED, ("count", [1], []), ("count", [0], []), ("less_than", [2, 3], [])], ""),
        ([ALL, RED, ("count", [1], []), ("count", [0], []), ("equal_integer", [2, 3], [])], ""),
        (
            [ALL, RED, BIG, ("union", [1, 2], []), ("count", [2], []), ("count", [3], []), ("less_than", [5, 4], [])],
            "no",
        ),
        (
            [
                ALL,
                RED,
                BIG,
                ("intersect", [1, 2], []),
                ("count", [2], []),
                ("count", [3], []),
                ("less_than", [4, 5], []),
            ],
            "no",
        ),
        ([ALL, RED, BIG, ("count", [1], []), ("count", [2], []), ("less_than", [3, 4], [])], ""),
        ([ALL, ("query_size", [0], []), ALL, ("query_size", [2], []), ("equal_size", [1, 3], [])], "yes"),
        ([ALL, ("exist", [0], [])], "yes"),
        ([ALL, RED, ("union", [0, 1], []), ("exist", [2], [])], "yes"),
        ([ALL, RED, ("exist", [1], [])], ""),
        ([ALL, ("count", [0], [])], ""),
    ],
)
def test_an_answer_follows_without_the_picture_if_sets_contain_each_other(
    steps: list[tuple[str, list[int], list[str]]], known: str
) -> None:
    keys = ("function", "inputs", "value_inputs")
    assert answer_without_looking(from_json([dict(zip(keys, step, strict=True)) for step in steps])) == known


def test_the_example_of_the_paper():
    """Figure 10 of the paper: the cube behind the cylinder is brown, and so are all cubes."""
    things = [
        {"shape": "cube", "size": "large", "color": "brown", "material": "rubber"},
        {"shape": "cylinder", "size": "large", "color": "gray", "material": "rubber"},
        {"shape": "cube", "size": "small", "color": "brown", "material": "metal"},
    ]
    objects = [
        {**thing, "3d_coords": [0, 2 - number, 0], "rotation": 0, "pixel_coords": [100, 100 + 20 * number, 10]}
        for number, thing in enumerate(things)
    ]
    further = [list(range(number)) for number in range(3)]
    nearer = [list(range(number + 1, 3)) for number in range(3)]
    scene = {
        "objects": objects,
        "directions": {"behind": [0, 1, 0]},
        "relationships": {"behind": further, "front": nearer, "left": [[]] * 3, "right": [[]] * 3},
    }
    functions = [
        ("scene", ""),
        ("filter_shape", "cylinder"),
        ("unique", ""),
        ("relate", "behind"),
        ("filter_shape", "cube"),
        ("unique", ""),
        ("query_color", ""),
    ]
    program = [
        {"function": name, "inputs": [number - 1] if number else [], "value_inputs": [value] if value else []}
        for number, (name, value) in enumerate(functions)
    ]
    [found] = diagnose(SPEC, read_scene(scene), View(), [from_json(program)])
    assert [step.function for step in found.effective or ()] == ["scene", "filter_shape", "unique", "query_color"]
    assert not found.absolute  # both cubes are in the upper half


@pytest.mark.parametrize(
    ("functions", "topology", "spatial", "same"),
    [
        ("scene filter_color count", Topology.ZERO_HOP, 0, 0),
        ("scene unique relate unique relate exist", Topology.CHAIN, 2, 0),
        ("scene unique same_color count", Topology.CHAIN, 0, 1),
        ("scene unique relate scene unique relate intersect unique query_size", Topology.TREE_AND, 2, 0),
        ("scene filter_size scene filter_color union count", Topology.TREE_OR, 0, 0),
        ("scene unique relate count scene count less_than", Topology.COMPARISON, 1, 0),
        ("scene unique query_size scene unique query_size equal_size", Topology.COMPARISON, 0, 0),
    ],
)
def test_topologies(functions: str, topology: Topology, spatial: int, same: int):
    assert demands(tuple(functions.split())) == (topology, spatial, same)


def test_a_question_with_too_many_prunings_has_no_effective_question():
    branch = [{"function": "filter_color", "inputs": [0], "value_inputs": ["red"]}]
    program: Published = [{"function": "scene", "inputs": [], "value_inputs": []}, *branch]
    for _ in range(70):
        program.append({"function": "filter_color", "inputs": [len(program) - 1], "value_inputs": ["red"]})
    program.append({"function": "count", "inputs": [len(program) - 1], "value_inputs": []})
    scene = {
        "objects": [],
        "directions": {},
        "relationships": {name: [[]] for name in ("left", "right", "behind", "front")},
    }
    thing = {"shape": "cube", "size": "large", "color": "red", "material": "metal"}
    scene["objects"] = [{**thing, "3d_coords": [0, 0, 0], "rotation": 0, "pixel_coords": [1, 1, 1]}]
    [found] = diagnose(SPEC, read_scene(scene), View(), [from_json(program)])
    assert found.effective is None
