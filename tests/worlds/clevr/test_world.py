"""The prompts and answer forms of CLEVR's questions."""

import json
from collections import Counter

import pytest

from generation.engine.items import AnswerKind, Question
from generation.engine.scoring.figures import TOO_FEW
from generation.engine.worlds import get_maker, get_world
from tests.worlds.clevr.fingerprints import DEMO

WORLD = get_world("clevr")
SPEC = WORLD.read_spec({"base": "clevr-mini"})


@pytest.mark.parametrize(
    ("kind", "form", "choices"),
    [
        ("count", AnswerKind.INTEGER, tuple(str(number) for number in range(11))),
        ("exist", AnswerKind.YES_NO, ("yes", "no")),
        ("less_than", AnswerKind.YES_NO, ("yes", "no")),
        ("equal_color", AnswerKind.YES_NO, ("yes", "no")),
        ("query_size", AnswerKind.VALUE, ("large", "small")),
        ("", AnswerKind.VALUE, WORLD.answers(SPEC)),
    ],
)
def test_the_form_of_an_answer_follows_from_the_kind_of_question(kind: str, form: AnswerKind, choices: tuple[str, ...]):
    offered = WORLD.answer_form(SPEC, Question(text="What is it?", kind=kind))
    assert (offered.kind, offered.choices) == (form, choices)


def test_only_colours_have_swatches():
    form = WORLD.answer_form(SPEC, Question(text="?", kind="query_color"))
    assert set(form.swatches) == set(form.choices)
    assert all(0 <= part <= 255 for color in form.swatches.values() for part in color)
    assert form.swatches["red"][0] > max(form.swatches["red"][1:])
    assert not WORLD.answer_form(SPEC, Question(text="?", kind="query_shape")).swatches


def test_the_demo_has_enough_questions_of_each_type_in_val():
    spec, maker = WORLD.read_spec(json.loads(DEMO.read_text())), get_maker("clevr")
    kinds = Counter(
        question.kind
        for chunk in maker.plan(spec, "val")
        for item in maker.make(spec, "val", chunk)
        for question in item.questions
    )
    assert len(kinds) == len(WORLD.columns(spec)) == 13
    assert min(kinds.values()) >= TOO_FEW
    assert sum(spec.splits[name].scenes for name in spec.splits) == 100
