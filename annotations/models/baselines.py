"""Published human baselines."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.urls import reverse

from annotations.models.studies import Study
from generation.models import Split


class BaselineQuerySet(models.QuerySet["Baseline"]):
    def published(self) -> Self:
        later = Baseline.objects.filter(study=OuterRef("study"), number__gt=OuterRef("number"), withdrawn=None)
        return self.filter(~Exists(later), withdrawn=None).order_by("-published", "-pk")


class Baseline(models.Model):
    """A published human baseline of a split: the answers that people had given at that time, and the resulting figures.

    A row never changes, except that it can be withdrawn. If a study is published again, a new row is created. The file
    with the name `digest` contains the predictions, in the same form as those of a model, and the single answers
    (`annotations.results.baseline`).
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
        """Numbers are unique within a split, and a withdrawn baseline has a reason."""

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
        return reverse("people_version", args=[self.split.dataset.slug, self.split.name, self.number])

    @property
    def is_withdrawn(self) -> bool:
        return self.withdrawn is not None
