"""Participants of studies."""

import secrets

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotations.models.studies import Study


def new_secret() -> str:
    return secrets.token_urlsafe(16)  # 128 bits


class Participant(models.Model):
    """A person who followed a study's link.

    `identity`, `session` and `study_there` are the platform's names for the person, their visit and the study. Only the
    first two identify the person. Anybody can type another person's identity. Therefore several participants may have
    the same identity, and a visitor gets back to their own page only with the same identity and session. Answers of
    participants who used the test link never count. If a researcher took back the exclusion of a participant, rules do
    not exclude the participant again. After an identity was erased, only its keyed hash `erased_identity` is kept
    (`annotations.answering.participants`). `placeholders` has the names that nobody replaced in the address, as lines
    `PARAMETER=text` (`annotations.answering.platform_names`). `heard` is when the participant's page last said that it
    is being read.
    """

    class Stage(models.TextChoices):
        """The participant's current stage."""

        CONSENT = "consent"
        PALETTE = "palette"
        INSTRUCTIONS = "instructions"
        PRACTICE = "practice"
        QUESTIONS = "questions"
        COMMENT = "comment"
        COMPLETED = "completed"
        SCREENED_OUT = "screened-out"
        FULL = "full"

    class Drawing(models.IntegerChoices):
        # The source of the participant's random choices (`annotations.secret_seeds`).
        BY_ADDRESS = 1, "their address"
        BY_KEY = 2, "the site's key"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="participants")
    identity = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    erased_identity = models.CharField("keyed hash of an erased identity", max_length=64, blank=True, db_default="")
    study_there = models.CharField("the platform's name for the study", max_length=200, blank=True)
    placeholders = models.TextField("placeholders that were not replaced", blank=True, db_default="")
    secret = models.CharField(max_length=22, unique=True, default=new_secret, editable=False)
    is_test = models.BooleanField(default=False)
    stage = models.CharField(max_length=12, choices=Stage.choices, default=Stage.CONSENT)
    joined = models.DateTimeField(db_default=Now())
    heard = models.DateTimeField("last sign of life", null=True, blank=True, editable=False)
    finished = models.DateTimeField(null=True, blank=True)
    ending = models.CharField("code or address given", max_length=300, blank=True)
    mistaken = models.PositiveSmallIntegerField("colour pairs mistaken", null=True, blank=True)
    tries = models.PositiveSmallIntegerField("tries at practice", default=0)
    drawing = models.PositiveSmallIntegerField(
        "drawn from", choices=Drawing.choices, default=Drawing.BY_KEY, db_default=Drawing.BY_ADDRESS, editable=False
    )
    comment = models.TextField(blank=True)
    excluded = models.DateTimeField(null=True, blank=True)
    reason = models.CharField("reason for exclusion", max_length=500, blank=True)
    by_rule = models.BooleanField("excluded by the stated rules", default=False)
    taken_back = models.DateTimeField(null=True, blank=True)

    class Meta:
        """In each study, a platform's identity and session together have only one participant."""

        ordering = ("study", "pk")
        indexes = (
            models.Index(fields=["study", "identity"], name="participant_identity"),
            models.Index(fields=["erased_identity"], condition=~Q(erased_identity=""), name="participant_erased"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["study", "identity", "session"],
                condition=~Q(identity="") & ~Q(session=""),
                name="study_session_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.study} participant {self.pk}"
