"""Somebody with the link of a study cannot keep other participants out of it."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from annotations.answering import participant_flow, participants, slot_assignment, throttle
from annotations.answering.participants import people_of
from annotations.answering.throttle import Throttle
from annotations.models import Answer, EasyAnswer, Participant, Slot, Study
from annotations.results.payment import PlatformRow, reconcile
from generation.models import Dataset
from tests.annotations.visitors import Visitor, study_of
from tests.proof import size

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PEOPLE = size(20, name="people who complete a study beside idle sessions", least=5)
IDLE = size(500, name="idle sessions beside those of a study", least=25)
assert IDLE > 4 * PEOPLE  # so many can hold all slots: two each of eight questions for each of the people


def move_claims_back(seconds: float) -> None:
    """Move all claims and leases back in time by so many seconds."""
    for slot in Slot.objects.exclude(claimed=None):
        changes: dict[str, Any] = {"claimed": slot.claimed - timedelta(seconds=seconds)}
        if slot.lease is not None:
            changes["lease"] = slot.lease - timedelta(seconds=seconds)
        Slot.objects.filter(pk=slot.pk).update(**changes)


def be_silent(*people: Participant, seconds: float = slot_assignment.GRACE + 1) -> None:
    """Move everything that participants did back in time by so many seconds."""
    move_claims_back(seconds)
    for rows, field in ((Answer, "received"), (EasyAnswer, "received")):
        for pk, moment in rows.objects.filter(participant__in=people).values_list("pk", field):
            rows.objects.filter(pk=pk).update(**{field: moment - timedelta(seconds=seconds)})
    for person in people:
        heard = Participant.objects.get(pk=person.pk).heard
        Participant.objects.filter(pk=person.pk).update(heard=heard and heard - timedelta(seconds=seconds))


def finish_session(visitor: Visitor) -> str:
    """Answer everything that a visitor is asked, and return the last page."""
    visitor.to_questions()
    while visitor.choices():
        visitor.answer()
    return visitor.go_on(comment="") if "One last thing" in visitor.page else visitor.page


# Idle sessions


def test_many_people_can_complete_a_study_beside_many_idle_sessions(shapes: Dataset) -> None:
    study = study_of(shapes, questions=8, per_question=PEOPLE, per_session=8)
    for _ in range(IDLE):
        assert Client().get(f"/s/{study.code}/").status_code == 303
    assert not Slot.objects.exclude(participant=None).exists()  # participants hold no slots before they consent
    for visitor in [Visitor(study) for _ in range(PEOPLE)]:
        assert "DONE-1" in finish_session(visitor)
    assert Slot.objects.filter(answered=False).count() == 0


def test_many_people_can_complete_a_study_if_others_stop_at_their_first_question(shapes: Dataset) -> None:
    study = study_of(shapes, questions=8, per_question=PEOPLE, per_session=8)
    idle = [Participant.objects.create(study=study, stage="questions") for _ in range(IDLE)]
    for person in idle:
        slot_assignment.claims(person, most=2, held=(), given=())
    assert not Slot.objects.free().exists()
    early = Visitor(study)
    assert "Please wait a moment" in early.to_questions() and "FULL-1" in early.page
    move_claims_back(slot_assignment.GRACE + 1)
    for visitor in [early, *(Visitor(study) for _ in range(PEOPLE - 1))]:
        assert "DONE-1" in finish_session(visitor)
    assert Answer.objects.counted().count() == 8 * PEOPLE
    assert not Participant.objects.filter(stage="full").exists()


def test_loading_a_question_again_and_again_does_not_hold_it(shapes: Dataset) -> None:
    study = study_of(shapes, questions=1, per_question=1)
    idle, other = Visitor(study), Visitor(study)
    idle.to_questions()
    for _ in range(10):  # a reload every six minutes
        move_claims_back(360)
        idle.look()
    assert "DONE-1" in finish_session(other)


def test_an_answer_counts_before_the_claim_of_an_idle_session(shapes: Dataset) -> None:
    study = study_of(shapes, questions=1, per_question=1)
    slow, idle = Visitor(study), Visitor(study)
    slow.to_questions()
    move_claims_back(slot_assignment.GRACE + 1)
    idle.to_questions()
    assert Slot.objects.get().participant == idle.participant
    move_claims_back(slot_assignment.GRACE + 1)
    slow.answer()
    assert Answer.objects.counted().get().participant == slow.participant


# Sessions that stop after some answers


def test_sessions_that_stop_after_one_answer_hold_nobody_off_for_more_than_a_minute(shapes: Dataset) -> None:
    study = study_of(shapes, questions=5, per_question=4, per_session=5)
    stopped = []
    while Slot.objects.free().exists():
        stopped.append(Visitor(study))
        stopped[-1].to_questions()
        stopped[-1].answer()
    late = Visitor(study)
    assert "Please wait a moment" in late.to_questions()
    assert 0 < int(late.client.get(late.address)["Retry-After"]) <= slot_assignment.GRACE
    kept = set(Answer.objects.values_list("pk", flat=True))
    be_silent(*(visitor.participant for visitor in stopped))
    assert "DONE-1" in finish_session(late)
    for _ in range(3):
        finish_session(Visitor(study))
    assert Answer.objects.counted().count() == 20
    assert kept <= set(Answer.objects.counted().values_list("pk", flat=True))


def test_many_who_wait_share_the_questions_of_those_who_stopped(shapes: Dataset) -> None:
    study = study_of(shapes, questions=6, per_question=2, per_session=2)
    stopped = [Visitor(study) for _ in range(6)]
    for visitor in stopped:
        visitor.to_questions()
        visitor.answer()
    assert not Slot.objects.free().exists()
    late = [Visitor(study) for _ in range(8)]
    assert all("Please wait a moment" in visitor.to_questions() for visitor in late)
    be_silent(*(visitor.participant for visitor in stopped))
    pages = [visitor.to_questions() for visitor in late]
    assert sum("Please wait a moment" in page for page in pages) == 2
    held = list(Slot.objects.filter(answered=False).values_list("participant", flat=True))
    assert len(set(held)) == 6 and not {one.participant.pk for one in stopped} & set(held)


def test_a_page_that_is_read_keeps_its_question_for_the_lease(shapes: Dataset) -> None:
    study = study_of(shapes, questions=2, per_question=1)
    reader, late = Visitor(study), Visitor(study)
    reader.to_questions()
    reader.answer()
    for _ in range(9):
        be_silent(reader.participant, seconds=60)
        assert reader.send("here").status_code == 204
        assert "Please wait a moment" in late.to_questions()
    be_silent(reader.participant, seconds=120)
    reader.send("here")
    assert "Please wait a moment" not in late.to_questions()  # the lease is over


def test_a_page_without_any_answer_is_no_sign_of_life(shapes: Dataset) -> None:
    study = study_of(shapes, questions=1, per_question=1)
    script, late = Visitor(study), Visitor(study)
    script.to_questions()
    be_silent(script.participant)
    assert script.send("here").status_code == 204
    assert "DONE-1" in finish_session(late)


def test_an_answer_to_a_check_question_is_a_sign_of_life(shapes: Dataset) -> None:
    study = study_of(shapes, questions=2, per_question=1)
    busy, late = Visitor(study), Visitor(study)
    busy.to_questions()
    busy.answer()
    be_silent(busy.participant)
    check = {"kind": EasyAnswer.Kind.CHECK, "number": 0, "position": 0, "client": uuid.uuid4(), "is_right": True}
    EasyAnswer.objects.create(participant=busy.participant, **check)
    assert "Please wait a moment" in late.to_questions()


def test_a_late_answer_of_a_silent_participant_is_kept_and_not_counted_twice(shapes: Dataset) -> None:
    study = study_of(shapes, questions=2, per_question=1, per_session=2)
    slow, quick = Visitor(study), Visitor(study)
    slow.to_questions()
    slow.answer()
    be_silent(slow.participant)
    assert "DONE-1" in finish_session(quick)
    slow.answer()
    mine = Answer.objects.filter(participant=slow.participant)
    assert (mine.count(), mine.exclude(slot=None).count()) == (2, 1)
    assert Answer.objects.counted().count() == 2
    assert "DONE-1" in finish_session(slow)


def test_a_late_answer_counts_if_the_other_one_has_not_come_yet(shapes: Dataset) -> None:
    study = study_of(shapes, questions=2, per_question=1, per_session=2)
    slow, other = Visitor(study), Visitor(study)
    slow.to_questions()
    slow.answer()
    be_silent(slow.participant)
    other.to_questions()
    move_claims_back(slot_assignment.GRACE + 1)  # the other one is silent as well
    slow.answer()
    assert Answer.objects.counted().filter(participant=slow.participant).count() == 2


def test_a_silent_participant_who_comes_back_gets_another_question(shapes: Dataset) -> None:
    study = study_of(shapes, questions=3, per_question=1, per_session=3)
    slow, other = Visitor(study), Visitor(study)
    slow.to_questions()
    slow.answer()
    be_silent(slow.participant)
    other.to_questions()
    taken = Slot.objects.get(participant=other.participant)
    assert slow.choices() and "Please wait" not in slow.look()
    mine = Slot.objects.filter(participant=slow.participant, answered=False)
    assert taken.pk not in mine.values_list("pk", flat=True) and mine.exists()


def test_two_who_wait_never_get_the_same_slot(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(shapes, questions=2, per_question=1)
    slow = Visitor(study)
    slow.to_questions()
    slow.answer()
    be_silent(slow.participant)
    first, second = (Participant.objects.create(study=study, stage="questions") for _ in range(2))
    found = []

    def let_the_other_go_first(*rows: Any) -> dict[str, Any]:  # between reading the idle slots and claiming one
        monkeypatch.undo()
        found.extend(slot_assignment.claims(second, most=1, held=(), given=()))
        return slot_assignment._lease(*rows)

    monkeypatch.setattr(slot_assignment, "_lease", let_the_other_go_first)
    found.extend(slot_assignment.claims(first, most=1, held=(), given=()))
    assert len(found) == 1 and Slot.objects.get(answered=False).participant == second


# A full study can have free slots later


def test_a_visitor_of_a_full_study_may_try_again_if_it_is_not_complete(shapes: Dataset) -> None:
    study = study_of(shapes, questions=1, per_question=1)
    early, late = Visitor(study), Visitor(study)
    early.to_questions()
    page = late.to_questions()
    found = re.search(r"Try again in (\d+) minute", page)
    assert found is not None and 1 <= int(found[1]) <= 10
    response = late.client.get(late.address)
    assert 0 < int(response["Retry-After"]) <= 600
    assert late.participant.stage == "consent" and late.participant.finished is None
    Slot.objects.update(lease="2000-01-01T00:00:00Z")
    late.look()
    assert "DONE-1" in finish_session(late)


def test_participants_who_were_full_before_the_update_may_try_again(shapes: Dataset) -> None:
    study = study_of(shapes, questions=2, per_question=1)
    link = "?PROLIFIC_PID=p1&SESSION_ID=v1"
    late = Visitor(study, link)
    Participant.objects.update(stage="full", ending="FULL-1")
    assert Visitor(study, link).address == late.address
    assert "DONE-1" in finish_session(late)
    assert late.participant.ending == "DONE-1"


def test_a_complete_study_and_a_closed_study_stay_full(shapes: Dataset) -> None:
    study = study_of(shapes, questions=1, per_question=1)
    assert "DONE-1" in finish_session(Visitor(study))
    late = Visitor(study)
    assert "FULL-1" in late.look() and "There are no questions left" in late.page
    assert late.participant.stage == "full"
    other = study_of(shapes, questions=1, per_question=1)
    first, second = Visitor(other), Visitor(other)
    first.to_questions()
    second.to_questions()
    Participant.objects.filter(pk=second.participant.pk).update(stage="questions")
    Study.objects.filter(pk=other.pk).update(state=Study.State.CLOSED)
    assert "This study is closed" in second.look() and "FULL-1" in second.page


# Platform ids


def test_a_stranger_cannot_block_the_platform_id_of_somebody_else(shapes: Dataset) -> None:
    study = study_of(shapes)
    stranger = Visitor(study, "?PROLIFIC_PID=p1&SESSION_ID=made-up")
    link = "?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1"
    response = Visitor(study, link).joined
    assert response.status_code == 409 and 'name="SESSION_ID" value="v1"' in response.content.decode()
    real = Visitor(study, f"{link}&anew=1")
    assert real.address != stranger.address and real.joined.status_code == 303
    assert "DONE-1" in finish_session(real)
    assert Visitor(study, link).address == real.address  # the link keeps leading to the session of the real participant
    seen = {person.pseudonym: person.flags for person in people_of(study)}
    assert "same platform id as P002" in seen["P001"] and "same platform id as P001" in seen["P002"]


def test_the_payment_approves_only_the_session_of_the_platform(shapes: Dataset) -> None:
    study = study_of(shapes)
    Visitor(study, "?PROLIFIC_PID=p1&SESSION_ID=made-up")
    finish_session(Visitor(study, "?PROLIFIC_PID=p1&SESSION_ID=v1&anew=1"))
    done = PlatformRow("v1", "p1", "AWAITING REVIEW", "DONE-1", 60.0)
    rows = [done, PlatformRow("v9", "p1", "AWAITING REVIEW", "", 9.0)]
    found = reconcile(study, rows, people_of(study))
    assert found.approve == ["v1"]
    assert [row.submission for row in found.unclear] == ["v9"]


def test_an_id_without_a_session_can_start_again_too(shapes: Dataset) -> None:
    study = study_of(shapes)
    first = Visitor(study, "?PROLIFIC_PID=p1")
    assert Visitor(study, "?PROLIFIC_PID=p1").joined.status_code == 409
    second = Visitor(study, "?PROLIFIC_PID=p1&anew=1")
    assert second.joined.status_code == 303 and second.address != first.address


# Many from one address


def test_a_flood_from_one_address_blocks_no_other_address(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "arrivals", Throttle(5, 60.0))
    study = study_of(shapes)
    flood = [Client(REMOTE_ADDR=f"2001:db8:1:2::{n:x}").get(f"/s/{study.code}/") for n in range(1, 9)]
    assert [one.status_code for one in flood] == [303] * 5 + [429] * 3
    assert 0 < int(flood[-1]["Retry-After"]) <= 60
    for other in ("2001:db8:1:3::1", "192.0.2.7", "::ffff:192.0.2.8"):
        assert Client(REMOTE_ADDR=other).get(f"/s/{study.code}/").status_code == 303


def test_a_lab_that_shares_an_address_is_not_a_flood(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "arrivals", Throttle(2, 60.0))
    study = study_of(shapes, per_question=9)
    for _ in range(6):
        visitor = Visitor(study)
        visitor.look()
        visitor.go_on()
    assert study.participants.count() == 6


# Erasing


def test_erased_participants_are_still_kept_out_of_later_studies(shapes: Dataset) -> None:
    study, later, free = (study_of(shapes) for _ in range(3))
    later.not_from.add(study)
    person = Visitor(study, "?PROLIFIC_PID=p1&SESSION_ID=v1").participant
    participants.erase(person)
    participants.erase(person)
    assert (person.identity, person.session) == ("", "") and "p1" not in person.erased_identity
    for link in ("?PROLIFIC_PID=p1&SESSION_ID=v2", "?PROLIFIC_PID=p1"):
        with pytest.raises(participant_flow.FlowRefused, match="and you did"):
            participant_flow.join(later, identity="p1", session=link[-2:])
        assert Visitor(later, link).joined.status_code == Visitor(study, link).joined.status_code == 409
        assert Visitor(free, link + "&anew=1").joined.status_code == 303
    assert Visitor(later, "?PROLIFIC_PID=p2").joined.status_code == 303


def test_the_hash_of_an_erased_id_needs_the_site_s_key(shapes: Dataset, settings: Any) -> None:
    person = Visitor(study_of(shapes), "?PROLIFIC_PID=p1").participant
    participants.erase(person)
    before = person.erased_identity
    settings.SECRET_KEY = "another"
    other = Visitor(study_of(shapes), "?PROLIFIC_PID=p1").participant
    participants.erase(other)
    assert len(before) == 64 and other.erased_identity != before
