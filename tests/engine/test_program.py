"""Programs: type errors are refused and name the step, and programs do not change when they are written and read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.content_hash import canonical
from generation.engine.errors import BadProgram, EngineError, IllPosed
from generation.engine.program import Program, Step, execute, from_json, from_text, to_json, to_text, typecheck
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.scene import read_scene
from tests.worlds.clevr.drawn import questions, random_scene
from tests.worlds.clevr.twin import OUTPUT

WORLD = get_world("clevr")
TABLE = WORLD.functions(WORLD.read_spec({"base": "clevr-mini"}))
assert TABLE is not None
SCENE = Step("scene")
RED = Step("filter_color", (0,), ("red",))
Drawn = tuple[list[dict[str, Any]], dict[str, Any]]

FAULTS: dict[str, tuple[Program, str, str]] = {
    "no steps": ((), "", "at least one step"),
    "unknown function": ((SCENE, Step("filter_taste", (0,), ("sweet",))), "step 1 (filter_taste)", "Expected one of"),
    "too few inputs": ((SCENE, Step("count")), "step 1 (count)", "Expected 1 inputs, got 0"),
    "too many inputs": ((SCENE, SCENE, Step("count", (0, 1))), "step 2 (count)", "Expected 1 inputs, got 2"),
    "itself as input": ((SCENE, Step("count", (1,))), "step 1 (count)", "got step 1"),
    "a later step as input": ((SCENE, Step("count", (2,)), SCENE), "step 1 (count)", "got step 2"),
    "a negative input": ((SCENE, Step("count", (-1,))), "step 1 (count)", "got step -1"),
    "wrong type of input": (
        (SCENE, Step("query_size", (0,))),
        "step 1 (query_size)",
        "Expected Object as input, got ObjectSet from step 0",
    ),
    "wrong type of second input": (
        (SCENE, Step("count", (0,)), Step("exist", (0,)), Step("less_than", (1, 2))),
        "step 3 (less_than)",
        "Expected Integer as input, got Bool from step 2",
    ),
    "values of two attributes compared": (
        (
            SCENE,
            Step("unique", (0,)),
            Step("query_size", (1,)),
            Step("query_color", (1,)),
            Step("equal_size", (2, 3)),
        ),
        "step 4 (equal_size)",
        "Expected Size as input, got Color from step 3",
    ),
    "no value": ((SCENE, Step("filter_color", (0,))), "step 1 (filter_color)", "Expected 1 values, got 0"),
    "a value too many": (
        (SCENE, Step("count", (0,), ("red",))),
        "step 1 (count)",
        "Expected 0 values, got 1",
    ),
    "value of another attribute": (
        (SCENE, Step("filter_color", (0,), ("cube",))),
        "step 1 (filter_color)",
        "'cube'",
    ),
    "value in other letters": (
        (SCENE, RED, Step("filter_color", (1,), ("Red",))),
        "step 2 (filter_color)",
        "'Red'",
    ),
    "unknown relation": (
        (SCENE, Step("unique", (0,)), Step("relate", (1,), ("above",))),
        "step 2 (relate)",
        "behind, front, left, right",
    ),
    "template-only function": (
        (SCENE, Step("filter_unique", (0,), ("red",))),
        "step 1 (filter_unique)",
        "Expected one of",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_program_with_an_error_is_refused_and_its_step_is_named(fault: str):
    program, where, message = FAULTS[fault]
    with pytest.raises(BadProgram) as refused:
        typecheck(program, table=TABLE)
    assert refused.value.where == where
    assert message in refused.value.reason
    assert isinstance(refused.value, EngineError)


def test_a_program_has_the_type_of_its_last_step():
    assert typecheck((SCENE,), table=TABLE) == "ObjectSet"
    assert typecheck((SCENE, RED, Step("count", (1,))), table=TABLE) == "Integer"


@given(questions())
def test_a_program_is_unchanged_after_writing_and_reading_json(drawn: Drawn):
    program = from_json(drawn[0])
    assert to_json(program) == drawn[0]
    assert from_json(to_json(program)) == program


@given(questions())
def test_a_program_is_unchanged_after_writing_and_reading_text(drawn: Drawn):
    program = from_json(drawn[0])
    assert to_text(program) == canonical(drawn[0])
    assert from_text(to_text(program)) == from_text(json.dumps(drawn[0], indent=1)) == program


@given(st.lists(st.text(alphabet='{}[],:"\\\\ aé', max_size=12), min_size=1, max_size=4))
def test_values_that_contain_json_syntax_are_unchanged_in_text(values: list[str]):
    program = tuple(Step("filter", (0,), (value, '"},{"', "}]")) for value in values)
    assert to_text(program) == canonical(to_json(program))
    assert from_text(to_text(program)) == program


@pytest.mark.parametrize("text", ["[]", '[{"function":"scene","inputs":[],"value_inputs":[]},{"a":1}]', "[{}]", "[1]"])
def test_text_is_read_and_refused_like_json(text: str):
    try:
        expected: object = from_json(json.loads(text))
    except BadProgram as error:
        expected = str(error)
    try:
        got: object = from_text(text)
    except BadProgram as error:
        got = str(error)
    assert got == expected


@given(questions())
def test_the_format_of_the_original_generator_gives_the_same_program(drawn: Drawn):
    dialect = [
        {"type": step["function"], "inputs": step["inputs"], "side_inputs": step["value_inputs"], "_output": 3}
        for step in drawn[0]
    ]
    assert from_json(dialect) == from_json(drawn[0])
    for step in dialect:
        step["value_inputs"] = step.pop("side_inputs")
    assert from_json(dialect) == from_json(drawn[0])


@given(questions())
def test_every_step_of_a_trace_has_the_output_type_of_its_function(drawn: Drawn):
    program, scene = from_json(drawn[0]), read_scene(drawn[1])
    try:
        trace = execute(program, scene, table=TABLE)
    except IllPosed:
        return
    assert [step.type for step in trace] == [OUTPUT[step.function] for step in program]
    for step in trace:
        assert list(step.elements) == sorted(set(step.elements))
        assert all(0 <= element < len(scene.objects) for element in step.elements)


@pytest.mark.parametrize(
    "node",
    [
        {},
        {"inputs": []},
        {"function": "scene"},
        {"function": "scene", "inputs": None},
        {"function": "scene", "inputs": ["x"]},
        {"function": "scene", "inputs": [], "value_inputs": None},
        {"function": "scene", "inputs": [], "value_inputs": 5},
        "scene",
        None,
        ["scene", []],
        7,
    ],
)
def test_invalid_json_of_a_step_is_refused_and_the_step_is_named(node: Any):
    with pytest.raises(BadProgram) as refused:
        from_json([{"function": "scene", "inputs": [], "value_inputs": []}, node])
    assert refused.value.where == "step 1"


def test_fractional_inputs_are_refused():
    with pytest.raises(BadProgram, match="step 1"):
        from_json([{"function": "scene", "inputs": []}, {"function": "count", "inputs": [0.7]}])


def test_a_string_in_place_of_a_list_of_values_is_refused():
    with pytest.raises(BadProgram, match="step 1"):
        from_json(
            [
                {"function": "scene", "inputs": []},
                {"function": "filter_color", "inputs": [0], "value_inputs": "red"},
            ]
        )


def test_the_error_for_an_ill_posed_step_names_the_number_of_objects():
    import random

    scene = read_scene(random_scene(random.Random(1), 4))
    with pytest.raises(IllPosed, match="exactly one object, got 4"):
        execute((SCENE, Step("unique", (0,))), scene, table=TABLE)
