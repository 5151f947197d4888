"""Who is asked what, and which answers count: slots are laid out, claimed, answered, given back.

Every change is conditional on what the row was, so that any number of people, on any number of processes, on SQLite
and on PostgreSQL, never share a slot; no process and no memory stands between them.
"""

import random
import uuid
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from annotations import palette
from annotations.models import Answer, Given, Participant, Slot, Study, StudyQuestion
from generation.engine.errors import EngineError
from generation.models import from_now

TRIES = 30
SOME = 40  # of the slots that come next, one is taken by chance, so that people rarely reach for the same
ROWS = 4000  # in a transaction, at most


class NotGiven(EngineError):
    """An answer is to a question that was never given to whoever sent it, or contradicts one that is stored."""


class Reply(NamedTuple):
    """What somebody answered: a word of the vocabulary or a reason against, and how long it took in milliseconds."""

    client: uuid.UUID
    text: str = ""
    refusal: str = ""
    turn: int = 0
    visible: int = 0
    idle: int = 0


# Before the first answer


def lay_out(study: Study, places: Sequence[tuple[int, int]], *, ranks: Sequence[int]) -> None:
    """Store the sample and a slot for every wanted answer, and open the study; once.

    Parameters
    ----------
    study : Study
        A draft.
    places : sequence of (position, scene)
        Of each question where it stands in the split, and of which scene it is.
    ranks : sequence of int
        The order in which questions are given, drawn by chance.
    """
    with transaction.atomic():
        opened = {"state": Study.State.OPEN, "opened": Now()}
        if Study.objects.filter(pk=study.pk, state=Study.State.DRAFT).update(**opened) != 1:
            return
        questions = StudyQuestion.objects.bulk_create(
            [StudyQuestion(study=study, position=position, scene=scene) for position, scene in places], batch_size=ROWS
        )
        Slot.objects.bulk_create(
            [
                Slot(study=study, question=question, number=number, rank=rank)
                for question, rank in zip(questions, ranks, strict=True)
                for number in range(study.per_question)
            ],
            batch_size=ROWS,
        )
    study.refresh_from_db()


# Claiming


def claim(participant: Participant, *, besides: Collection[int] = ()) -> Slot | None:
    """Return a slot that is this participant's until its lease ends; None where there is none left for them.

    One that they hold and did not answer comes again, but for those of the questions `besides`; its lease is renewed
    once half of it is over.
    """
    study = participant.study
    held = Slot.objects.filter(participant=participant, answered=False).exclude(question__in=besides)
    half = from_now(30.0 * study.lease_minutes)
    sure = held.filter(lease__gt=half).select_related("question", "study").order_by("claimed", "pk").first()
    if sure is not None:
        return sure
    for slot in held.order_by("claimed", "pk"):
        if _hold(study, Slot.objects.filter(pk=slot.pk, participant=participant, answered=False)):
            return _fresh(slot)
    if participant.given.count() >= study.per_session:
        return None
    for _ in range(TRIES):
        next_one = _next(participant)
        if next_one is None:
            return None
        try:
            with transaction.atomic():
                taken = _hold(study, Slot.objects.free().filter(pk=next_one.pk), participant=participant, claimed=Now())
                if taken:
                    Given.objects.create(participant=participant, question_id=next_one.question_id)
                    return _fresh(next_one)
        except IntegrityError:
            continue  # another tab of theirs has a slot of that question now
    return None


def _hold(study: Study, slots: "QuerySet[Slot]", **more: object) -> bool:
    """Return whether the slot was still to be had, of an open study."""
    is_open = Study.objects.filter(pk=study.pk, state=Study.State.OPEN)
    return slots.filter(Exists(is_open)).update(lease=from_now(60.0 * study.lease_minutes), **more) == 1


def _fresh(slot: Slot) -> Slot:
    return Slot.objects.select_related("question", "study").get(pk=slot.pk)


def _next(participant: Participant) -> Slot | None:
    """Return one of the slots that come next for a participant; of scenes that are new to them if there are any."""
    mine = Given.objects.filter(participant=participant)
    left = Slot.objects.free().filter(
        ~Exists(mine.filter(question=OuterRef("question"))), study_id=participant.study_id
    )
    if palette.is_spared(participant):
        left = left.filter(question__coloured=False)
    scenes = list(mine.values_list("question__scene", flat=True))
    for slots in (left.exclude(question__scene__in=scenes), left):
        some = list(slots.order_by("number", "rank")[:SOME])
        if some:
            return random.choice([slot for slot in some if slot.number == some[0].number])  # noqa: S311 - spreads people
    return None


def try_out(participant: Participant, *, besides: Collection[int] = ()) -> StudyQuestion | None:
    """Return a question for somebody who came by the test link: any, and nobody waits for their answer."""
    given = Given.objects.filter(participant=participant).select_related("question")
    done = Answer.objects.filter(participant=participant, question=OuterRef("question"))
    waiting = given.exclude(Exists(done)).exclude(question__in=besides).order_by("pk").first()
    if waiting is not None:
        return waiting.question
    asked = list(given.values_list("question", flat=True))
    plain = {"coloured": False} if palette.is_spared(participant) else {}
    left = list(participant.study.questions.filter(**plain).exclude(pk__in=asked).values_list("pk", flat=True))
    if not left or len(asked) >= participant.study.per_session:
        return None
    chosen = random.choice(left)  # noqa: S311 - no secret
    return Given.objects.get_or_create(participant=participant, question_id=chosen)[0].question


