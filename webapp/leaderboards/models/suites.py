"""Suites: several splits on one board."""

import secrets
from typing import Any, Self

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse

from annotations.markdown import html_field
from generation.models import Split
from generation.models.datasets import SLUG_PATTERN

KEY_BYTES = 16


def new_key() -> str:
    return secrets.token_hex(KEY_BYTES)


class SuiteQuerySet(models.QuerySet["Suite"]):
    def visible_to(self, user: Any) -> Self:
        if not user.is_authenticated:
            return self.filter(is_public=True)
        return self if user.is_staff else self.filter(Q(is_public=True) | Q(owner=user.pk))


class Suite(models.Model):
    """Splits and question sets on one board: a column for each, their mean, and gaps between two of them.

    A suite with a `k_name` is a grid: each member has a number k, for example the number of entities of its world.
    """

    slug = models.CharField(
        max_length=60,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN, "Expected small letters, digits and hyphens, 60 at most.")],
        help_text="Its name in addresses: small letters, digits and hyphens.",
    )
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True, help_text="What it is to show. Markdown.")
    description_html = html_field()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="suites"
    )
    is_public = models.BooleanField("listed for everybody", default=False)
    key = models.CharField(
        max_length=32, default=new_key, editable=False, help_text="Ends the address of an unlisted one."
    )
    k_name = models.CharField(
        "what k counts", max_length=60, blank=True, default="", db_default="", help_text="With its unit. Of a grid."
    )
    created = models.DateTimeField(db_default=Now())

    objects = SuiteQuerySet.as_manager()

    class Meta:
        # `new` is the URL of the form.
        constraints = (models.CheckConstraint(condition=~Q(slug="new") & ~Q(slug=""), name="suite_slug_allowed"),)

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("suite", args=[self.address_name])

    @property
    def address_name(self) -> str:
        return self.slug if self.is_public else f"{self.slug}-{self.key}"

    @property
    def is_grid(self) -> bool:
        return bool(self.k_name)

    @property
    def chart_folder(self) -> str:
        return f"suite.{self.pk}"  # no dataset has a name with a dot


def k_text(k: float) -> str:
    return f"{k:f}".rstrip("0").rstrip(".")


class SuiteMember(models.Model):
    """A split or question set of a suite, with its label there, and with its number k if the suite is a grid."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="members")
    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="memberships")
    ordinal = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=60)
    k = models.FloatField(null=True, blank=True, help_text="Of a grid: the number of its world.")

    objects = models.Manager()

    class Meta:
        """Each split, each label and each k occurs once in a suite."""

        ordering = ("suite", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=["suite", "split"], name="suitemember_split_once"),
            models.UniqueConstraint(fields=["suite", "label"], name="suitemember_label_once"),
            models.UniqueConstraint(fields=["suite", "k"], name="suitemember_k_once"),
            models.CheckConstraint(condition=Q(k=None) | Q(k__gte=0), name="suitemember_k_from_zero"),
        )

    def __str__(self) -> str:
        return f"{self.label} of {self.suite}"

    @property
    def k_text(self) -> str:
        return "" if self.k is None else k_text(self.k)


class SuiteGap(models.Model):
    """A named difference between two members of a suite, `minuend` minus `subtrahend`."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="gaps")
    label = models.CharField(max_length=60)
    minuend = models.ForeignKey(SuiteMember, on_delete=models.CASCADE, related_name="+")
    subtrahend = models.ForeignKey(SuiteMember, on_delete=models.CASCADE, related_name="+")

    objects = models.Manager()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(minuend=F("subtrahend")), name="suitegap_between_two"),
            models.UniqueConstraint(fields=["suite", "label"], name="suitegap_label_once"),
        )

    def __str__(self) -> str:
        return f"{self.label} of {self.suite}"
