"""Questions, answers and changed answers without scripts, and the replies that a script gets."""

import re
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from annotations.answering import questions, slot_assignment
from annotations.answering.session import QUESTION, Sitting
from annotations.models import Answer, Participant, Slot
from generation.models import Dataset, Question
from tests.annotations.answered import surplus
from tests.annotations.visitors import Visitor, study_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_a_reload_shows_the_same_question(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    question = visitor.asked()
    visitor.look()
    assert visitor.asked() == question


def test_the_same_form_sent_twice_is_one_answer(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    choice = visitor.choices()[0]
    assert [visitor.send("answer", answer=choice).status_code for _ in range(2)] == [303, 303]
    assert Answer.objects.count() == 1
    assert "2 of 6" in visitor.look()


def test_undo_asks_the_question_again_and_the_new_answer_counts(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    question, (first, second) = visitor.asked(), visitor.choices()[:2]
    visitor.answer(first)
    following = visitor.asked()
    visitor.look("?again=1")
    assert visitor.asked() == question and f"Your answer was “{first}”" in visitor.page
    visitor.answer(second)
    assert visitor.asked() == following
    answers = list(Answer.objects.order_by("pk").values_list("text", "turn", "superseded"))
    assert answers == [(first, 0, True), (second, 1, False)]


def test_a_participant_can_give_a_reason_instead_of_an_answer(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    assert visitor.send("answer", refusal="unclear", visible="1200", idle="30").status_code == 303
    stored = Answer.objects.get()
    assert (stored.text, stored.refusal, stored.visible, stored.idle) == ("", "unclear", 1200, 30)


def test_the_picture_can_be_enlarged(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    assert "zoom-2" not in visitor.to_questions()
    assert "zoom-4" in visitor.look("?zoom=4")
    found = re.search(r'<img src="([^"]+)"', visitor.page)
    assert found is not None
    response = visitor.client.get(found[1])
    assert response["Content-Type"] == "image/png" and response["Cache-Control"].startswith("private")
    assert response.content[:4] == b"\x89PNG"
    assert Client().get(found[1].replace("/picture/", "/picture/x")).status_code == 404


def test_no_page_contains_right_answers_or_programs(shapes: Dataset) -> None:
    rows = Question.objects.filter(split__dataset=shapes)
    rows.update(answer="quagga", source_id="zebra")
    visitor = Visitor(study_of(shapes, checks=1))
    pages = [visitor.to_questions()]
    for _ in range(7):
        pages.append(visitor.answer())
        response = visitor.client.get(visitor.address)
        pages.append(str(response.headers))
    programs = [program for program in rows.values_list("program", flat=True) if program]
    for page in pages:
        assert not re.search("quagga|zebra|filter_|query_|unique", page)
        assert not any(program in page for program in programs)


def test_a_client_id_cannot_be_used_for_another_question(asked_one: Visitor) -> None:
    client = asked_one.fields()["client"]
    asked_one.answer()
    assert asked_one.send("answer", client=client, answer=asked_one.choices()[0]).status_code == 403
    assert Answer.objects.count() == 1


def test_a_delayed_reply_does_not_replace_a_later_one(asked_one: Visitor) -> None:
    fields, (first, second) = asked_one.fields(), asked_one.choices()[:2]
    address = f"{asked_one.address}answer/"
    asked_one.client.post(address, {**fields, "client": str(uuid.uuid4()), "turn": "1", "answer": second})
    asked_one.client.post(address, {**fields, "turn": "0", "answer": first})
    assert Answer.objects.current().get().text == second


def test_an_answer_after_its_lease_is_kept_and_counts_for_progress(asked_one: Visitor) -> None:
    Slot.objects.update(lease="2000-01-01T00:00:00Z")
    taken = Slot.objects.get(participant=asked_one.participant, question__in=_question_keys(asked_one)[:1])
    Slot.objects.filter(question=taken.question).update(participant=None, lease=None, claimed=None)
    for _ in range(asked_one.study.per_question):
        other = Participant.objects.create(study=asked_one.study)
        other.given.create(question=taken.question)
        slot_assignment.answer(other, taken.question_id, slot_assignment.Reply(client=uuid.uuid4(), text="yes"))
    assert "2 of 6" in asked_one.answer()
    assert surplus().get().participant == asked_one.participant


def test_pages_need_no_more_queries_after_more_answers(
    shapes: Dataset, django_assert_max_num_queries: Callable[[int], AbstractContextManager[None]]
) -> None:
    visitor = Visitor(study_of(shapes, questions=8, checks=1))
    visitor.to_questions()
    while visitor.choices():
        with django_assert_max_num_queries(20):
            visitor.look()
        visitor.answer()


def test_the_reply_to_a_script_contains_the_next_question(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, questions=2))
    visitor.to_questions()
    for _ in range(2):
        response = visitor.client.post(
            f"{visitor.address}answer/",
            {**visitor.fields(), "answer": visitor.choices()[0]},
            headers={"accept": "application/json"},
        )
        assert (response.status_code, response.json()["next"]) == (200, visitor.address)
        visitor.page = response.json()["page"]
    assert visitor.page == ""
    assert Answer.objects.counted().count() == 2
    assert "One last thing" in visitor.look()


def test_only_the_last_answer_can_be_changed_and_an_older_one_can_be_sent_again(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    first, sent = visitor.choices()[:2], {**visitor.fields(), "answer": visitor.choices()[0]}
    visitor.answer(first[0])
    visitor.answer()
    before = list(Answer.objects.values_list("pk", "text", "superseded"))
    anew = {**sent, "client": str(uuid.uuid4()), "turn": "1", "answer": first[1]}
    refused = visitor.client.post(f"{visitor.address}answer/", anew)
    assert refused.status_code == 400 and "only your last answer" in refused.content.decode()
    assert visitor.client.post(f"{visitor.address}answer/", sent).status_code == 303
    assert list(Answer.objects.values_list("pk", "text", "superseded")) == before


def _question_keys(visitor: Visitor) -> list[int]:
    return [item.number for item in questions.items_of(Sitting(visitor.participant)) if item.kind == QUESTION][::-1]
