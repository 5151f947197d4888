"""Slots: who is asked which question, and which answers count."""

import random
import uuid
from collections import Counter
from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from annotations.answering import slot_assignment as assign
from annotations.answering.slot_assignment import Claim, NotGiven, Reply
from annotations.models import Answer, Given, Participant, Slot, Study, StudyQuestion
from generation.models import from_now
from tests import proof
from tests.annotations.answered import claims_of, held_by, surplus
from tests.annotations.conftest import Begin

pytestmark = pytest.mark.django_db
Joined = Callable[[], Participant]


def claim(participant: Participant) -> Slot | None:
    """Claim a slot for a participant and return it, or None if there is none."""
    found = claims_of(participant)
    return Slot.objects.select_related("question").get(pk=found[0].pk) if found else None


def say(
    participant: Participant, slot: Slot | None, text: str = "yes", *, held: Claim | None = None, **more: object
) -> Answer:
    assert slot is not None
    reply = Reply(client=more.pop("client", uuid.uuid4()), text=text, **more)  # type: ignore[arg-type]
    return assign.answer(participant, slot.question_id, reply, held=held)


def expire_leases(*slots: Slot) -> None:
    """Make the leases of these slots expire."""
    Slot.objects.filter(pk__in=[slot.pk for slot in slots]).update(lease=from_now(-1))


def claim_slot(participant: Participant, question: int | None = None) -> Slot:
    """Return a claimed slot of a participant; if a question is given, answer others until it comes."""
    for _ in range(20):
        slot = claim(participant)
        assert slot is not None
        if question is None or slot.question_id == question:
            return slot
        say(participant, slot)
    raise AssertionError("Expected that question, got all others.")


def test_a_study_is_laid_out_once(study: Study) -> None:
    assign.lay_out(study, [(9, 9)], ranks=[0])
    assert (study.state, study.questions.count(), study.slots.count()) == (Study.State.OPEN, 4, 8)


def test_a_participant_is_asked_every_question_once(study: Study, joined: Joined) -> None:
    person = joined()
    asked = []
    while (slot := claim(person)) is not None:
        asked.append(slot.question.position)
        say(person, slot)
    assert sorted(asked) == [0, 1, 2, 3]
    assert asked[0] // 2 != asked[1] // 2  # the second question is about another scene, because there is one


def test_a_slot_that_a_participant_holds_is_given_again(study: Study, joined: Joined) -> None:
    person = joined()
    first = claim_slot(person)
    assert claim(person) == first
    now, ahead = claims_of(person, most=2)
    assert now.pk == first.pk and ahead.question_id != first.question_id
    assert claim(person) == first
    assert Given.objects.filter(participant=person).count() == 2


def test_a_session_ends_after_its_number_of_questions(begin_study: Begin) -> None:
    study = begin_study(questions=9, per_session=3)
    person = Participant.objects.create(study=study)
    for _ in range(3):
        say(person, claim(person))
    assert claim(person) is None


def test_the_questions_with_the_fewest_answers_come_first(study: Study, joined: Joined) -> None:
    for _ in range(4):
        say(person := joined(), claim(person))
    assert sorted(Slot.objects.filter(answered=True).values_list("question__position", flat=True)) == [0, 1, 2, 3]


def test_no_slot_is_left_when_all_questions_have_their_answers(study: Study, joined: Joined) -> None:
    people = [joined(), joined()]
    for person in people:
        while (slot := claim(person)) is not None:
            say(person, slot)
    assert claim(joined()) is None
    assert Answer.objects.counted().count() == 8


def test_a_closed_study_gives_no_slots_but_accepts_answers_to_given_ones(study: Study, joined: Joined) -> None:
    person = joined()
    slot = claim_slot(person)
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED, closed=Now())
    assert claim(joined()) is None
    assert say(person, slot).slot == slot


def test_a_slot_with_an_expired_lease_goes_to_another_participant(begin_study: Begin) -> None:
    study = begin_study(questions=1, per_question=1)
    early, late = (Participant.objects.create(study=study) for _ in range(2))
    slot = claim_slot(early)
    assert claim(late) is None
    expire_leases(slot)
    assert claim(late) == slot
    assert claim(early) is None  # a question is given to a participant only once


def test_a_late_answer_fills_the_slot_if_it_is_still_free(begin_study: Begin) -> None:
    study = begin_study(questions=1, per_question=1)
    person = Participant.objects.create(study=study)
    slot = claim_slot(person)
    expire_leases(slot)
    assert say(person, slot).slot == slot


def test_a_late_answer_is_surplus_if_another_participant_holds_the_slot(begin_study: Begin) -> None:
    study = begin_study(questions=1, per_question=1)
    early, late = (Participant.objects.create(study=study) for _ in range(2))
    slot = claim_slot(early)
    expire_leases(slot)
    claim_slot(late)
    kept = say(early, slot)
    assert (kept.slot, list(surplus())) == (None, [kept])
    assert say(late, slot).slot == slot


