"""Joining a study by the platform's link: ids, sessions, test links, and studies that are not open."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from annotations.answering import participant_flow, question_tokens, throttle
from annotations.models import Answer, Participant, Slot, Study
from generation.models import Dataset
from tests.annotations.answered import surplus
from tests.annotations.visitors import Visitor, answer_pairs, study_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PROLIFIC = "?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1"


def test_a_participant_goes_from_the_link_to_the_completion_code(shapes: Dataset) -> None:
    study = study_of(shapes, questions=6, per_session=4, consent="**Yes?**", instructions="Look *well*.")
    visitor = Visitor(study, PROLIFIC)
    assert "<strong>Yes?</strong>" in visitor.look() and visitor.address in visitor.page
    assert "pair-11" in visitor.go_on()
    assert "Look <em>well</em>." in visitor.go_on(**answer_pairs(visitor.participant))
    assert "1 of 4" in visitor.go_on()
    for number in (2, 3, 4):
        assert f"{number} of 4" in visitor.answer()
    assert "One last thing" in visitor.answer()
    assert "DONE-1" in visitor.go_on(comment="Nice.")
    assert "DONE-1" in visitor.look()
    person = visitor.participant
    assert (person.stage, person.comment, person.mistaken) == ("completed", "Nice.", 0)
    assert person.finished is not None
    assert Answer.objects.counted().count() == 4
    assert Slot.objects.filter(answered=True, participant=person).count() == 4


def test_addresses_contain_no_ids_and_pages_send_no_referrer(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes), PROLIFIC)
    assert visitor.joined.status_code == 303
    person = visitor.participant
    assert (person.identity, person.session, person.study_there) == ("p1", "v1", "s1")
    assert not any(f"/{name}" in visitor.address or "?" in visitor.address for name in ("p1", "v1", "s1"))
    for response in (visitor.joined, visitor.client.get(visitor.address), visitor.client.get("/s/nothing/")):
        assert response["Cache-Control"] == "no-store" and response["Referrer-Policy"] == "no-referrer"
        assert not response.cookies


def test_the_same_session_continues_where_it_stopped(shapes: Dataset) -> None:
    study = study_of(shapes)
    first = Visitor(study, PROLIFIC)
    first.to_questions()
    first.answer()
    elsewhere = Visitor(study, PROLIFIC)
    assert elsewhere.address == first.address
    assert "2 of 6" in elsewhere.look()
    assert Participant.objects.count() == 1


@pytest.mark.parametrize("again", ["?PROLIFIC_PID=p1", "?PROLIFIC_PID=p1&SESSION_ID=v2"])
def test_a_second_session_of_an_id_is_asked_to_use_its_own_link(shapes: Dataset, again: str) -> None:
    study = study_of(shapes)
    assert Visitor(study, "?PROLIFIC_PID=p1").joined.status_code == 303
    second = Visitor(study, again).joined
    assert second.status_code == 409
    assert "continue with your own link" in second.content.decode() and "Location" not in second
    assert Participant.objects.count() == 1


def test_each_visit_without_an_id_is_a_new_participant(shapes: Dataset) -> None:
    study = study_of(shapes)
    one, other = Visitor(study), Visitor(study)
    assert one.address != other.address
    assert f"http://testserver{one.address}" in one.look()


CLOSED = {"state": Study.State.CLOSED}
OVER = {"closes": datetime(2026, 1, 1, tzinfo=UTC)}
EARLY = {"opens": datetime(2999, 12, 31, 8, tzinfo=UTC)}
DRAFT = {"state": Study.State.DRAFT}


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        (CLOSED, "This study is closed"),
        (OVER, "This study is closed"),
        (EARLY, "This study has not opened yet"),
        (DRAFT, "This study has not opened yet"),
    ],
)
def test_visitors_of_a_study_that_is_not_open_get_the_full_code(
    shapes: Dataset, changed: dict[str, Any], title: str
) -> None:
    study = study_of(shapes)
    Study.objects.filter(pk=study.pk).update(**changed)
    response = Visitor(study, PROLIFIC).joined
    page = response.content.decode()
    assert response.status_code == 409 and f"<h1>{title}</h1>" in page
    assert "<code>FULL-1</code>" in page and "Enter this code on the platform that sent you" in page
    assert "did not work" not in page and "Nothing was saved" not in page
    assert ("2999-12-31 at 08:00 (UTC)" in page) == (changed == EARLY)
    assert not Participant.objects.exists()


def test_the_full_code_may_be_an_address_or_missing(shapes: Dataset) -> None:
    address = study_of(shapes, full="https://example.org/?cc=F", state=Study.State.CLOSED)
    Study.objects.filter(pk=address.pk).update(**CLOSED)
    page = Visitor(address).joined.content.decode()
    assert 'href="https://example.org/?cc=F"' in page and "Enter this code on" not in page
    Study.objects.filter(pk=address.pk).update(full="")
    assert "return your place there" in Visitor(address).joined.content.decode()


@pytest.mark.parametrize("stage", ["consent", "palette", "instructions", "practice"])
def test_participants_before_the_questions_of_a_closed_study_get_the_full_code(shapes: Dataset, stage: str) -> None:
    study = study_of(shapes, practice=2, practice_right=1)
    visitor = Visitor(study, PROLIFIC)
    Participant.objects.update(stage=stage)
    Study.objects.filter(pk=study.pk).update(**CLOSED)
    page = visitor.look()
    assert "This study is closed" in page and "<code>FULL-1</code>" in page
    Study.objects.filter(pk=study.pk).update(state=Study.State.OPEN)
    assert "Take part" in visitor.look()


@pytest.mark.parametrize("address", ["/s/{code}/", "/s/{code}/{secret}/"])
def test_the_page_of_a_deleted_study_says_what_to_do(shapes: Dataset, address: str) -> None:
    study = study_of(shapes)
    visitor = Visitor(study, PROLIFIC)
    address = address.format(code=study.code, secret=visitor.participant.secret)
    study.participants.all().delete()
    study.delete()
    response = visitor.client.get(address)
    page = response.content.decode()
    assert response.status_code == 404 and "did not work" not in page
    assert "This study was not found" in page and "return your place there" in page


def test_participants_of_the_test_link_never_count(shapes: Dataset) -> None:
    study = study_of(shapes, questions=4, per_question=1)
    visitor = Visitor(study, f"?test={question_tokens.test_token(study)}")
    assert "This is a test" in visitor.to_questions()
    for _ in range(4):
        visitor.answer()
    assert "One last thing" in visitor.page
    assert Answer.objects.count() == Answer.objects.current().count() == 4
    assert not Answer.objects.valid().exists() and not surplus().exists()
    assert not Slot.objects.exclude(participant=None).exists()
    real = Visitor(study)
    real.to_questions()
    real.answer()
    assert Answer.objects.counted().count() == 1


def test_a_forged_test_link_is_an_ordinary_visit(shapes: Dataset) -> None:
    assert not Visitor(study_of(shapes), "?test=yes").participant.is_test


@pytest.mark.parametrize("query", ["?PROLIFIC_PID=%00", "?PROLIFIC_PID=" + "x" * 5000, "?SESSION_ID=%0a"])
def test_bad_ids_are_refused(shapes: Dataset, query: str) -> None:
    assert Visitor(study_of(shapes), query).joined.status_code == 400
    assert not Participant.objects.exists()


def test_two_simultaneous_first_visits_are_one_participant(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(shapes)
    first = participant_flow.join(study, identity="p1", session="v1")
    known = participant_flow._known
    calls = iter([lambda *_: None, known])
    monkeypatch.setattr(
        participant_flow, "_known", lambda *parts: next(calls)(*parts)
    )  # the first lookup finds nothing, as if the other visit were not stored yet
    assert participant_flow.join(study, identity="p1", session="v1") == first


def test_too_many_first_visits_at_once_get_429(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "JOINING", 2)
    study, calm = study_of(shapes), study_of(shapes)
    came = [Client().get(f"/s/{study.code}/") for _ in range(3)]
    assert [response.status_code for response in came] == [303, 303, 429]
    assert came[2]["Retry-After"] == "60" and study.participants.count() == 2
    assert Client().get(f"/s/{calm.code}/").status_code == 303
