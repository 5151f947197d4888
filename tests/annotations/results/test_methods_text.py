"""The text for a paper: it describes only what happened in the study."""

from datetime import UTC, datetime

import pytest

from annotations.answering import slot_assignment
from annotations.answering.participants import people_of
from annotations.models import Participant, Study
from annotations.results import study_statistics
from annotations.results.exclusion_effect import sides
from annotations.results.methods_text import methods_text
from generation.models import Dataset
from generation.storage.split_index import SplitIndex
from tests.annotations import answered

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(made: Dataset) -> Study:
    """Give a study of forty questions with one answer each."""
    return study_of(made, 40)


def study_of(made: Dataset, n: int) -> Study:
    split = made.splits.get(name="train")
    index = SplitIndex.open(split)
    known = [one for one in range(index.n) if int(index.answers[one]) < len(index.answer_values)]
    options = {"easy": made.splits.get(name="val"), "evenly": "type", "seed": 4, "hourly_pay": "10.50"}
    return answered.opened(split, known[:n], per_question=1, **options)


def text_of(study: Study) -> str:
    study.refresh_from_db()
    people = people_of(study)
    return methods_text(study, sides(study, study_statistics.gather(study), people), people)


def answer_all(study: Study, person: Participant, *, wrong: int, received: datetime) -> None:
    index = SplitIndex.open(study.split)
    for number, question in enumerate(study.questions.all()):
        right = index.answer_values[int(index.answers[question.position])]
        answered.put(person, study, question.position, "x" if number < wrong else right, number=0, received=received)


def test_it_describes_questions_people_and_figures(asked: Study) -> None:
    person = Participant.objects.create(study=asked)
    Participant.objects.create(study=asked, stage="screened-out")
    Participant.objects.create(study=asked, is_test=True)
    answer_all(asked, person, wrong=10, received=datetime(2026, 3, 2, 12, tzinfo=UTC))
    said = text_of(asked)
    assert "We drew 40 questions evenly over the values of “type” (seed 4) from split train of Rows of numbers" in said
    assert asked.split.fingerprint[:12] in said
    assert "practised with 6 easy questions" in said and "at least 4 right answers" in said
    assert "Each session also had 2 check questions and 2 attention items, which do not count for any accuracy." in said
    assert "1 participant answered, on 2 March 2026. Pay was set at GBP 10.50 an hour." in said
    assert "1 more participant did not pass the tests" in said
    assert "Nobody’s answers were excluded." in said
    assert "is right on 75.0 % (n = 40) of questions; there were no ties." in said
    assert "over questions only (Wilson), it is 59.8–85.8 %" in said  # 30 of 40, by statsmodels
    assert "alpha" not in said  # one participant cannot agree with others


def test_it_names_reasons_and_the_accuracy_with_everybody_included(asked: Study) -> None:
    bad, good = (Participant.objects.create(study=asked) for _ in range(2))
    answer_all(asked, bad, wrong=40, received=datetime(2026, 3, 2, 12, tzinfo=UTC))
    slot_assignment.exclude(bad, reason="Pressed one key.")
    answer_all(asked, good, wrong=0, received=datetime(2026, 3, 4, 12, tzinfo=UTC))
    said = text_of(asked)
    assert "2 participants answered, from 2 March 2026 to 4 March 2026." in said
    assert "The answers of 1 participant were excluded: Pressed one key (n = 1)." in said
    assert "With everybody included, the accuracy of the majority is 0.0 % (n = 40)." in said
    assert "is right on 100.0 % (n = 40)" in said


def test_few_questions_have_no_accuracy(made: Dataset) -> None:
    study = study_of(made, 29)
    bad, good = (Participant.objects.create(study=study) for _ in range(2))
    answer_all(study, bad, wrong=29, received=datetime(2026, 3, 2, 12, tzinfo=UTC))
    slot_assignment.exclude(bad, reason="Pressed one key.")
    answer_all(study, good, wrong=0, received=datetime(2026, 3, 2, 12, tzinfo=UTC))
    said = text_of(study)
    assert "The answers of 1 participant were excluded" in said
    assert said.endswith("We state no accuracy for fewer than 30 questions (n = 29).")
    assert "%" not in said


def test_without_answers_it_describes_only_the_plan(asked: Study) -> None:
    said = text_of(asked)
    assert said.startswith("We drew 40 questions")
    assert "\n\n" not in said
