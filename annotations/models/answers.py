"""Answers, and the slots that they fill.

When a study opens, a row is created for every wanted answer: a **slot**. A participant claims a slot with one
conditional update. Database constraints ensure that no slot has two holders, and that nobody holds two slots of one
question. Rows of answers are not changed: a changed answer is a new row, and the old row is marked as superseded.
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
    """An answer to an item that is not in the sample: a practice question, a check question or an attention item.

    `position` is the question's position in the study's easy split, or None for an attention item, which is only text.
    If there are several answers to an item, the one with the highest `turn` is current, as for questions of the sample.
    """

    class Kind(models.TextChoices):
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
        """An answer that is sent twice is stored once, and each item has at most one current answer."""

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
    """A question that was given to a participant; it is not given to them again, even if they lose the slot."""

    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="given")
    question = models.ForeignKey(StudyQuestion, on_delete=models.PROTECT, related_name="given")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=["participant", "question"], name="given_once"),)

    def __str__(self) -> str:
        return f"{self.question} for participant {self.participant_id}"


class Showing(models.Model):
    """The time when an item was first shown to a participant: a question of the sample, or a practice or check item.

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
    """One wanted answer: it is free, claimed by a participant until its lease ends, or answered.

    `number` is the slot's number among those of its question, from 0. Free slots with lower numbers are given first, so
    that the questions with the fewest answers come first. `rank` is the question's place in a random order.
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
        """Slots are unique, nobody holds two slots of one question, and an answered slot has a participant."""

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
        return self.current().filter(participant__excluded=None, participant__is_test=False)

    def counted(self) -> Self:
        return self.filter(slot__isnull=False)


class Answer(models.Model):
    """A participant's answer as it was sent.

    The browser creates the id `client`, so that an answer that is sent again is stored in the same row. If there are
    several answers to a question, the one with the highest `turn` is current, even if another one arrived later. `text`
    is a word of the vocabulary; it is empty if the participant could not answer, and then `refusal` gives the reason.
    `claimed` is the time when the slot was claimed; if the participant had lost the slot, it is the time of the answer.
    `visible` and `idle` are the milliseconds that the browser reported, or None if the report was not usable;
    `annotations.answering.timing` decides how much of this time counts.
    """

    class Refusal(models.TextChoices):
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
        """Each participant has at most one current answer per question; an answer that is sent twice is stored once."""

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