def test_the_same_reply_again_is_the_same_answer(study: Study, joined: Joined) -> None:
    person = joined()
    slot, client = claim_slot(person), uuid.uuid4()
    assert say(person, slot, client=client) == say(person, slot, "no", client=client)
    assert Answer.objects.get().text == "yes"


def test_an_id_belongs_to_one_question(study: Study, joined: Joined) -> None:
    person, client = joined(), uuid.uuid4()
    say(person, claim_slot(person), client=client)
    with pytest.raises(NotGiven, match="a new id"):
        say(person, claim_slot(person), client=client)


def test_an_answer_to_a_question_that_was_not_given_is_refused(study: Study, joined: Joined) -> None:
    slot = claim_slot(joined())
    with pytest.raises(NotGiven, match="a question that was not given to you"):
        say(joined(), slot)
    assert not Answer.objects.exists()


def test_an_answer_that_is_undone_is_superseded(study: Study, joined: Joined) -> None:
    person = joined()
    slot = claim_slot(person)
    first, second = say(person, slot), say(person, slot, "no", turn=1)
    first.refresh_from_db()
    assert (first.superseded, first.slot, second.superseded, second.slot) == (True, None, False, slot)
    assert second.claimed == first.claimed


def test_if_replies_arrive_out_of_order_the_later_turn_counts(study: Study, joined: Joined) -> None:
    person = joined()
    slot = claim_slot(person)
    second, first = say(person, slot, "no", turn=1), say(person, slot, "yes", turn=0)
    second.refresh_from_db()
    assert (first.superseded, second.superseded, second.slot) == (True, False, slot)


def test_the_database_refuses_inconsistent_rows(study: Study, joined: Joined) -> None:
    person = joined()
    slot = claim_slot(person)
    row = say(person, slot)
    other = Slot.objects.exclude(pk=slot.pk).filter(question=slot.question_id).get()
    wrong = [
        lambda: Slot.objects.filter(pk=other.pk).update(participant=person),
        lambda: Slot.objects.filter(pk=other.pk).update(number=slot.number),
        lambda: Slot.objects.filter(pk=other.pk).update(answered=True),
        lambda: Given.objects.create(participant=person, question_id=slot.question_id),
        lambda: Answer.objects.filter(pk=row.pk).update(text=""),
        lambda: Answer.objects.filter(pk=row.pk).update(superseded=True),
        lambda: Answer.objects.create(
            participant=person, question_id=slot.question_id, client=uuid.uuid4(), text="no", visible=0, idle=0,
            claimed=Now(),
        ),
        lambda: StudyQuestion.objects.create(study=study, position=0, scene=0),
    ]  # fmt: skip
    for change in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_excluding_frees_slots_and_including_again_makes_later_answers_surplus(begin_study: Begin) -> None:
    study = begin_study(questions=1, per_question=2)
    first, second, third = (Participant.objects.create(study=study) for _ in range(3))
    mine = say(first, claim_slot(first))
    say(second, claim_slot(second))
    assert claim(third) is None
    assign.exclude(first, reason="answered at random")
    instead = say(third, claim_slot(third))
    mine.refresh_from_db()
    assert (mine.slot, instead.slot is not None, first.reason) == (None, True, "answered at random")
    assign.take_back(first)
    mine.refresh_from_db()
    instead.refresh_from_db()
    assert (mine.slot is not None, instead.slot, first.excluded) == (True, None, None)


def test_a_surplus_answer_counts_if_another_participant_is_excluded(begin_study: Begin) -> None:
    study = begin_study(questions=1, per_question=1)
    early, late = (Participant.objects.create(study=study) for _ in range(2))
    slot = claim_slot(early)
    expire_leases(slot)
    say(late, claim_slot(late))
    surplus = say(early, slot)
    assign.exclude(late, reason="too fast")
    surplus.refresh_from_db()
    assert surplus.slot == slot


def test_excluded_participants_go_on_without_filling_slots(study: Study, joined: Joined) -> None:
    person = joined()
    slot = claim_slot(person)
    assign.exclude(person, reason="too fast")
    assert say(person, slot).slot is None
    assert Slot.objects.free().count() == 8


