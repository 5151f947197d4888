"""The executor with bit masks gives the same results as its twin, step by step."""

from typing import Any

import pytest
from hypothesis import given, settings

from generation.engine.program import execute, outputs, to_json
from generation.engine.worlds.shapeworld.caption_parameters import Thresholds
from generation.engine.worlds.shapeworld.functions import FUNCTIONS, function_table, truth_of
from generation.engine.worlds.shapeworld.logical_form import (
    Meaning,
    Noun,
    QuantifiedStatement,
    Relation,
    There,
    kind_of,
    program_of,
)
from generation.engine.worlds.shapeworld.microworld import Microworld
from generation.engine.worlds.shapeworld.scene import Entity, FlatScene, read_scene
from tests.proof import size
from tests.worlds.shapeworld import twin
from tests.worlds.shapeworld.drawn import VOCABULARY, meanings, scenes

THRESHOLDS = Thresholds()
TABLE = function_table(
    shapes=VOCABULARY.values("shape"), colors=VOCABULARY.values("color"), thresholds=THRESHOLDS, kind_of=kind_of
)
SQUARE, RED, GREEN = Noun("square"), Noun(color="red"), Noun(color="green")


def as_masks(output: Any) -> Any:
    """Return the output of a twin in the form of the engine."""
    if isinstance(output, int):
        return output
    return tuple(sum(1 << e for e, truth in output.items() if truth >= least) for least in (1, 0))


@settings(max_examples=size(10_000, name="statements and microworlds, executor and twin", most=200))
@given(meanings(few=True), scenes())
def test_the_executor_equals_the_twin(meaning: Meaning, scene: FlatScene):
    program = program_of(meaning)
    found = outputs(program, TABLE.prepare(scene, None), table=TABLE)
    expected = twin.run(to_json(program), scene.to_json())
    assert found == [as_masks(output) for output in expected], program
    assert truth_of(program, Microworld(scene, THRESHOLDS)) == found[-1]


@settings(max_examples=size(2_000, most=50))
@given(meanings(few=True), scenes())
def test_a_trace_refers_to_entities_that_certainly_belong(meaning: Meaning, scene: FlatScene):
    program = program_of(meaning)
    trace = execute(program, read_scene(scene.to_json()), table=TABLE)
    for step, output in zip(trace, twin.run(to_json(program), scene.to_json()), strict=True):
        if step.type == "Set":
            assert list(step.elements) == step.value == [e for e, truth in output.items() if truth == 1]
        else:
            assert (step.value, step.elements) == ({1: "yes", 0: "unclear", -1: "no"}[output], ())


@settings(max_examples=size(2_000, most=50))
@given(meanings(few=True), scenes())
def test_smaller_thresholds_never_reverse_a_truth(meaning: Meaning, scene: FlatScene):
    program = program_of(meaning)
    wide, narrow = (truth_of(program, Microworld(scene, one)) for one in (THRESHOLDS.times(2), THRESHOLDS))
    assert wide in (0, narrow)


def test_every_function_is_tested_and_there_are_no_others():
    other = {"scene", "filter_shape", "filter_color", "both", "exist", "and", "or", "if", "iff"}
    assert set(FUNCTIONS) == other | set(twin.FUNCTIONS)


def row(*entities: tuple[str, str, float]) -> FlatScene:
    """Return a microworld of shapes in a row, each given by its shape, its colour and its place from the left."""
    found = tuple(Entity(shape, color, 0.0, x, 0.5, 0.1, 0.1, 0.0) for shape, color, x in entities)
    return FlatScene(found, (0,) * len(found), (0,) * len(found), 64, 64)


TWO_RED = row(("square", "red", 0.1), ("square", "red", 0.3), ("square", "green", 0.5), ("cross", "green", 0.58))


@pytest.mark.parametrize(
    ("meaning", "truth"),
    [
        (There(SQUARE), 1),
        (There(Noun("circle")), -1),
        (QuantifiedStatement("most", SQUARE, RED), 1),
        (QuantifiedStatement("most", SQUARE, GREEN), -1),
        (QuantifiedStatement("all", SQUARE, RED), -1),
        (QuantifiedStatement("all", Noun("circle"), RED), 0),
        (QuantifiedStatement("no", Noun("circle"), RED), 1),
        (QuantifiedStatement("two", SQUARE, RED), 1),
        (QuantifiedStatement("two", Noun(), SQUARE), 0),
        (QuantifiedStatement("some", SQUARE, RED), 1),
        (QuantifiedStatement("some", SQUARE, GREEN), 0),
        (QuantifiedStatement("the", SQUARE, RED), -1),
        (QuantifiedStatement("the", Noun("cross"), GREEN), 1),
        (QuantifiedStatement("the", Noun("circle"), GREEN), -1),
        (QuantifiedStatement("exactly 2/3", SQUARE, RED), 1),
        (QuantifiedStatement("exactly 2", SQUARE, RED, 3), 1),
        (QuantifiedStatement("exactly 2", SQUARE, RED, 4), -1),
        (QuantifiedStatement("a", Noun("square", "red"), Relation("left", Noun("cross"))), 1),
        (QuantifiedStatement("a", Noun("square", "green"), Relation("left", Noun("cross"))), 0),
        (QuantifiedStatement("a", Noun("cross"), Relation("left", Noun("square", "red"))), -1),
        (QuantifiedStatement("a", SQUARE, Relation("left", Noun("circle"))), -1),
        (QuantifiedStatement("a", SQUARE, Relation("left", Noun("circle"), negated=True)), -1),
        (QuantifiedStatement("a", SQUARE, Relation("right", Noun("cross"), negated=True)), 1),
        (QuantifiedStatement("the", Noun("cross"), Relation("left", SQUARE, definite=True)), -1),
    ],
)
def test_example_captions_have_the_right_truth(meaning: Meaning, truth: int):
    assert truth_of(program_of(meaning), Microworld(TWO_RED, THRESHOLDS)) == truth
