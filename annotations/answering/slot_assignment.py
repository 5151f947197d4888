"""Assigns questions to participants and decides which answers count: it creates, claims, fills and releases slots.

Every change is an update that is conditional on the previous state of the row. Therefore two people never share a slot,
with any number of processes, on SQLite and on PostgreSQL. No process keeps any state in memory.
"""

import itertools
import random
import uuid
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest, Now
from django.utils import timezone

from annotations.answering import color_vision
from annotations.answering.prepared_statements import Asking, Prepared, PreparedUpdate
from annotations.models import Answer, EasyAnswer, Given, Participant, Slot, Study, StudyQuestion
from generation.engine.errors import EngineError
from generation.models import from_now

TRIES = 30
NO_SCENE = -1  # a number that no scene has
SOME = 40  # a slot is chosen at random from this many next slots, so that people rarely compete for the same slot
ROWS = 4000  # the most rows per insert statement
GRACE = 60.0  # seconds of silence after which others can take over a slot
RENEWALS = 3  # the lease of a claim is renewed only within this many lease times after the claim
PARTS = ("pk", "question", "question__position", "question__scene")


class NotGiven(EngineError):
    """The question was never given to the sender, or the answer contradicts a stored answer."""


class Reply(NamedTuple):
    """An answer as it was sent: `text` is a word of the vocabulary, or empty if `refusal` says why there is none.

    `visible` and `idle` are the milliseconds that the browser reports, or None if the report is not usable.
    """

    client: uuid.UUID
    text: str = ""
    refusal: str = ""
    turn: int = 0
    visible: int | None = None
    idle: int | None = None


# Before the first answer


def lay_out(study: Study, places: Sequence[tuple[int, int]], *, ranks: Sequence[int]) -> None:
    """Open a draft study: store its sample and a slot for every wanted answer. Do nothing if it is not a draft.

    Parameters
    ----------
    study : Study
        A draft.
    places : sequence of (position, scene)
        Each question's position in the split, and the position of its scene.
    ranks : sequence of int
        The random order in which questions are given.
    """
    with transaction.atomic():
        opened = {"state": Study.State.OPEN, "opened": Now(), "wanted": len(places)}
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
    _update_statistics()
    study.refresh_from_db()


def _update_statistics() -> None:
    """Update PostgreSQL's statistics after thousands of inserts; otherwise each claim would read and sort all slots."""
    if connection.vendor == "postgresql":
        tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in (StudyQuestion, Slot))
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {tables}")


# Claiming


class QuestionPlace(NamedTuple):
    question: int  # its key
    position: int  # in the split
    scene: int


class Claim(NamedTuple):
    """A slot that a participant holds until its lease ends, and its question.

    `claimed` is None if the slot was claimed in this request. `is_sure` is False once half of the lease is over.
    """

    pk: int
    question_id: int
    position: int
    scene: int
    claimed: datetime | None = None
    is_sure: bool = True

    @property
    def place(self) -> QuestionPlace:
        return QuestionPlace(self.question_id, self.position, self.scene)


def given_to(participant: Participant) -> list[QuestionPlace]:
    return list(itertools.starmap(QuestionPlace, asking_given(participant).rows()))


def asking_given(participant: Participant) -> Asking:
    return Asking(_GIVEN, (participant.pk,))


def asking_held(participant: Participant) -> Asking:
    return Asking(_HELD, (participant.pk,), {"minutes": participant.study.lease_minutes})


def claims(
    participant: Participant, *, most: int, held: Iterable[Claim], given: Iterable[QuestionPlace]
) -> list[Claim]:
    """Return up to `most` slots that the participant holds: first the slots that they already hold, then new ones.

    A lease is renewed if half of it is over. `held` and `given` are what `asking_held` and `asking_given` find now.
    """
    held, places = list(held), list(given)
    turns = {place.question: turn for turn, place in enumerate(places)}  # two slots can have the same time of claim
    waiting = sorted(held, key=lambda one: turns.get(one.question_id, len(turns)))
    sure = (one for one in waiting if one.is_sure or _renew(participant, one))
    found = list(itertools.islice(sure, most))
    while len(found) < most and (new := _claim_new(participant, places)) is not None:
        found.append(new)
        places.append(new.place)
    if not found and (taken := _take_over(participant, places)) is not None:
        found.append(taken)
    return found


def _renew(participant: Participant, one: Claim) -> bool:
    study = participant.study
    return _RENEW.run(one.pk, participant.pk, study.pk, minutes=study.lease_minutes) == 1


