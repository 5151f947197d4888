"""What was published about withheld answers, the owner's settings, and who may submit."""

import json
from functools import cached_property
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Max, Q, Sum
from django.db.models.functions import Now

from annotations.models import Baseline
from generation.models import Split
from webapp.leaderboards.models.methods import Method
from webapp.leaderboards.models.submissions import Submission


class DisclosureSettings(models.Model):
    """The owner's settings for a split with withheld answers; an empty field means the default."""

    split = models.OneToOneField(Split, on_delete=models.CASCADE, related_name="disclosure_settings")
    step = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Thousandths of a share.")
    budget = models.PositiveIntegerField(null=True, blank=True, help_text="Figures in all.")
    partition = models.CharField(max_length=100, blank=True, help_text="The facet whose parts have figures too.")

    objects = models.Manager()

    class Meta:
        verbose_name_plural = "disclosure settings"
        constraints = (
            models.CheckConstraint(condition=Q(step=None) | Q(step__range=(1, 1000)), name="disclosuresettings_step"),
        )

    def __str__(self) -> str:
        return f"disclosure settings of {self.split}"


class DisclosureQuerySet(models.QuerySet["Disclosure"]):
    def published(self) -> Self:
        return self.filter(state=Disclosure.State.PUBLISHED)

    def counted_on(self, split: Split) -> Self:
        return self.published().filter(split=split) if split.is_derived else self.published().filter(source=split)

    def summary(self) -> dict[str, Any]:
        """Return the number of figures, of methods and of accounts, and the time of the last figure."""
        return self.aggregate(
            figures=Sum("cost", default=0),
            methods=Count("method", distinct=True),
            accounts=Count("account", distinct=True),
            last=Max("made"),
        )


class Disclosure(models.Model):
    """What others learn of one scored submission, or of one published human baseline, on withheld answers.

    Rows are only added. They outlive their submission, method, account and question set, because what was published
    stays known. A deferred disclosure has no figure until the answers are published.
    """

    class State(models.TextChoices):
        PUBLISHED = "published"
        DEFERRED = "deferred"

    split = models.ForeignKey(Split, null=True, on_delete=models.SET_NULL, related_name="disclosures")
    source = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="source_disclosures")
    submission = models.OneToOneField(Submission, null=True, on_delete=models.SET_NULL, related_name="disclosure")
    people = models.OneToOneField(Baseline, null=True, on_delete=models.SET_NULL, related_name="disclosure")
    method = models.ForeignKey(Method, null=True, on_delete=models.SET_NULL, related_name="disclosures")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="disclosures"
    )
    state = models.CharField(max_length=10, choices=State.choices)
    figure = models.PositiveSmallIntegerField(null=True, help_text="The method's best, in thousandths of a share.")
    is_new = models.BooleanField(default=False, help_text="Whether this submission set the figure.")
    step = models.PositiveSmallIntegerField(
        null=True, help_text="The step when it was published, in thousandths; empty if that is not known."
    )
    partition = models.CharField(max_length=100, blank=True, help_text="The facet that the parts are of.")
    parts = models.TextField(default="{}", help_text="JSON: the best figure by the parts' values.")
    cost = models.PositiveIntegerField(default=0, help_text="How many figures it is.")
    made = models.DateTimeField(db_default=Now())

    objects = DisclosureQuerySet.as_manager()

    class Meta:
        """A deferred disclosure has no cost."""

        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(state="published", figure__isnull=False, cost__gt=0)
                | Q(state="deferred", figure=None, cost=0),
                name="disclosure_published_has_figure",
            ),
        )
        indexes = (
            models.Index(fields=["source", "made"], name="disclosure_by_source"),
            models.Index(fields=["split", "method"], name="disclosure_by_method"),
        )

    def __str__(self) -> str:
        return f"disclosure {self.pk} on {self.split or self.source}"

    @property
    def is_published(self) -> bool:
        return self.state == self.State.PUBLISHED

    @cached_property
    def part_figures(self) -> dict[str, int]:
        data: dict[str, int] = json.loads(self.parts)
        return data


class SubmitterApproval(models.Model):
    """Whether an account may submit to a split with withheld answers, as the dataset's owner decided."""

    class State(models.TextChoices):
        ASKED = "asked"
        APPROVED = "approved"
        REFUSED = "refused"

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="submitter_approvals")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="submitter_approvals")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ASKED)
    asked = models.DateTimeField(db_default=Now())
    decided = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    objects = models.Manager()

    class Meta:
        """One for each account and split; the split is never a question set."""

        ordering = ("asked", "pk")
        constraints = (
            models.UniqueConstraint(fields=["split", "account"], name="submitterapproval_once"),
            models.CheckConstraint(
                condition=Q(state="asked", decided=None) | (~Q(state="asked") & Q(decided__isnull=False)),
                name="submitterapproval_decided",
            ),
        )

    def __str__(self) -> str:
        return f"{self.account} on {self.split}: {self.state}"
