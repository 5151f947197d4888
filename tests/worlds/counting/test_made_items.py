"""Made items: each question has the answer that was planned, in a scene that is as the spec asks."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from generation.engine.errors import Exhausted
from generation.engine.program import execute
from generation.engine.worlds.counting.spec import FALLING, SIZES
from generation.engine.worlds.counting.statements import COMPLEX, SIMPLE, fits, kind_of
from tests import proof
from tests.worlds.counting import twin
from tests.worlds.counting.made import (
    MAKER,
    WORLD,
    answer_of,
    asked_by,
    items,
    make_items,
    scene_of,
    sized,
    spec_of,
)

SCENES = proof.size(10_000, name="counting scenes made", least=150, most=150)


def test_answers_are_those_of_the_slow_twin_and_of_programs() -> None:
    table = WORLD.functions(sized(1))
    assert table is not None
    for item in items(SCENES):
        for question in item.questions:
            assert question.program is not None
            assert twin.count(question.text, scene_of(item)) == answer_of(question), question.text
            assert execute(question.program, item.scene, table=table)[-1].value == answer_of(question)
            assert question.kind == kind_of(question.program)


def test_counted_objects_are_as_many_as_the_answer_and_have_boxes() -> None:
    spec = sized(1)
    for item in items(SCENES)[: proof.size(40, least=5)]:
        rgb, ids = MAKER.render(spec, "train", item)
        boxes = WORLD.element_boxes(spec, item)
        assert rgb.shape == (320, 480, 3)
        assert set(boxes) == set(range(len(scene_of(item).objects)))
        for number, box in boxes.items():
            rows, columns = np.nonzero(ids == number + 1)
            assert box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
            assert len(rows) >= spec.scene.min_pixels
        for question in item.questions:
            counted = WORLD.counted(spec, item, question)
            assert counted is not None
            assert len(counted) == answer_of(question)
            assert all(fits(scene_of(item).objects[one], asked_by(question).counted) for one in counted)


def test_scenes_are_as_the_spec_asks() -> None:
    limits = sized(1).scene
    found = Counter(len(scene_of(item).objects) for item in items(SCENES))
    assert min(found) == limits.objects_min and max(found) == limits.objects_max
    for item in items(SCENES):
        things = scene_of(item).objects
        assert {thing.coords[2] for thing in things} <= {size["scale"] for size in SIZES.values()}
        for one, two in combinations(things, 2):
            (x, y, r), (a, b, s) = one.coords, two.coords
            assert ((x - a) ** 2 + (y - b) ** 2) ** 0.5 > r + s


def test_relations_are_clear_and_needed() -> None:
    margin, asked = sized(1).questions.relation_margin, 0
    for item in items(SCENES):
        for question in item.questions:
            statement = asked_by(question)
            if not statement.relation:
                continue
            asked += 1
            scene = scene_of(item)
            [start] = [thing for thing in scene.objects if fits(thing, statement.anchor)]
            way = np.array(scene.directions[statement.relation])
            described = [thing for thing in scene.objects if fits(thing, statement.counted)]
            along = [float((np.array(thing.coords) - np.array(start.coords)) @ way) for thing in described]
            assert all(abs(one) > margin - 1e-6 for one in along)
            assert len(described) > answer_of(question)
    assert asked > 0.1 * SCENES


@pytest.mark.parametrize("kind", [SIMPLE, COMPLEX])
def test_each_type_has_the_shares_of_the_spec(kind: str) -> None:
    questions = [question for item in items(SCENES) for question in item.questions]
    share = {SIMPLE: 0.6, COMPLEX: 0.4}[kind]
    counts = Counter(answer_of(question) for question in questions if question.kind == kind)
    for answer, wanted in enumerate(FALLING):
        assert counts[answer] == pytest.approx(wanted * share * len(questions), abs=6), answer


def test_a_grounding_split_asks_as_often_for_0_1_and_2() -> None:
    spec = spec_of()
    questions = [question for item in make_items(spec, "grounding") for question in item.questions]
    counts = Counter(map(answer_of, questions))
    assert len(questions) == spec.splits["grounding"].scenes
    assert counts[0] == counts[1] == counts[2] == 34
    assert {question.kind for question in questions} == {SIMPLE}
    assert {asked_by(question).attributes for question in questions} == {0}


@pytest.mark.parametrize(
    "changes",
    [
        {"questions": {"per_scene": 2, "complex_share": 1.0, "relation_share": 1.0}, "scene": {"objects_max": 20}},
        {"questions": {"per_scene": 1, "complex_share": 0.0}, "scene": {"objects_min": 1, "objects_max": 15}},
        {"questions": {"per_scene": 1, "complex_share": 1.0, "shares": [0.0] * 15 + [1.0]}},
        {"most": 2, "questions": {"shares": [0.5, 0.25, 0.25]}, "scene": {"objects_min": 4, "objects_max": 6}},
    ],
)
def test_other_specs_are_made_as_well(changes: dict[str, object]) -> None:
    spec = sized(proof.size(20, least=8), **changes)
    for item in make_items(spec):
        assert spec.scene.objects_min <= len(scene_of(item).objects) <= spec.scene.objects_max
        for question in item.questions:
            assert twin.count(question.text, scene_of(item)) == answer_of(question), question.text


def test_a_scene_without_room_is_refused_with_its_place() -> None:
    spec = sized(3, scene={"min_pixels": 20_000, "tries": 5})
    with pytest.raises(Exhausted, match=r"train, scene 0: Expected a scene of \d+ objects.*got none in 5 attempts"):
        next(make_items(spec))


def test_most_questions_with_attributes_need_more_than_the_shape() -> None:
    differ = []
    for item in items(SCENES):
        for question in item.questions:
            statement = asked_by(question)
            if statement.attributes and not statement.relation and statement.noun != "thing":
                shapes = sum(thing.shape == statement.noun for thing in scene_of(item).objects)
                differ.append(shapes != answer_of(question))
    assert sum(differ) / len(differ) > 0.7
