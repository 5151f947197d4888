"""The palette check, and its result for participants who confuse colours."""

import re

import pytest

from annotations.models import Study
from generation.models import Dataset
from tests.annotations.visitors import Visitor, answer_pairs, study_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_participants_who_confuse_colours_are_screened_out_if_the_study_says_so(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, palette=Study.Palette.SCREEN_OUT))
    visitor.look()
    visitor.go_on()
    assert "OUT-1" in visitor.go_on(**answer_pairs(visitor.participant, wrong=3))
    assert (visitor.participant.stage, visitor.participant.mistaken) == ("screened-out", 3)


def test_confused_colours_are_only_recorded_by_default(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    visitor.go_on()
    assert "How it works" in visitor.go_on(**answer_pairs(visitor.participant, wrong=3))
    assert visitor.participant.mistaken == 3


def test_an_incomplete_palette_check_is_refused(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    visitor.go_on()
    assert visitor.send("on", **{"pair-0": "same"}).status_code == 400
    assert (visitor.participant.stage, visitor.participant.mistaken) == ("palette", None)


def test_participants_who_confuse_colours_may_get_only_questions_without_colours(shapes: Dataset) -> None:
    easy = shapes.splits.get(name="val")  # train has no question without a colour
    study = study_of(shapes, questions=8, palette=Study.Palette.COLOUR_FREE, practice=1, practice_right=0, easy=easy)
    names = re.compile(r"\b(gray|red|blue|green|brown|purple|cyan|yellow|color)\b")
    texts = dict(study.split.question_set.values_list("position", "text"))
    plain = {position for position in range(8) if not names.search(texts[position])}
    assert 0 < len(plain) < 8
    visitor = Visitor(study)
    visitor.look()
    visitor.go_on()
    visitor.go_on(**answer_pairs(visitor.participant, wrong=2))
    visitor.to_questions()
    assert not names.search(visitor.asked())  # practice questions have no colours either
    visitor.answer()
    visitor.look()
    while visitor.choices():
        visitor.answer()
    assert set(visitor.participant.given.values_list("question__position", flat=True)) == plain
    assert "One last thing" in visitor.page


def test_participants_who_pass_the_palette_check_get_all_questions(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, questions=8, palette=Study.Palette.COLOUR_FREE))
    visitor.to_questions()
    while visitor.choices():
        visitor.answer()
    assert visitor.participant.given.count() == 8


def test_a_pair_of_colours_is_a_picture(asked_one: Visitor) -> None:
    response = asked_one.client.get(asked_one.address + "pair/0/")
    assert response["Content-Type"] == "image/png" and response["Referrer-Policy"] == "no-referrer"
