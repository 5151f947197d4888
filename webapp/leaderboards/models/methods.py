"""Methods, which make predictions."""

from typing import Any, Self

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from annotations.markdown import html_field


class MethodQuerySet(models.QuerySet["Method"]):
    def visible_to(self, user: Any) -> Self:
        """Return the methods that a visitor may see: published ones, baselines, and their own; staff see all."""
        shown = Q(published__isnull=False) | ~Q(baseline="")
        if not user.is_authenticated:
            return self.filter(shown)
        return self if user.is_staff else self.filter(shown | Q(owner=user.pk))

    def of(self, user: Any) -> Self:
        return self.filter(owner=user.pk).order_by("name", "pk")

    def for_list(self) -> Self:
        return self.select_related("owner").order_by("-created", "-pk")


class Method(models.Model):
    """Something that answers questions: a model, a way to prompt it, a rule. Its runs are submissions.

    A method with a `baseline` belongs to the site and has no owner; it runs on every split.
    """

    class Made(models.TextChoices):
        ZERO_SHOT = "zero-shot", "zero-shot"
        FEW_SHOT = "few-shot", "few-shot"
        TRAINED = "trained", "trained here"
        ELSEWHERE = "elsewhere", "trained elsewhere"
        BASELINE = "baseline", "baseline"
        HUMAN = "human", "human"

    class Baseline(models.TextChoices):
        """The baselines of the site for all worlds; those of a world are named `world:name`."""

        CHANCE = "chance", "Chance"
        MAJORITY = "majority", "Majority"
        TYPE_MODE = "type", "Q-type mode"
        NEAREST = "nearest", "Nearest question"

    name = models.CharField(max_length=100, help_text="As tables name it, for example “CNN+LSTM+SA”.")
    description = models.TextField(blank=True, help_text="What it is and how it answers. Markdown.")
    description_html = html_field()
    link = models.URLField("paper or code", blank=True, max_length=500, help_text="An address, https://…")
    made = models.CharField("how it was made", max_length=12, choices=Made.choices, default=Made.TRAINED)
    shots = models.PositiveIntegerField(
        "examples in the prompt",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Of few-shot ones.",
    )
    model = models.CharField("model identifier", max_length=200, blank=True, help_text="As its provider calls it.")
    model_date = models.DateField("date of the model", null=True, blank=True, help_text="Of the version asked.")
    prompt = models.TextField(blank=True, help_text="What it was told, word for word.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="methods"
    )
    anonymous = models.BooleanField(
        "without my name", default=False, help_text="Boards show the method, not whose it is. Staff can see it."
    )
    published = models.DateTimeField(null=True, blank=True, help_text="Since when boards show it to everybody.")
    baseline = models.CharField(max_length=100, blank=True, editable=False)
    created = models.DateTimeField(db_default=Now())

    objects = MethodQuerySet.as_manager()

    class Meta:
        """An owner's methods have different names, and each baseline exists once."""

        constraints = (
            models.UniqueConstraint(fields=["owner", "name"], name="method_name_once"),
            models.UniqueConstraint(fields=["baseline"], condition=~Q(baseline=""), name="method_baseline_once"),
            models.CheckConstraint(
                condition=Q(baseline="", owner__isnull=False) | (~Q(baseline="") & Q(owner=None)),
                name="method_is_somebodys_or_a_baseline",
            ),
            models.CheckConstraint(condition=Q(shots=None) | Q(made="few-shot"), name="method_shots_of_few_shot"),
        )

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("method", args=[self.pk])

    @property
    def is_public(self) -> bool:
        return bool(self.baseline) or self.published is not None

    @property
    def by(self) -> str:
        return "" if self.owner is None or self.anonymous else self.owner.get_username()

    @property
    def made_text(self) -> str:
        shots = f" ({self.shots})" if self.shots is not None else ""
        return f"{self.get_made_display()}{shots}"
