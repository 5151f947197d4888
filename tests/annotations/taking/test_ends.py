"""How a session ends: completed, full or stopped, and which code or link the page shows."""

import pytest

from annotations.models import Study
from generation.models import Dataset
from tests.annotations.visitors import Visitor, study_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PROLIFIC = "?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1"


def test_a_participant_who_finds_no_questions_left_gets_the_full_code(shapes: Dataset) -> None:
    study = study_of(shapes, questions=2, per_question=1)
    late, early = Visitor(study), Visitor(study)
    early.to_questions()  # the page already holds the next and last question
    assert "Please wait a moment" in late.to_questions()
    early.answer()
    early.answer()
    assert "FULL-1" in late.look()
    assert late.participant.stage == "full" and late.participant.finished is not None
    assert "FULL-1" in Visitor(study).look()


def test_a_participant_with_answers_completes_when_no_questions_are_left(shapes: Dataset) -> None:
    study = study_of(shapes, questions=3, per_question=1)
    early, late = Visitor(study), Visitor(study)
    early.to_questions()
    late.to_questions()
    assert "One last thing" in late.answer()
    early.answer()
    assert "One last thing" in early.answer()


def test_https_addresses_become_links_and_other_texts_codes(shapes: Dataset) -> None:
    for code, shown in (("https://example.org/?cc=1", '<a class="button" href="https'), ("javascript:1", "<code>")):
        study = study_of(shapes, full=code)
        study.slots.all().delete()
        page = Visitor(study).look()
        assert shown in page and 'href="javascript' not in page


def test_a_participant_keeps_the_code_they_were_given_if_the_study_changes(shapes: Dataset) -> None:
    study = study_of(shapes, questions=1, per_question=1)
    visitor = Visitor(study, PROLIFIC)
    visitor.to_questions()
    visitor.answer()
    assert "DONE-1" in visitor.go_on(comment="")
    Study.objects.filter(pk=study.pk).update(completed="DONE-2", state=Study.State.CLOSED)
    assert "DONE-1" in visitor.look() and "DONE-2" not in visitor.page
    assert "DONE-1" in Visitor(study, PROLIFIC).look()


def test_the_page_for_stopping_explains_it_and_changes_nothing(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    visitor.answer()
    assert "you get no code" in visitor.look("?stop=1") and "1 of 6" in visitor.page
    assert "2 of 6" in visitor.look()