def _claim_new(participant: Participant, given: Collection[QuestionPlace]) -> Claim | None:
    """Claim and return a free slot, or a slot whose lease is over; return None if there is none."""
    if len(given) >= participant.study.per_session:
        return None
    for _ in range(TRIES):
        next_one = _next(participant, given)
        if next_one is None:
            return None
        study, given_now = participant.study, Given(participant=participant, question_id=next_one.question_id)
        key = (next_one.pk, participant.pk, study.pk)
        try:
            if _HOLD.run_and_store(given_now, *key, minutes=study.lease_minutes):
                return next_one
        except IntegrityError:  # another tab of this participant has just claimed a slot of the same question
            given = given_to(participant)
    return None


def _take_over(participant: Participant, given: Collection[QuestionPlace]) -> Claim | None:
    """Claim and return a slot that an idle participant holds; return None if there is none.

    This is used only if no slot is free. Anybody who has the link can open sessions and leave them, at the first
    question or at a later one. Therefore a participant is sure to keep a slot only for `GRACE` seconds after their last
    sign of life. They may still answer the question later.
    """
    study = participant.study
    if len(given) >= study.per_session:
        return None
    mine = [place.question for place in given]
    rows = _idle_slots(study.pk).exclude(question__in=mine).exclude(participant=participant)
    rows = rows.filter(question__coloured=False) if color_vision.gets_colour_free(participant) else rows
    idle = list(rows.order_by("claimed", "pk").values_list("participant", "claimed", *PARTS)[:SOME])
    for holder, claimed, *parts in random.sample(idle, len(idle)):
        one = Claim(*parts)
        theirs = Slot.objects.filter(_is_open(study.pk), pk=one.pk, participant=holder, claimed=claimed, answered=False)
        with suppress(IntegrityError), transaction.atomic():
            changed = theirs.update(participant=participant, claimed=Now(), **_lease(study.lease_minutes))
            if changed == 1:
                Given.objects.create(participant=participant, question_id=one.question_id)
                return one
    return None


def _idle_slots(study: int) -> "QuerySet[Slot]":
    """Return the slots whose holders were silent for `GRACE` seconds.

    An answer is a sign of life. After the first answer, a page that is being read is one as well; before it, a script
    could hold many slots in this way without answering anything.
    """
    begin = from_now(-GRACE)
    answers, easy = (model.objects.filter(participant=OuterRef("participant")) for model in (Answer, EasyAnswer))
    is_reading = Q(Exists(answers), participant__heard__gte=begin)
    rows = Slot.objects.filter(study=study, answered=False, participant__isnull=False, claimed__lt=begin)
    return rows.exclude(
        Exists(answers.filter(received__gte=begin)) | Exists(easy.filter(received__gte=begin)) | is_reading
    )


def hear(participant: Participant) -> None:
    Participant.objects.filter(pk=participant.pk).update(heard=Now())


def is_anything_unanswered(study: Study) -> bool:
    return Slot.objects.filter(study=study, answered=False).exists()


def has_slot_to_give(study: Study) -> bool:
    return Slot.objects.free().filter(study=study).exists() or _idle_slots(study.pk).exists()


def may_wait(participant: Participant) -> bool:
    """Return whether a slot of a question that was never given to this participant is free or may become free."""
    study = participant.study
    given = Given.objects.filter(participant=participant)
    if not Study.objects.filter(pk=study.pk, state=Study.State.OPEN).exists() or given.count() >= study.per_session:
        return False
    rows = Slot.objects.filter(study=study, answered=False).exclude(question__in=given.values("question"))
    return (rows.filter(question__coloured=False) if color_vision.gets_colour_free(participant) else rows).exists()


def seconds_to_wait(study: Study) -> float:
    """Return the seconds until the first of the slots that are held now may become free; 0 if none is held."""
    slots = Slot.objects.filter(study=study, answered=False, lease__isnull=False)
    answers = Answer.objects.filter(participant=OuterRef("participant")).order_by("-received").values("received")
    last = Greatest("claimed", Coalesce(Subquery(answers[:1]), "claimed"))  # the page's signs of life may end now
    first = slots.aggregate(lease=Min("lease"), last=Min(last))
    if first["last"] is None:
        return 0.0
    moment = min(first["lease"], first["last"] + timedelta(seconds=GRACE))
    return max(0.0, (moment - timezone.now()).total_seconds())


def _next(participant: Participant, given: Collection[QuestionPlace]) -> Claim | None:
    """Return one of the next free slots for a participant, preferably with a scene that is new to them, or None."""
    is_colour_free = color_vision.gets_colour_free(participant)
    first = _NEXT.ask(participant.study_id, is_colour_free=is_colour_free)
    near = _one_of(first, given)
    if near is not None:  # usually one of the first slots fits
        return near
    if len(first) < SOME:  # there are no other free slots
        return _one_of(first, [place._replace(scene=NO_SCENE) for place in given])
    mine = Given.objects.filter(participant=participant)
    unseen = _free(participant.study_id, is_colour_free=is_colour_free).exclude(question__in=mine.values("question"))
    scenes = {place.scene for place in given}
    return _one_of(unseen.exclude(question__scene__in=scenes)[:SOME], given) or _one_of(unseen[:SOME])