class Crowd:
    """People who act at random in any order; `check` looks up after each step whether the rows are consistent."""

    def __init__(self, study: Study, chance: random.Random) -> None:
        self.study, self.chance = study, chance
        self.people = [Participant.objects.create(study=study) for _ in range(chance.randint(2, 6))]
        self.given: dict[int, list[Slot]] = {person.pk: [] for person in self.people}
        self.held: dict[int, dict[int, Claim]] = {person.pk: {} for person in self.people}
        self.acknowledged: dict[int, tuple[str, int]] = {}

    def step(self) -> None:
        person = self.chance.choice(self.people)
        action = self.chance.choice([self.claim, self.claim, self.answer, self.answer, self.lapse, self.judge])
        action(person)

    def claim(self, person: Participant) -> None:
        if self.chance.random() < 0.5:
            self.held[person.pk] = {one.question_id: one for one in held_by(person)}
        free = set(Slot.objects.free().filter(study=self.study).values_list("question", flat=True))
        new = free - set(person.given.values_list("question", flat=True))
        slot = claim(person)
        assert slot is not None or not new or person.given.count() >= self.study.per_session
        if slot is not None and slot.question_id not in [one.question_id for one in self.given[person.pk]]:
            self.given[person.pk].append(slot)
        elif slot is not None:  # a question is given again only if it is unanswered
            assert not Answer.objects.filter(participant=person, question=slot.question_id).exists()

    def answer(self, person: Participant) -> None:
        if self.given[person.pk]:
            slot = self.chance.choice(self.given[person.pk])
            held = self.held[person.pk].get(slot.question_id)  # the claim as it was some time ago
            row = say(person, slot, self.chance.choice(["yes", "no"]), held=held, turn=self.chance.randint(0, 3))
            self.acknowledged[row.pk] = (row.text, person.pk)

    def lapse(self, person: Participant) -> None:
        expire_leases(*Slot.objects.filter(participant=person, answered=False))

    def judge(self, person: Participant) -> None:
        person.refresh_from_db()
        if person.excluded is None and self.chance.random() < 0.5:
            assign.exclude(person, reason="by chance")
        elif person.excluded is not None:
            assign.take_back(person)
        else:
            return
        for slot in self.given[person.pk]:  # the first valid answers count, in the order of their claims
            valid = Answer.objects.valid().filter(question=slot.question_id).order_by("claimed", "pk")
            first = [row.pk for row in valid[: self.study.per_question]]
            counted = Answer.objects.counted().filter(question=slot.question_id)
            assert sorted(first) == sorted(counted.values_list("pk", flat=True))

    def check(self) -> None:
        rows = {row.pk: (row.text, row.participant_id) for row in Answer.objects.filter(question__study=self.study)}
        assert rows.items() >= self.acknowledged.items()
        counted = Answer.objects.counted().filter(question__study=self.study).select_related("participant")
        assert all(row.participant.excluded is None and not row.superseded for row in counted)
        assert max(Counter(row.question_id for row in counted).values(), default=0) <= self.study.per_question
        pairs = [(row.question_id, row.participant_id) for row in counted]
        assert len(pairs) == len(set(pairs))
        answered = Slot.objects.filter(study=self.study, answered=True)
        assert {(row.slot_id, row.participant_id) for row in counted} == set(answered.values_list("pk", "participant"))
        turns = list(Answer.objects.filter(participant__in=self.people).order_by("pk"))
        for person in self.people:
            given = [slot.question_id for slot in self.given[person.pk]]
            assert len(given) == len(set(given))
            for question in given:
                mine = [row for row in turns if (row.participant_id, row.question_id) == (person.pk, question)]
                standing = [row for row in mine if not row.superseded]
                assert len(standing) == min(1, len(mine))
                assert all(row.turn <= standing[0].turn for row in mine)


def test_slots_and_answers_stay_consistent_for_any_order_of_actions(begin_study: Begin) -> None:
    for number in range(proof.size(400, name="crowds that did anything", most=8)):
        chance = random.Random(number)
        options = {"per_question": chance.randint(1, 3), "per_session": chance.choice([2, 100])}
        crowd = Crowd(begin_study(questions=chance.randint(1, 5), **options), chance)
        for _ in range(40):
            crowd.step()
            crowd.check()


def test_a_test_participant_takes_no_slot_and_never_counts(study: Study) -> None:
    person = Participant.objects.create(study=study, is_test=True)
    asked = []
    while questions := assign.try_out(person, most=2):
        assert assign.try_out(person) == questions[:1]
        asked.append(StudyQuestion.objects.get(pk=questions[0]).position)
        assign.answer(person, questions[0], Reply(client=uuid.uuid4(), text="yes"))
    assert sorted(asked) == [0, 1, 2, 3]
    assert not Slot.objects.exclude(participant=None).exists()
    assert Answer.objects.current().count() == 4
    assert not Answer.objects.valid().exists() and not surplus().exists()


def test_questions_claimed_at_the_same_time_are_given_again_in_their_order(begin_study: Begin) -> None:
    study = begin_study(questions=40, per_question=1)
    for _ in range(12):  # for about half of them the first slot has the larger id
        participant = Participant.objects.create(study=study)
        first, second = claims_of(participant, most=2)
        Slot.objects.filter(participant=participant).update(claimed=Now())
        again = claims_of(participant, most=2)
        assert [one.question_id for one in again] == [first.question_id, second.question_id]