# Answering


def answer(participant: Participant, question: int, reply: Reply) -> Answer:
    """Return the stored answer to a question; the same reply again gives the same one.

    It fills the slot that is claimed for it, or else one that is free, or else it is surplus.

    Raises
    ------
    NotGiven
        Where the question was not given to this participant, or the reply was stored for another question.
    """
    with transaction.atomic():
        _lock([question])
        stored = Answer.objects.filter(participant=participant, client=reply.client).first()
        if stored is not None:
            if stored.question_id != question:
                raise NotGiven("Expected a new id for a new answer, got one that another answer has.", where="client")
            return stored
        if not Given.objects.filter(participant=participant, question=question).exists():
            raise NotGiven(
                "Expected an answer to a question that you were given, got one to another.", where="question"
            )
        before = Answer.objects.current().filter(participant=participant, question=question).first()
        row = Answer(participant=participant, question_id=question, **reply._asdict())
        if before is None:
            row.slot, row.claimed = _fill(participant, question), Now()
            if row.slot is not None and row.slot.claimed is not None:
                row.claimed = row.slot.claimed
        else:
            row.claimed = before.claimed
            row.superseded = before.turn > reply.turn
            if not row.superseded:
                row.slot = before.slot
                Answer.objects.filter(pk=before.pk).update(superseded=True, slot=None)
        row.save(force_insert=True)
    row.refresh_from_db()
    return row


def _lock(questions: Iterable[int]) -> None:
    """Let nobody else answer these questions, or settle them, until the transaction ends; they may be given."""
    rows = StudyQuestion.objects.select_for_update(no_key=True).filter(pk__in=list(questions))
    list(rows.order_by("pk").values_list("pk"))


def _fill(participant: Participant, question: int) -> Slot | None:
    """Return the slot that an answer fills, which now says so; None where there is none for it."""
    if participant.is_test:
        return None
    slots = Slot.objects.filter(question=question)
    if Participant.objects.filter(pk=participant.pk).exclude(excluded=None).exists():
        slots.filter(participant=participant, answered=False).update(participant=None, claimed=None, lease=None)
        return None
    filled = {"answered": True, "lease": None}
    if slots.filter(participant=participant, answered=False).update(**filled) == 1:
        return slots.get(participant=participant)
    for slot in slots.free().order_by("number"):
        anew = {**filled, "participant": participant, "claimed": Now()}
        if Slot.objects.free().filter(pk=slot.pk).update(**anew) == 1:
            return slots.get(pk=slot.pk)
    return None


# Leaving out people, and taking them in again


def exclude(participant: Participant, *, reason: str) -> None:
    """Leave a participant's answers out: others' take their place, and open slots wait for more."""
    _set_excluded(participant, excluded=Now(), reason=reason)


def take_back(participant: Participant) -> None:
    """Let a participant's answers count again: of each question the first as many as are wanted, in order of claim."""
    _set_excluded(participant, excluded=None, reason="")


def _set_excluded(participant: Participant, **changes: object) -> None:
    with transaction.atomic():
        questions = list(participant.given.order_by("question").values_list("question", flat=True))
        _lock(questions)
        Participant.objects.filter(pk=participant.pk).update(**changes)
        for question in questions:
            _settle(question)
    participant.refresh_from_db()


def _settle(question: int) -> None:
    """Let the first valid answers to a question, in order of claim, fill its slots, and free the slots of others."""
    slots = list(Slot.objects.select_for_update().filter(question=question).order_by("number"))
    valid = Answer.objects.valid().filter(question=question).order_by("claimed", "pk")
    counted = list(valid[: len(slots)])
    held = {slot.participant_id: slot for slot in slots if not slot.answered and _is_held(slot)}
    Answer.objects.filter(question=question).update(slot=None)
    Slot.objects.filter(question=question).update(participant=None, claimed=None, lease=None, answered=False)
    for slot, one in zip(slots, counted, strict=False):
        Slot.objects.filter(pk=slot.pk).update(participant=one.participant_id, claimed=one.claimed, answered=True)
        Answer.objects.filter(pk=one.pk).update(slot=slot)
        held.pop(one.participant_id, None)
    waiting = sorted(held.values(), key=lambda slot: (slot.claimed, slot.pk))
    for slot, other in zip(slots[len(counted) :], waiting, strict=False):
        kept = {"participant": other.participant_id, "claimed": other.claimed, "lease": other.lease}
        Slot.objects.filter(pk=slot.pk).update(**kept)


def _is_held(slot: Slot) -> bool:
    """Return whether somebody who is not excluded holds a slot, by the database's clock."""
    return Slot.objects.filter(pk=slot.pk, lease__gte=Now(), participant__excluded=None).exists()
