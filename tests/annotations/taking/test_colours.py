"""The palette check, and what becomes of who takes colours for one another."""

import re

import pytest

from annotations.models import Study
from generation.models import Dataset
from tests.annotations.visitors import Visitor, study_of, told_apart

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_who_mistakes_colours_leaves_where_the_study_says_so(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, palette=Study.Palette.SCREEN_OUT))
    visitor.look()
    visitor.go_on()
    assert "OUT-1" in visitor.go_on(**told_apart(visitor.participant, wrong=3))
    assert (visitor.participant.stage, visitor.participant.mistaken) == ("screened-out", 3)


def test_mistaken_colours_are_else_only_recorded(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    visitor.go_on()
    assert "How it works" in visitor.go_on(**told_apart(visitor.participant, wrong=3))
    assert visitor.participant.mistaken == 3


def test_half_a_palette_check_is_none(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    visitor.go_on()
    assert visitor.send("on", **{"pair-0": "same"}).status_code == 400
    assert (visitor.participant.stage, visitor.participant.mistaken) == ("palette", None)


def test_who_mistakes_colours_may_be_given_only_questions_without(shapes: Dataset) -> None:
    easy = shapes.splits.get(name="val")  # train has no question without a colour
    study = study_of(shapes, questions=8, palette=Study.Palette.COLOUR_FREE, practice=1, practice_right=0, easy=easy)
    names = re.compile(r"\b(gray|red|blue|green|brown|purple|cyan|yellow|color)\b")
    texts = dict(study.split.question_set.values_list("position", "text"))
    plain = {position for position in range(8) if not names.search(texts[position])}
    assert 0 < len(plain) < 8
    visitor = Visitor(study)
    visitor.look()
    visitor.go_on()
    visitor.go_on(**told_apart(visitor.participant, wrong=2))
    visitor.to_questions()
    assert not names.search(visitor.asked())  # nor at practice
    visitor.answer()
    visitor.look()
    while visitor.choices():
        visitor.answer()
    assert set(visitor.participant.given.values_list("question__position", flat=True)) == plain
    assert "One last thing" in visitor.page


def test_who_tells_colours_apart_is_given_all_questions(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, questions=8, palette=Study.Palette.COLOUR_FREE))
    visitor.to_questions()
    while visitor.choices():
        visitor.answer()
    assert visitor.participant.given.count() == 8


def test_a_pair_of_colours_is_a_picture(asked_one: Visitor) -> None:
    response = asked_one.client.get(asked_one.address + "pair/0/")
    assert response["Content-Type"] == "image/png" and response["Referrer-Policy"] == "no-referrer"
