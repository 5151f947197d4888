"""Studies, their texts, and the questions of their samples."""

import secrets
from decimal import Decimal

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse

from annotations.markdown import html_field
from generation.models import Split


def new_code() -> str:
    return secrets.token_urlsafe(9)[:10]


class Study(models.Model):
    """A study: people answer a sample of a split's questions; a filter can restrict the questions of the sample.

    When a study with a filter opens, a question set is made of the filter's results, and it becomes the study's split.
    The questions of a split never change, so the sample of an open study never changes. `completed`, `screened_out` and
    `full` are what participants get at the end: a code, or an https address to which they return. The fields `out_...`
    are the rules for excluding participants from the data; `rules` has these rules as they were when the study opened,
    and is not changed later.
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        CLOSED = "closed"

    class Palette(models.TextChoices):
        # What happens to people who confuse colours of the dataset.
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
    out_buttons = models.BooleanField("the same button over and over", default=False, db_default=False)
    out_colours = models.BooleanField("colours taken for one another", default=False)
    out_unfinished = models.BooleanField("session not finished", default=False)
    rules = models.TextField(blank=True, editable=False, help_text="as they were when the study was opened")
    rules_digest = models.CharField(max_length=64, blank=True, editable=False)
    rules_frozen = models.DateTimeField(null=True, blank=True, editable=False)

    consent = models.TextField(blank=True, help_text="Markdown")
    consent_html = html_field()
    instructions = models.TextField(blank=True, help_text="Markdown")
    instructions_html = html_field()
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
        ordering = ("-pk",)
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("study", args=[self.code])

    @property
    def answers_wanted(self) -> int:
        return self.wanted * self.per_question

    @property
    def is_draft(self) -> bool:
        return self.state == Study.State.DRAFT

    @property
    def is_frozen(self) -> bool:
        return bool(self.filter) and self.split.is_derived

    @property
    def is_open(self) -> bool:
        return self.state == Study.State.OPEN

    def ending_of(self, stage: str) -> str:
        # An ending is a code or an https address; other stages have none.
        ends = {"completed": self.completed, "screened-out": self.screened_out, "full": self.full}
        return ends.get(stage, "")

    @property
    def asked_at_most(self) -> int:
        return min(self.per_session, self.wanted)


class StudyText(models.Model):
    """A version of a text that participants read; all versions since the study opened are kept."""

    class Kind(models.TextChoices):
        CONSENT = "consent"
        INSTRUCTIONS = "instructions"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="texts")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    text = models.TextField(blank=True)
    created = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("study", "kind", "pk")

    def __str__(self) -> str:
        return f"{self.kind} of {self.study}"


class StudyQuestion(models.Model):
    """A question of the sample: its position in the split, and the position of its scene."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveIntegerField()
    scene = models.PositiveIntegerField()
    coloured = models.BooleanField("needs colours", null=True, blank=True, help_text="unknown until it matters")

    class Meta:
        ordering = ("study", "position")
        constraints = (models.UniqueConstraint(fields=["study", "position"], name="study_question_once"),)

    def __str__(self) -> str:
        return f"{self.study} question {self.position}"
