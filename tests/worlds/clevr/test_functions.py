"""The executor with bit masks gives the same results as its twin with plain sets, step by step."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given

from generation.engine.errors import IllPosed
from generation.engine.items import Item, Question
from generation.engine.program import execute, from_json, to_json, typecheck
from generation.engine.seeding import Stage, stream
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.question_generation import Asker
from generation.engine.worlds.clevr.scene import read_scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.proof import size
from tests.worlds.clevr import twin
from tests.worlds.clevr.drawn import FEW, INPUTS, VALUES, questions

WORLD = get_world("clevr")
SPEC = WORLD.read_spec({"base": "clevr-mini"})
TABLE = WORLD.functions(SPEC)
assert TABLE is not None


def check_execution(program: list[dict[str, Any]], scene: dict[str, Any]) -> None:
    """Check that executor and twin give the same at every step, or are both ill-posed."""
    ours = from_json(program)
    assert typecheck(ours, table=TABLE) == twin.OUTPUT[program[-1]["function"]]
    try:
        expected = twin.run(program, scene)
    except twin.TwinIllPosed:
        with pytest.raises(IllPosed, match="exactly one object"):
            execute(ours, read_scene(scene), table=TABLE)
        return
    trace = execute(ours, read_scene(scene), table=TABLE)
    assert [(step.type, step.value, list(step.elements)) for step in trace] == [
        twin.describe_step(step["function"], output) for step, output in zip(program, expected, strict=True)
    ]


@given(questions(values=FEW))
def test_the_executor_equals_the_twin_if_objects_are_similar(drawn: tuple[list[dict[str, Any]], dict[str, Any]]):
    check_execution(*drawn)


@given(questions(values=VALUES))
def test_the_executor_equals_the_twin_on_random_programs(drawn: tuple[list[dict[str, Any]], dict[str, Any]]):
    check_execution(*drawn)


def test_functions_are_those_of_the_paper():
    assert set(TABLE.functions) == set(twin.OUTPUT) == set(INPUTS)
    assert len(TABLE.functions) == 27
    for name, function in TABLE.functions.items():
        assert (function.output, function.inputs) == (twin.OUTPUT[name], INPUTS[name])
        wanted = "Relation" if name == "relate" else name.removeprefix("filter_").capitalize()
        assert function.values == ((wanted,) if name == "relate" or name.startswith("filter_") else ())


def every_question(items: Mapping[str, list[Item]]) -> Iterator[tuple[dict[str, Any], Question]]:
    """Yield each question with the JSON of its scene."""
    for listed in items.values():
        for item in listed:
            assert item.scene is not None
            scene = item.scene.to_json()
            for question in item.questions:
                yield scene, question


def test_every_stored_answer_equals_that_of_the_twin(mini_items: Mapping[str, list[Item]]):
    seen = 0
    for scene, question in every_question(mini_items):
        assert question.program is not None
        assert question.answer is not None
        program = to_json(question.program)
        assert twin.answer(program, scene) == question.answer.text, question.text
        assert program[-1]["function"] == question.kind
        check_execution(program, scene)
        seen += 1
    assert seen == 1000


def test_every_answer_about_published_scenes_equals_that_of_the_twin(
    real_scenes: list[dict[str, Any]], mini: ClevrSpec
):
    wanted = real_scenes[: size(300, name="real scenes asked, executor and twin")]
    asked = 0
    for scene, found in scenes_with_questions(wanted, mini):
        for question in found:
            program = to_json(question.program or ())
            assert question.answer is not None
            assert twin.answer(program, scene) == question.answer.text, question.text
            check_execution(program, scene)
            asked += 1
    assert asked > 9 * len(wanted)


def scenes_with_questions(
    scenes: list[dict[str, Any]], spec: ClevrSpec
) -> Iterator[tuple[dict[str, Any], tuple[Question, ...]]]:
    """Yield each scene that admits enough questions, with these questions."""
    search, words = (stream(seed=2, split="real", index=0, stage=stage) for stage in (Stage.QUESTIONS, Stage.WORDS))
    asker = Asker(spec, search=search, words=words)
    for scene in scenes:
        questions = asker.ask(read_scene(scene))
        if questions is not None:
            yield scene, questions


def test_published_relationships_equal_those_of_the_twin(real_scenes: list[dict[str, Any]]):
    for scene in real_scenes:
        theirs = {name: [sorted(row) for row in rows] for name, rows in scene["relationships"].items()}
        assert twin.relationships(scene) == theirs