def _one_of(rows: Iterable[tuple[Any, ...]], given: Collection[QuestionPlace] = ()) -> Claim | None:
    """Return a slot whose question and scene were not given yet, or None; choose at random among the lowest numbers."""
    questions, scenes = {place.question for place in given}, {place.scene for place in given}
    some = [
        (number, one)
        for number, one in ((number, Claim(*parts)) for number, *parts in rows)
        if one.question_id not in questions and one.scene not in scenes
    ]
    if not some:
        return None
    return random.choice([one for number, one in some if number == some[0][0]])  # noqa: S311 - spreads people


# Queries that are executed for every answer


def _free(study: int, *, is_colour_free: bool) -> "QuerySet[Slot, tuple[Any, ...]]":
    slots = Slot.objects.free().filter(study=study, **({"question__coloured": False} if is_colour_free else {}))
    return slots.order_by("number", "rank").values_list("number", *PARTS)


def _given(participant: int) -> "QuerySet[Given, tuple[Any, ...]]":
    rows = Given.objects.filter(participant=participant).order_by("pk")
    return rows.values_list("question", "question__position", "question__scene")


def _held(participant: int, *, minutes: int) -> "QuerySet[Slot, tuple[Any, ...]]":
    rows = Slot.objects.filter(participant=participant, answered=False).order_by("claimed", "pk")
    rows = rows.annotate(is_sure=Q(lease__gt=from_now(30.0 * minutes)))
    return rows.values_list(*PARTS, "claimed", "is_sure")


def _lease(minutes: int) -> dict[str, Any]:
    return {"lease": from_now(60.0 * minutes)}


def _is_open(study: int) -> Exists:
    return Exists(Study.objects.filter(pk=study, state=Study.State.OPEN))


def _hold(slot: int, participant: int, study: int, *, minutes: int) -> "Change":
    rows = Slot.objects.free().filter(_is_open(study), pk=slot)
    return rows, {"participant": participant, "claimed": Now(), **_lease(minutes)}


def _renewed(slot: int, participant: int, study: int, *, minutes: int) -> "Change":
    rows = Slot.objects.filter(_is_open(study), pk=slot, participant=participant, answered=False)
    return rows.filter(claimed__gt=from_now(-60.0 * minutes * RENEWALS)), _lease(minutes)


def _filled(slot: int, participant: int) -> "Change":
    counts = Exists(Participant.objects.filter(pk=participant, excluded=None))
    return Slot.objects.filter(counts, pk=slot, participant=participant, answered=False), FILLED


Change = tuple["QuerySet[Slot]", dict[str, Any]]
FILLED = {"answered": True, "lease": None}
_NEXT = Prepared(lambda study, *, is_colour_free: _free(study, is_colour_free=is_colour_free)[:SOME])
_GIVEN, _HELD = Prepared(_given), Prepared(_held)
_HOLD, _RENEW, _FILL = PreparedUpdate(_hold), PreparedUpdate(_renewed), PreparedUpdate(_filled)


# Test link


def try_out(participant: Participant, *, most: int = 1) -> list[int]:
    """Return up to `most` random questions for a participant who uses the test link; no slot is claimed."""
    asked = [place.question for place in given_to(participant)]
    done = set(Answer.objects.filter(participant=participant).values_list("question", flat=True))
    waiting = [question for question in asked if question not in done]
    plain = {"coloured": False} if color_vision.gets_colour_free(participant) else {}
    left = list(participant.study.questions.filter(**plain).exclude(pk__in=asked).values_list("pk", flat=True))
    missing = max(0, min(most - len(waiting), participant.study.per_session - len(asked), len(left)))
    for question in random.sample(left, missing):
        Given.objects.get_or_create(participant=participant, question_id=question)
        waiting.append(question)
    return waiting[:most]


# Answering


