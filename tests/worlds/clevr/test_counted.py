"""The objects that CLEVR's questions count, and the boxes of its objects."""

import numpy as np
import pytest

from generation.engine.items import Item, Question
from generation.engine.program import Step
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.scene import ClevrScene

WORLD, MAKER = get_world("clevr"), get_maker("clevr")
SPEC = WORLD.read_spec({"base": "clevr-mini", "splits": {"train": {"scenes": 60}, "val": None}})


@pytest.fixture(scope="module")
def items() -> list[Item]:
    [chunk] = MAKER.plan(SPEC, "train")
    return list(MAKER.make(SPEC, "train", chunk))


def test_count_questions_count_as_many_objects_as_their_answers_say(items: list[Item]) -> None:
    found = 0
    for item in items:
        for question in item.questions:
            counted = WORLD.counted(SPEC, item, question)
            assert (counted is None) == (question.kind != "count")
            if counted is not None:
                assert question.answer is not None
                assert len(counted) == int(question.answer.text)
                assert list(counted) == sorted(set(counted))
                found += 1
    assert found > 10


def test_counted_objects_are_those_that_the_program_selects(items: list[Item]) -> None:
    scene = items[0].scene
    assert isinstance(scene, ClevrScene)
    for shape in ("cube", "sphere", "cylinder"):
        program = (Step("scene"), Step("filter_shape", (0,), (shape,)), Step("count", (1,)))
        expected = tuple(number for number, thing in enumerate(scene.objects) if thing.shape == shape)
        assert WORLD.counted(SPEC, items[0], Question("How many?", program)) == expected


def test_a_question_that_has_no_answer_on_a_scene_counts_nothing_known(items: list[Item]) -> None:
    program = (Step("scene"), Step("unique", (0,)), Step("relate", (1,), ("left",)), Step("count", (2,)))
    assert WORLD.counted(SPEC, items[0], Question("How many?", program)) is None
    assert WORLD.counted(SPEC, items[0], Question("How many?")) is None
    assert WORLD.counted(SPEC, Item(None, None, ()), Question("How many?", program)) is None


def test_boxes_are_those_of_the_object_ids(items: list[Item]) -> None:
    for item in items[:5]:
        _, ids = MAKER.render(SPEC, "train", item)
        boxes = WORLD.element_boxes(SPEC, item)
        assert set(boxes) == {number - 1 for number in np.unique(ids).tolist() if number}
        for number, box in boxes.items():
            rows, columns = np.nonzero(ids == number + 1)
            assert box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert WORLD.element_boxes(SPEC, Item(items[0].scene, None, ())) == {}
