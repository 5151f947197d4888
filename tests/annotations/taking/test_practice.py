"""Practice with feedback, and the checks that are asked between the questions."""

import re
import uuid

import pytest

from annotations.models import Answer, EasyAnswer
from generation.models import Dataset
from tests.annotations.visitors import Visitor, right_answer, study_of, wrong_answer

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_practice_shows_the_right_answer_and_continues(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, practice=2, practice_right=1))
    visitor.to_questions()
    wrong, right = wrong_answer(visitor), right_answer(visitor)
    assert f"You answered “{wrong}”. The right answer is “{right}”." in visitor.answer(wrong)
    visitor.look()
    assert "2 of 2" in visitor.page
    assert "is right." in visitor.answer(right_answer(visitor))
    assert "1 of 2 answers were right" in visitor.page
    assert visitor.participant.stage == "questions"
    assert "1 of 6" in visitor.look()
    assert Answer.objects.count() == 0


def test_two_failed_tries_at_practice_screen_the_participant_out(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, practice=2, practice_right=2))
    visitor.to_questions()
    asked_for = []
    for expected in ("", "try once more", "", "second try"):
        asked_for.append(visitor.fields()["token"])
        assert expected in visitor.answer(wrong_answer(visitor))
        visitor.look()
    assert len(set(asked_for)) == 4
    assert "OUT-1" in visitor.page
    person = visitor.participant
    assert (person.stage, person.tries, person.easy_answers.count()) == ("screened-out", 2, 4)


def test_checks_and_attention_items_are_asked_between_the_questions(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, checks=2, attention=1, questions=4))
    visitor.to_questions()
    for number in range(1, 8):
        assert f"{number} of 7" in visitor.page
        wanted = re.search("please press “(.*?)”", visitor.asked())
        visitor.answer(wanted[1] if wanted else None)
    assert "One last thing" in visitor.page
    kinds = list(visitor.participant.easy_answers.order_by("kind", "number").values_list("kind", "number"))
    assert kinds == [("attention", 0), ("check", 0), ("check", 1)]
    assert EasyAnswer.objects.get(kind="attention").is_right
    assert Answer.objects.count() == 4


def test_answers_to_checks_and_attention_items_can_be_undone_too(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, checks=1, attention=1, questions=4))
    visitor.to_questions()
    for _ in range(6):
        question, (first, second) = visitor.asked(), visitor.choices()[:2]
        visitor.answer(first)
        assert "Undo the last answer" in visitor.page or "One last thing" in visitor.page
        if "One last thing" in visitor.page:
            break
        following = visitor.asked()
        visitor.look("?again=1")
        assert visitor.asked() == question
        assert visitor.answer(second) and visitor.asked() == following
    stored = visitor.participant.easy_answers.order_by("kind", "turn").values_list("kind", "turn", "superseded")
    assert list(stored) == [("attention", 0, True), ("attention", 1, False), ("check", 0, True), ("check", 1, False)]


def test_the_later_turn_of_two_answers_to_a_check_counts_in_any_order(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, checks=1, questions=2))
    visitor.to_questions()
    visitor.answer()
    first, second = visitor.choices()[:2]
    for client, turn, text in ((uuid.uuid4(), "1", second), (uuid.uuid4(), "0", first)):
        assert visitor.send("answer", answer=text, turn=turn, client=str(client)).status_code == 303
    assert EasyAnswer.objects.current().get().text == second
    assert EasyAnswer.objects.count() == 2
