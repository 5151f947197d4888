"""Files of answers: each answer is a line, and no line has personal data."""

import csv
import json
import random
import uuid

import pytest

from annotations.answering import slot_assignment
from annotations.models import Answer, EasyAnswer, Participant, Study
from annotations.results.answer_files import AnswerLine, as_csv, as_jsonl, lines
from generation.models import Dataset
from generation.storage.split_index import SplitIndex
from tests.annotations import answered

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(made: Dataset) -> Study:
    """Give a study of two questions, one answer each, with easy questions from another split."""
    return answered.opened(
        made.splits.get(name="val"), with_answers(made)[:2], per_question=1, easy=made.splits.get(name="train")
    )


def with_answers(dataset: Dataset) -> list[int]:
    """Return the positions of the questions of split val that have an answer."""
    index = SplitIndex.open(dataset.splits.get(name="val"))
    return [one for one in range(index.n) if int(index.answers[one]) < len(index.answer_values)]


def right_of(study: Study, position: int) -> str:
    index = SplitIndex.open(study.split)
    return index.answer_values[int(index.answers[position])]


def test_each_answer_is_a_line(asked: Study) -> None:
    first, second = asked.questions.values_list("position", flat=True)
    mine, other = (Participant.objects.create(study=asked) for _ in range(2))
    EasyAnswer.objects.create(
        participant=mine, kind="check", number=0, position=5, client=uuid.uuid4(), text="no", is_right=False, visible=9,
        received=answered.shown_for(mine, "check", 0, milliseconds=9),
    )  # fmt: skip
    EasyAnswer.objects.create(
        participant=mine, kind="attention", number=0, client=uuid.uuid4(), text="red", is_right=True,
        received=answered.shown_for(mine, "attention", 0, milliseconds=0),
    )  # fmt: skip
    answered.put(mine, asked, first, right_of(asked, first), number=0, visible=1200, idle=30)
    answered.put(mine, asked, second, "", refusal="unclear", number=0)
    answered.put(other, asked, first, "perhaps")
    answered.put(other, asked, second, "no", superseded=True)
    right = right_of(asked, first)
    assert list(lines(asked)) == [
        AnswerLine("P001", "check", "rows/train", 5, None, "no", "", False, 9, None, 9, False, False, False),
        AnswerLine("P001", "attention", "", None, None, "red", "", True, None, None, 0, False, False, False),
        AnswerLine("P001", "sample", "rows/val", first, 0, right, "", True, 1200, 30, 1200, False, False, False),
        AnswerLine("P001", "sample", "rows/val", second, 0, "", "unclear", None, 4000, 0, 4000, False, False, False),
        AnswerLine("P002", "sample", "rows/val", first, None, "perhaps", "", False, 4000, 0, 4000, False, True, False),
        AnswerLine("P002", "sample", "rows/val", second, None, "no", "", False, 4000, 0, 0, False, False, True),
    ]


def test_excluded_participants_are_marked_and_test_participants_are_left_out(asked: Study) -> None:
    first, _ = asked.questions.values_list("position", flat=True)
    tester = Participant.objects.create(study=asked, is_test=True)
    person = Participant.objects.create(study=asked)
    answered.put(tester, asked, first, "yes")
    answered.put(person, asked, first, "yes", number=0)
    slot_assignment.exclude(person, reason="by mistake")
    [line] = lines(asked)
    assert (line.participant, line.excluded, line.slot, line.surplus) == ("P002", True, None, False)


def test_lines_without_permission_do_not_say_what_is_correct(asked: Study) -> None:
    first, _ = asked.questions.values_list("position", flat=True)
    person = Participant.objects.create(study=asked)
    EasyAnswer.objects.create(
        participant=person, kind="check", number=0, position=5, client=uuid.uuid4(), text="no", is_right=False
    )
    answered.put(person, asked, first, "yes", number=0)
    assert [line.correct for line in lines(asked, correct=False, easy_correct=False)] == [None, None]


def test_files_contain_no_personal_data(asked: Study) -> None:
    first, _ = asked.questions.values_list("position", flat=True)
    named = {"identity": "5f0c0ffee", "session": "5e5510", "study_there": "57d1e", "comment": "Rosa from Ulm"}
    person = Participant.objects.create(study=asked, **named)
    answered.put(person, asked, first, "yes", number=0)
    for text in ("".join(as_csv(lines(asked))), "".join(as_jsonl(lines(asked)))):
        assert "P001" in text
        assert not any(word in text for word in (*named.values(), "Rosa", person.secret))


@pytest.mark.parametrize("text", ["=1+1", "+49", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_no_cell_is_a_formula(asked: Study, text: str) -> None:
    first, _ = asked.questions.values_list("position", flat=True)
    answered.put(Participant.objects.create(study=asked), asked, first, text, number=0)
    [row] = csv.DictReader(as_csv(lines(asked)))
    assert row["answer"] == f"'{text}"
    assert json.loads(next(as_jsonl(lines(asked))))["answer"] == text


@pytest.mark.slow
def test_both_files_have_every_answer_once(made: Dataset) -> None:
    study = answered.answered(made, random.Random(7))
    rows = list(csv.DictReader(as_csv(lines(study))))
    objects = [json.loads(line) for line in as_jsonl(lines(study))]
    stored = Answer.objects.filter(question__study=study, participant__is_test=False)
    assert len(rows) == len(objects) == stored.count()
    assert sum(row["slot"] != "" for row in rows) == stored.counted().count()
    assert sum(row["surplus"] == "true" for row in rows) == answered.surplus().filter(question__study=study).count()
    for row, one in zip(rows, objects, strict=True):
        assert row["answer"] == one["answer"]
        assert row["correct"] == {True: "true", False: "false", None: ""}[one["correct"]]
        right = right_of(study, one["question"])
        assert one["correct"] == (None if one["refusal"] else one["answer"] == right)
