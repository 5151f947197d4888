"""CLEVR's programs without one step, compared with a twin that runs the published program and ignores that step."""

import pytest
from hypothesis import given, settings

from generation.engine.program import execute, from_json
from generation.engine.programs.ablation import answer_without
from generation.engine.worlds.clevr import spec as clevr_spec
from generation.engine.worlds.clevr.programs import ABLATIONS, function_table
from generation.engine.worlds.clevr.scene import read_scene
from tests.proof import size
from tests.worlds.clevr import twin
from tests.worlds.clevr.drawn import FEW, questions

SPEC = clevr_spec.read_spec({"base": "clevr-mini"}, files={})
TABLE = function_table(SPEC.vocabulary, most=10)
BY_NAME = {ablation.name: ablation for ablation in ABLATIONS}


def numbers_of(program, name):
    """Return the step that the name of an ablation means (the last one, or the first of several) as a list."""
    kind, place = name.removesuffix("-start").rsplit("-", 1)
    is_one = {
        "relation": lambda function: function == "relate",
        "same": lambda function: function.startswith("same_"),
        "and": lambda function: function == "intersect",
        "or": lambda function: function == "union",
    }.get(kind, lambda function: function == f"filter_{kind}")
    found = [number for number, step in enumerate(program) if is_one(step["function"])]
    if kind in ("and", "or"):
        return found[-1:]
    return found[-1:] if place == "last" else found[:1] if len(found) > 1 else []


def without(program, scene, name):
    """Return the answer of a program without one step, or None if it has no such step or no answer."""
    found = numbers_of(program, name)
    if not found:
        return None
    [left_out] = found

    def given(number):
        step = program[number]
        inputs = step["inputs"]
        if number == left_out:
            if name.endswith("-start"):
                return {given(inputs[0])}
            if name.startswith(("relation", "same")):
                return set(range(len(scene["objects"])))
            return given(inputs[1 if name in ("and-first", "or-first") else 0])
        return twin.apply(step["function"], [given(source) for source in inputs], step["value_inputs"], scene)

    try:
        answer = given(len(program) - 1)
    except twin.TwinIllPosed:
        return None
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)


@settings(max_examples=size(4000, most=100), deadline=None)
@given(questions(values=FEW))
def test_leaving_out_a_step_gives_the_answer_of_the_twin(drawn):
    published, scene = drawn
    if twin.OUTPUT[published[-1]["function"]] in ("Object", "ObjectSet"):
        return
    program, read = from_json(published), read_scene(scene)
    for name, ablation in BY_NAME.items():
        assert answer_without(ablation, program, read, table=TABLE) == without(published, scene, name), name


HUE = [
    {"function": "scene", "inputs": [], "value_inputs": []},
    {"function": "filter_color", "inputs": [0], "value_inputs": ["red"]},
    {"function": "unique", "inputs": [1], "value_inputs": []},
    {"function": "relate", "inputs": [2], "value_inputs": ["left"]},
    {"function": "filter_color", "inputs": [3], "value_inputs": ["blue"]},
    {"function": "count", "inputs": [4], "value_inputs": []},
]


def scene_of(*colors):
    """Return the JSON of a scene with objects in a row from left to right."""
    things = [
        {
            "size": "large",
            "material": "metal",
            "shape": "cube",
            "color": color,
            "3d_coords": [float(at), 0.0, 0.7],
            "rotation": 0.0,
            "pixel_coords": [at, 0, 1.0],
        }
        for at, color in enumerate(colors)
    ]
    left = [list(range(at)) for at in range(len(colors))]
    right = [list(range(at + 1, len(colors))) for at in range(len(colors))]
    nothing = [[] for _ in colors]
    directions = {name: [1.0, 0.0, 0.0] for name in ("left", "right", "front", "behind")}
    return {
        "objects": things,
        "directions": directions,
        "relationships": {"left": left, "right": right, "front": nothing, "behind": nothing},
    }


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("relation-last", "2"),  # blue objects anywhere
        ("relation-last-start", "0"),  # blue objects in the set of the red one
        ("color-last", "2"),  # any objects left of the red one
        ("color-first", None),  # the object is not unique
        ("relation-first", None),  # there is only one relation
        ("same-last", None),
        ("and-first", None),
    ],
)
def test_a_count_of_blue_objects_left_of_the_red_one_without_a_step(name, answer):
    scene = read_scene(scene_of("blue", "green", "red", "blue"))
    program = from_json(HUE)
    assert execute(program, scene, table=TABLE)[-1].value == 1
    assert answer_without(BY_NAME[name], program, scene, table=TABLE) == answer
