"""What people answer, and the places that their answers fill.

Every answer that is wanted is a row from the start, a **slot**. A slot is claimed by one conditional update, so that
neither two people ever hold it nor one person ever holds two slots of a question: the database itself refuses both.
Answers are never changed: what is undone is superseded by a new row.
"""

from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations.models.participants import Participant
from annotations.models.studies import Study, StudyQuestion


class EasyAnswerQuerySet(models.QuerySet["EasyAnswer"]):
    """Which answers are meant."""

    def current(self) -> Self:
        return self.filter(superseded=False)


class EasyAnswer(models.Model):
    """An answer to a question that is no part of the sample: for practice, or to see who reads.

    `position` is the question's in the study's easy split. Of an attention item, which is words alone, it is None.
    Of several answers to an item the one with the highest `turn` stands, as with questions of the sample.
    """

    class Kind(models.TextChoices):
        """What it was asked for."""

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
        """What was sent twice is stored once, and one answer to each stands."""

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
    """That a question was given to somebody: it never is again, whatever becomes of the slot."""

    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="given")
    question = models.ForeignKey(StudyQuestion, on_delete=models.PROTECT, related_name="given")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        """Once."""

        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=["participant", "question"], name="given_once"),)

    def __str__(self) -> str:
        return f"{self.question} for participant {self.participant_id}"


class Showing(models.Model):
    """When something was first shown to a participant: a question of the sample, for practice, or a check.

    `kind` and `number` say what it was, as in `annotations.answering.session.Item`. What counts of the time that a
    browser reports begins here (`annotations.answering.timing`).
    """

    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="showings")
    kind = models.CharField(max_length=10)
    number = models.PositiveBigIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        """The first time."""

        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=["participant", "kind", "number"], name="showing_once"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.number} for participant {self.participant_id}"


class SlotQuerySet(models.QuerySet["Slot"]):
    """Which slots somebody may have."""

    def free(self) -> Self:
        return self.filter(Q(participant=None) | Q(lease__lt=Now()), answered=False)


class Slot(models.Model):
    """One wanted answer: free, claimed by somebody until a moment, or answered.

    `number` counts a question's slots from 0, and free ones are given in its order, so that the questions with the
    fewest answers come first. `rank` is the question's place in an order drawn by chance.
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
        """A slot is there once, and nobody holds two of a question."""

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
    """Which answers are meant."""

    def current(self) -> Self:
        return self.filter(superseded=False)

    def valid(self) -> Self:
        """Return current answers of people who are not excluded, and didn't come by the test link."""
        return self.current().filter(participant__excluded=None, participant__is_test=False)

    def counted(self) -> Self:
        """Return the answers that fill a slot: of each question at most as many as are wanted."""
        return self.filter(slot__isnull=False)

    def surplus(self) -> Self:
        """Return current answers beyond those that are wanted: kept and paid, not counted; none of the test link."""
        return self.current().filter(slot=None, participant__is_test=False)


class Answer(models.Model):
    """What somebody answered, as it came.

    `client` is made by the browser: the same answer sent again is the same row. Of several to a question the one with
    the highest `turn` stands, whichever came first. `text` is a word of the vocabulary, or empty where somebody could
    not answer, and `refusal` says why. `claimed` is when its slot was: who lost it claims anew when answering.
    `visible` and `idle` are what the browser reported, None where it reported nothing usable; what counts of that is
    for `annotations.answering.timing` to say.
    """

    class Refusal(models.TextChoices):
        """Why somebody could not answer."""

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
        """Somebody's answer to a question stands once; what was sent twice is stored once."""

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
