"""Studies: people answer a sample of a split's questions, each question several people.

Every answer that is wanted is a row from the start, a **slot**. A slot is claimed by one conditional update, so that
neither two people ever hold it nor one person ever holds two slots of a question: the database itself refuses both.
Answers are never changed: what is undone is superseded by a new row.
"""

import secrets
from decimal import Decimal
from typing import Self

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.urls import reverse

from generation.models import Split


def new_code() -> str:
    """Return what stands in a study's address: 60 bits, which nobody guesses."""
    return secrets.token_urlsafe(9)[:10]


def new_secret() -> str:
    """Return what only a participant knows: 128 bits."""
    return secrets.token_urlsafe(16)


class Study(models.Model):
    """Questions of a split that people answer: of all, or of those that pass a filter.

    Of a filter a question set is made when the study opens: it is the study's split from then on.
    The split's own questions never change, and neither do the study's once it is open. `completed`, `screened_out` and
    `full` are what people get at the end: a code, or an https address to return to. The fields `out_...` say who is
    left out of the data; `rules` is what they said when the study was opened, which stands.
    """

    class State(models.TextChoices):
        """How far it is."""

        DRAFT = "draft"
        OPEN = "open"
        CLOSED = "closed"

    class Palette(models.TextChoices):
        """What becomes of who takes colours of this dataset for one another."""

        RECORD = "record", "goes on; it is recorded"
        SCREEN_OUT = "screen-out", "leaves, screened out"
        COLOUR_FREE = "colour-free", "is given questions that need no colour"

    split = models.ForeignKey(Split, on_delete=models.PROTECT, related_name="studies")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="studies")
    title = models.CharField(max_length=200)
    code = models.CharField(max_length=10, unique=True, default=new_code, editable=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    created = models.DateTimeField(db_default=Now())
    opened = models.DateTimeField(null=True, blank=True)
    closed = models.DateTimeField(null=True, blank=True)
    opens = models.DateTimeField("opens at", null=True, blank=True)
    closes = models.DateTimeField("closes at", null=True, blank=True)

    filter = models.TextField("only questions found by", blank=True, help_text="as the split's page has it")
    wanted = models.PositiveIntegerField("questions", default=500, validators=[MinValueValidator(1)])
    evenly = models.CharField("drawn evenly over", max_length=60, blank=True, help_text="a facet; empty: uniformly")
    seed = models.PositiveBigIntegerField(default=0, help_text="what the sample is drawn from")
    per_question = models.PositiveSmallIntegerField(
        "answers per question", default=3, validators=[MinValueValidator(1), MaxValueValidator(50)]
    )
    per_session = models.PositiveSmallIntegerField(
        "questions per session", default=40, validators=[MinValueValidator(1), MaxValueValidator(1000)]
    )
    lease_minutes = models.PositiveSmallIntegerField(
        default=10, validators=[MinValueValidator(1), MaxValueValidator(240)]
    )

    easy = models.ForeignKey(
        Split, on_delete=models.PROTECT, null=True, blank=True, related_name="easy_studies",
        verbose_name="practice and check questions from",
    )  # fmt: skip
    practice = models.PositiveSmallIntegerField("practice questions", default=6, validators=[MaxValueValidator(50)])
    practice_right = models.PositiveSmallIntegerField("of them right to go on", default=4)
    checks = models.PositiveSmallIntegerField("check questions per session", default=2)
    attention = models.PositiveSmallIntegerField("attention items per session", default=2)
    not_from = models.ManyToManyField(
        "self", symmetrical=False, blank=True, related_name="barring", verbose_name="nobody who took part in"
    )
    palette = models.CharField(max_length=12, choices=Palette.choices, default=Palette.RECORD)

    out_attention = models.PositiveSmallIntegerField(
        "attention items failed", null=True, blank=True, validators=[MinValueValidator(1)]
    )
    out_checks = models.PositiveSmallIntegerField(
        "check questions wrong", null=True, blank=True, validators=[MinValueValidator(1)]
    )
    out_fast = models.DecimalField(
        "median time below", null=True, blank=True, max_digits=5, decimal_places=1,
        validators=[MinValueValidator(Decimal("0.1")), MaxValueValidator(600)],
    )  # fmt: skip
    out_straight = models.BooleanField("the same answer over and over", default=False)
    out_colours = models.BooleanField("colours taken for one another", default=False)
    out_unfinished = models.BooleanField("session not finished", default=False)
    rules = models.TextField(blank=True, editable=False, help_text="as they were when the study was opened")
    rules_digest = models.CharField(max_length=64, blank=True, editable=False)
    rules_frozen = models.DateTimeField(null=True, blank=True, editable=False)

    consent = models.TextField(blank=True, help_text="Markdown")
    instructions = models.TextField(blank=True, help_text="Markdown")
    completed = models.CharField(max_length=300, blank=True)
    screened_out = models.CharField(max_length=300, blank=True)
    full = models.CharField(max_length=300, blank=True)
    person_parameter = models.CharField(max_length=40, default="PROLIFIC_PID")
    study_parameter = models.CharField(max_length=40, default="STUDY_ID")
    session_parameter = models.CharField(max_length=40, default="SESSION_ID")
    hourly_pay = models.DecimalField(max_digits=7, decimal_places=2, default=12)
    currency = models.CharField(max_length=3, default="GBP")
    reward = models.DecimalField(
        "pay for a session", max_digits=7, decimal_places=2, null=True, blank=True,
        help_text="empty: what it is worth by the hour, fixed when the study opens",
    )  # fmt: skip

    class Meta:
        """The latest first."""

        ordering = ("-pk",)
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Return the address at which its owner runs it."""
        return reverse("study", args=[self.code])

    @property
    def answers_wanted(self) -> int:
        """Return how many answers there are once it is complete."""
        return self.wanted * self.per_question

    @property
    def is_draft(self) -> bool:
        """Return whether nothing was asked yet, so that everything may change."""
        return self.state == Study.State.DRAFT

    @property
    def is_frozen(self) -> bool:
        """Return whether the questions that its filter finds were made a question set, complete or not yet."""
        return bool(self.filter) and self.split.is_derived

    @property
    def is_open(self) -> bool:
        """Return whether people can answer."""
        return self.state == Study.State.OPEN

    def ending_of(self, stage: str) -> str:
        """Return what people get who end at a stage: a code, or an https address; nothing where it is no end."""
        ends = {"completed": self.completed, "screened-out": self.screened_out, "full": self.full}
        return ends.get(stage, "")

    @property
    def asked_at_most(self) -> int:
        """Return how many questions of the sample one person is asked."""
        return min(self.per_session, self.wanted)


class StudyText(models.Model):
    """What people were told, from a moment on: each version of an opened study's texts is kept."""

    class Kind(models.TextChoices):
        """The field of the study."""

        CONSENT = "consent"
        INSTRUCTIONS = "instructions"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="texts")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    text = models.TextField(blank=True)
    created = models.DateTimeField(db_default=Now())

    class Meta:
        """In the order in which they were shown."""

        ordering = ("study", "kind", "pk")

    def __str__(self) -> str:
        return f"{self.kind} of {self.study}"