def answer(participant: Participant, question: int, reply: Reply, *, held: Claim | None = None) -> Answer:
    """Store an answer to a question and return its row; if the same reply comes again, return the same row.

    The answer fills the slot that the participant holds, otherwise a slot of the question that is free or held by an
    idle participant. If there is none, the answer is surplus. A caller that already has the claim passes it as `held`,
    which usually saves all other queries.

    Raises
    ------
    NotGiven
        If the question was not given to this participant, or the reply was stored for another question.
    """
    if held is not None and held.claimed is not None:
        with suppress(IntegrityError):  # this reply, or another answer to the question, was stored before
            row = _answer_held(participant, held, reply)
            if row is not None:
                return row
    with transaction.atomic():
        _lock([question])
        known = Answer.objects.filter(participant=participant)
        rows = known.filter(Q(client=reply.client) | Q(question=question, superseded=False)).order_by("pk")
        same = next((row for row in rows if row.client == reply.client), None)
        if same is not None:
            if same.question_id != question:
                raise NotGiven("Expected a new id for a new answer, got the id of another answer.", where="client")
            return same
        before = next(iter(rows), None)
        row = Answer(participant=participant, question_id=question, **reply._asdict())
        if before is None:
            row.slot_id, row.claimed = _fill(participant, question)
        else:
            row.claimed = before.claimed
            row.superseded = before.turn > reply.turn
            if not row.superseded:
                row.slot_id = before.slot_id
                known.filter(pk=before.pk).update(superseded=True, slot=None)
        row.save(force_insert=True)
    return row


def _answer_held(participant: Participant, held: Claim, reply: Reply) -> Answer | None:
    """Store the answer and fill the claimed slot; return None if the participant does not hold the slot any more.

    No other lock is needed: the update locks the row of the slot, so that nobody can settle the question meanwhile.
    """
    own = {"question_id": held.question_id, "slot_id": held.pk, "claimed": held.claimed}
    row = Answer(participant=participant, **own, **reply._asdict())
    return row if _FILL.run_and_store(row, held.pk, participant.pk) else None


def _lock(questions: Iterable[int]) -> None:
    """Lock these questions until the transaction ends, so that nobody else can answer or settle them meanwhile.

    The questions can still be given, and answered through a slot that is already held. On SQLite this lock is not
    needed, because a writer locks the whole database.
    """
    if connection.features.has_select_for_update:
        rows = StudyQuestion.objects.select_for_update(no_key=True).filter(pk__in=list(questions))
        list(rows.order_by("pk").values_list("pk"))


def _fill(participant: Participant, question: int) -> tuple[int | None, Any]:
    """Mark a slot of the question as answered; return its key, or None if there is no slot, and the time of the claim.

    Raises
    ------
    NotGiven
        If the question was not given to this participant.
    """
    slots = Slot.objects.filter(question=question)
    mine = slots.filter(participant=participant, answered=False)
    held = mine.values_list("pk", "claimed").first()
    if held is not None and _FILL.run(held[0], participant.pk) == 1:
        return held
    if not Given.objects.filter(participant=participant, question=question).exists():
        raise NotGiven("This answer is for a question that was not given to you. Reload the page.", where="question")
    if participant.is_test:
        return None, Now()
    if Participant.objects.filter(pk=participant.pk).exclude(excluded=None).exists():
        mine.update(participant=None, claimed=None, lease=None)
        return None, Now()
    anew = {**FILLED, "participant": participant, "claimed": Now()}
    for rows in (Slot.objects.free(), _idle_slots(participant.study_id)):
        for slot in rows.filter(question=question).order_by("number"):
            if rows.filter(pk=slot.pk, participant=slot.participant_id).update(**anew) == 1:
                return slot.pk, Slot.objects.values_list("claimed", flat=True).get(pk=slot.pk)
    return None, Now()


# Excluding participants and taking them back


def exclude(participant: Participant, *, reason: str, by_rule: bool = False) -> None:
    # Surplus answers of others fill the participant's slots, and the other slots become free.
    _set_excluded(participant, excluded=Now(), reason=reason, by_rule=by_rule, taken_back=None)


def take_back(participant: Participant, *, by_rule: bool = False) -> None:
    """Take back the exclusion of a participant: the first answers to each question in order of claim count again.

    After this, the exclusion rules can exclude the participant again only if `by_rule` is set.
    """
    _set_excluded(participant, excluded=None, reason="", by_rule=False, taken_back=None if by_rule else Now())


def _set_excluded(participant: Participant, **changes: object) -> None:
    with transaction.atomic():
        questions = list(participant.given.order_by("question").values_list("question", flat=True))
        _lock(questions)
        Participant.objects.filter(pk=participant.pk).update(**changes)
        for question in questions:
            _settle(question)
    participant.refresh_from_db()


def _settle(question: int) -> None:
    """Fill a question's slots with its first valid answers in order of claim; release the other slots.

    Other participants who hold a slot of the question keep one, as far as enough slots are left.
    """
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
    return Slot.objects.filter(pk=slot.pk, lease__gte=Now(), participant__excluded=None).exists()
