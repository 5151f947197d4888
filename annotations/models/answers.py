"""Answers, and the slots that they fill.

Every wanted answer is a row from the start, a **slot**. A slot is claimed by one conditional update. Database
constraints ensure that no slot has two holders and that nobody holds two slots of one question. Answers are never
changed: a changed answer is a new row that supersedes the old one.
"""

from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations.models.participants import Participant
from annotations.models.studies import Study, StudyQuestion


class EasyAnswerQuerySet(models.QuerySet["EasyAnswer"]):
    def current(self) -> Self:
        return self.filter(superseded=False)


class EasyAnswer(models.Model):
    """An answer to a question outside the sample: for practice, or as a check of attention.

    `position` is the question's position in the study's easy split, or None for an attention item, which is only text.
    Among several answers to an item, the one with the highest `turn` stands, as with questions of the sample.
    """

    class Kind(models.TextChoices):
        """The purpose of the item."""

        PRACTICE = "practice"
        CHECK = "check"
        ATTENTION = "attention"

    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="easy_answers")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    number = models.PositiveSmallIntegerField("which of its kind", help_text="from 0, each try at practice anew")
    position = models.PositiveIntegerField(null=True, blank=True)
    client = models.UUIDField()
    turn = models.PositiveIntegerField(default=0)
    text = models.CharField(max_length=200, blank=True)
    is_right = models.BooleanField()
    visible = models.PositiveIntegerField("milliseconds with the page visible, as reported", null=True, blank=True)
    received = models.DateTimeField(db_default=Now())
    superseded = models.BooleanField(default=False)

    objects = EasyAnswerQuerySet.as_manager()

    class Meta:
        """An answer that is sent twice is stored once, and each item has one current answer."""

        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=["participant", "client"], name="easy_answer_stored_once"),
            models.UniqueConstraint(
                fields=["participant", "kind", "number"],
                condition=Q(superseded=False),
                name="easy_answer_stands_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.number} of participant {self.participant_id}"


class Given(models.Model):
    """A question that was given to a participant; it is never given to them again, whatever happens to the slot."""

    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="given")
    question = models.ForeignKey(StudyQuestion, on_delete=models.PROTECT, related_name="given")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=["participant", "question"], name="given_once"),)

    def __str__(self) -> str:
        return f"{self.question} for participant {self.participant_id}"


class Showing(models.Model):
    """When an item was first shown to a participant: a question of the sample, a practice question or a check.

    `kind` and `number` are those of `annotations.answering.session.SessionItem`. The counted time of an answer begins
    here (`annotations.answering.timing`).
    """

    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="showings")
    kind = models.CharField(max_length=10)
    number = models.PositiveBigIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=["participant", "kind", "number"], name="showing_once"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.number} for participant {self.participant_id}"


class SlotQuerySet(models.QuerySet["Slot"]):
    def free(self) -> Self:
        return self.filter(Q(participant=None) | Q(lease__lt=Now()), answered=False)


class Slot(models.Model):
    """One wanted answer: free, claimed by a participant until its lease ends, or answered.

    `number` counts a question's slots from 0. Free slots are given in this order, so that the questions with the fewest
    answers come first. `rank` is the question's place in a random order.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="slots")
    question = models.ForeignKey(StudyQuestion, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField()
    rank = models.PositiveIntegerField()
    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, null=True, blank=True, related_name="slots")
    claimed = models.DateTimeField(null=True, blank=True)
    lease = models.DateTimeField(null=True, blank=True)
    answered = models.BooleanField(default=False)

    objects = SlotQuerySet.as_manager()

    class Meta:
        """Slots are unique, and nobody holds two slots of one question."""

        ordering = ("question", "number")
        indexes = (models.Index(fields=["study", "answered", "number", "rank"], name="slot_next"),)
        constraints = (
            models.UniqueConstraint(fields=["question", "number"], name="slot_once"),
            models.UniqueConstraint(fields=["question", "participant"], name="slot_once_a_participant"),
            models.CheckConstraint(
                condition=Q(answered=False) | Q(participant__isnull=False), name="slot_answered_by_somebody"
            ),
        )

    def __str__(self) -> str:
        return f"{self.question} slot {self.number}"


class AnswerQuerySet(models.QuerySet["Answer"]):
    def current(self) -> Self:
        return self.filter(superseded=False)

    def valid(self) -> Self:
        """Return current answers of participants who are not excluded and did not use the test link."""
        return self.current().filter(participant__excluded=None, participant__is_test=False)

    def counted(self) -> Self:
        return self.filter(slot__isnull=False)

    def surplus(self) -> Self:
        """Return current answers that fill no slot: kept and paid, but not counted. Without those of the test link."""
        return self.current().filter(slot=None, participant__is_test=False)


class Answer(models.Model):
    """A participant's answer as it was sent.

    The browser creates `client`: the same answer sent again is the same row. Among several answers to a question, the
    one with the highest `turn` stands, whichever arrived first. `text` is a word of the vocabulary, or empty if the
    participant could not answer; then `refusal` says why. `claimed` is when the slot was claimed; a participant who
    lost the slot claims again by answering. `visible` and `idle` are the milliseconds that the browser reported, or
    None if the report was not usable; `annotations.answering.timing` decides how much of them counts.
    """

    class Refusal(models.TextChoices):
        """Why a participant could not answer."""

        NO_PICTURE = "picture", "the picture is missing"
        UNCLEAR = "unclear", "the question is not clear"
        AMBIGUOUS = "ambiguous", "more than one answer is right"

    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="answers")
    question = models.ForeignKey(StudyQuestion, on_delete=models.PROTECT, related_name="answers")
    slot = models.OneToOneField(Slot, on_delete=models.PROTECT, null=True, blank=True, related_name="answer")
    client = models.UUIDField()
    turn = models.PositiveIntegerField(default=0)
    text = models.CharField(max_length=200, blank=True)
    refusal = models.CharField(max_length=10, choices=Refusal.choices, blank=True)
    visible = models.PositiveIntegerField("milliseconds with the page visible, as reported", null=True, blank=True)
    idle = models.PositiveIntegerField("milliseconds with the page hidden, as reported", null=True, blank=True)
    claimed = models.DateTimeField()
    received = models.DateTimeField(db_default=Now())
    superseded = models.BooleanField(default=False)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        """Each participant has one current answer per question; an answer that is sent twice is stored once."""

        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=["participant", "client"], name="answer_stored_once"),
            models.UniqueConstraint(
                fields=["participant", "question"], condition=Q(superseded=False), name="answer_stands_once"
            ),
            models.CheckConstraint(
                condition=Q(superseded=False) | Q(slot=None), name="answer_superseded_fills_no_slot"
            ),
            models.CheckConstraint(
                condition=(Q(text="") & ~Q(refusal="")) | (~Q(text="") & Q(refusal="")), name="answer_or_refusal"
            ),
        )

    def __str__(self) -> str:
        return f"{self.question} answered by participant {self.participant_id}"