class StudyQuestion(models.Model):
    """A question of the sample: where it stands in the split, and of which scene it is."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveIntegerField()
    scene = models.PositiveIntegerField()
    coloured = models.BooleanField("needs colours", null=True, blank=True, help_text="unknown until it matters")

    class Meta:
        """A question is in a sample once."""

        ordering = ("study", "position")
        constraints = (models.UniqueConstraint(fields=["study", "position"], name="study_question_once"),)

    def __str__(self) -> str:
        return f"{self.study} question {self.position}"


class Participant(models.Model):
    """Somebody who follows a study's link.

    `identity`, `session` and `study_there` are what the platform that sent them calls them, their visit and the study;
    nothing but the first two says who they are. Who came by the test link never counts. Whom somebody took back, no
    rule leaves out again.
    """

    class Stage(models.TextChoices):
        """Where they are."""

        CONSENT = "consent"
        PALETTE = "palette"
        INSTRUCTIONS = "instructions"
        PRACTICE = "practice"
        QUESTIONS = "questions"
        COMMENT = "comment"
        COMPLETED = "completed"
        SCREENED_OUT = "screened-out"
        FULL = "full"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="participants")
    identity = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    study_there = models.CharField("the platform's name for the study", max_length=200, blank=True)
    secret = models.CharField(max_length=22, unique=True, default=new_secret, editable=False)
    is_test = models.BooleanField(default=False)
    stage = models.CharField(max_length=12, choices=Stage.choices, default=Stage.CONSENT)
    joined = models.DateTimeField(db_default=Now())
    finished = models.DateTimeField(null=True, blank=True)
    ending = models.CharField("code or address given", max_length=300, blank=True)
    mistaken = models.PositiveSmallIntegerField("colour pairs mistaken", null=True, blank=True)
    tries = models.PositiveSmallIntegerField("tries at practice", default=0)
    comment = models.TextField(blank=True)
    excluded = models.DateTimeField(null=True, blank=True)
    reason = models.CharField("reason for exclusion", max_length=500, blank=True)
    by_rule = models.BooleanField("excluded by the stated rules", default=False)
    taken_back = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Nobody takes part twice."""

        ordering = ("study", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=["study", "identity"], condition=~Q(identity=""), name="study_participant_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.study} participant {self.pk}"


class EasyAnswerQuerySet(models.QuerySet["EasyAnswer"]):
    """Which answers are meant."""

    def current(self) -> Self:
        """Return answers that nothing supersedes."""
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
    visible = models.PositiveIntegerField("milliseconds with the page visible", default=0)
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


class SlotQuerySet(models.QuerySet["Slot"]):
    """Which slots somebody may have."""

    def free(self) -> Self:
        """Return slots that nobody holds, or holds no longer, and that have no answer."""
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
        """Return answers that nothing supersedes."""
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
    visible = models.PositiveIntegerField("milliseconds with the page visible")
    idle = models.PositiveIntegerField("milliseconds with the page hidden")
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


class BaselineQuerySet(models.QuerySet["Baseline"]):
    """Which published baselines are meant."""

    def published(self) -> Self:
        """Return of each study the latest that was not withdrawn: the human rows of their splits, the latest first."""
        later = Baseline.objects.filter(study=OuterRef("study"), number__gt=OuterRef("number"), withdrawn=None)
        return self.filter(~Exists(later), withdrawn=None).order_by("-published", "-pk")


class Baseline(models.Model):
    """The human row of a split as it was published: what people answered by then, and the figures that it gave.

    It is never changed. Publishing a study again makes another one; one that is withdrawn keeps its row.
    `annotations.baseline` reads and writes what `digest` names: predictions as a model's, and the single answers.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="baselines")
    split = models.ForeignKey(Split, on_delete=models.PROTECT, related_name="baselines")
    number = models.PositiveIntegerField(help_text="of all that were published of the split, from 1")
    published = models.DateTimeField(db_default=Now())
    publisher = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="baselines")
    digest = models.CharField(max_length=64, help_text="of its arrays, and the name of their file")
    seal = models.CharField(max_length=64, help_text="of arrays, figures and text: what its publisher agreed to")
    per_question = models.PositiveSmallIntegerField("answers per question")
    asked = models.PositiveIntegerField("questions with an answer")
    right = models.PositiveIntegerField("of them right by majority")
    ties = models.PositiveIntegerField(help_text="of them; they count as wrong")
    people = models.PositiveIntegerField(help_text="whose answers count")
    figures = models.TextField(help_text="JSON: every figure that is shown")
    methods = models.TextField(help_text="the text for a paper as it was")
    withdrawn = models.DateTimeField(null=True, blank=True)
    reason = models.CharField("reason for withdrawing it", max_length=500, blank=True)

    objects = BaselineQuerySet.as_manager()

    class Meta:
        """Numbers of a split are given once, and nothing is withdrawn without a reason."""

        ordering = ("split", "number")
        constraints = (
            models.UniqueConstraint(fields=["split", "number"], name="baseline_number_once"),
            models.CheckConstraint(
                condition=Q(right__lte=models.F("asked")) & Q(asked__gt=0), name="baseline_asked_and_right"
            ),
            models.CheckConstraint(
                condition=Q(withdrawn=None, reason="") | (Q(withdrawn__isnull=False) & ~Q(reason="")),
                name="baseline_withdrawn_with_reason",
            ),
        )

    def __str__(self) -> str:
        return f"human baseline {self.number} of {self.split}"

    def get_absolute_url(self) -> str:
        """Return where it is read, this version for ever."""
        return reverse("people_version", args=[self.split.dataset.slug, self.split.name, self.number])

    @property
    def is_withdrawn(self) -> bool:
        """Return whether its publisher took it back."""
        return self.withdrawn is not None
