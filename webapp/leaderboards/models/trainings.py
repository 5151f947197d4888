"""Trainings: jobs that train a method of the site on a split, and submit its predictions."""

import json
from functools import cached_property
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from generation.models import Split
from generation.models.jobs import AbstractJob, AbstractJobQuerySet


class TrainingQuerySet(AbstractJobQuerySet["Training"]):
    def visible_to(self, user: Any) -> Self:
        if not user.is_authenticated:
            return self.none()
        return self if user.is_staff else self.filter(owner=user.pk)

    def under_way(self) -> Self:
        return self.filter(state__in=[AbstractJob.State.WAITING, AbstractJob.State.RUNNING])

    def for_list(self) -> Self:
        related = ("owner", "train__dataset", "train__parent", "val__dataset", "val__parent")
        return self.select_related(*related).order_by("-pk")


class Training(AbstractJob):
    """An order to train a method, with its progress and its results.

    `method` is a name of `generation.engine.learners.METHODS`. `progress` has the last report of the training process.
    When the training is done, the model is stored, and there is a submission for each split of `tests`.
    """

    class Size(models.TextChoices):
        MINI = "mini", "mini: trains in minutes"
        PAPER = "paper", "paper: the settings of the paper"

    class Device(models.TextChoices):
        AUTO = "auto", "a GPU if there is one"
        CPU = "cpu", "the processor"
        CUDA = "cuda", "a GPU"

    account = "owner"

    method = models.CharField(max_length=60)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="trainings")
    train = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="trainings")
    val = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="+")
    tests = models.ManyToManyField(Split, related_name="+", help_text="The splits that it answers.")
    config = models.TextField(default="{}", help_text="JSON: the settings that differ from those of the size.")
    size = models.CharField(max_length=5, choices=Size.choices, default=Size.PAPER)
    seed = models.PositiveIntegerField(default=0)
    device = models.CharField(max_length=4, choices=Device.choices, default=Device.AUTO)
    name = models.CharField(max_length=100, help_text="The name of the method on boards.")
    progress = models.TextField(default="{}", help_text="JSON: the last report of the training process.")
    history = models.TextField(default="[]", help_text="JSON: [epoch, loss, accuracy on val] after each epoch.")
    seconds = models.FloatField(default=0, help_text="How long processes have worked on it.")
    parameters = models.PositiveBigIntegerField(null=True, blank=True, help_text="Numbers that were learned.")
    examples_seen = models.PositiveBigIntegerField(null=True, blank=True, help_text="In all, repeats included.")
    code_version = models.CharField(max_length=100, blank=True, help_text="The code that trained it.")
    model = models.CharField(max_length=200, blank=True, help_text="The file of weights; a JSON file is beside it.")
    model_digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the weights.")
    model_size = models.PositiveBigIntegerField(default=0, help_text="Bytes of both files.")

    objects = TrainingQuerySet.as_manager()

    class Meta(AbstractJob.Meta):
        """A training that is done has a model."""

        abstract = False
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *AbstractJob.Meta.constraints,
            models.CheckConstraint(condition=~Q(state="done") | ~Q(model=""), name="training_done_has_model"),
        )
        indexes = (models.Index(fields=["owner", "state"], name="training_by_owner"),)

    def __str__(self) -> str:
        return f"training {self.pk} of {self.method} on {self.train}"

    def get_absolute_url(self) -> str:
        return reverse("training", args=[self.pk])

    @property
    def is_under_way(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING)

    @property
    def can_continue(self) -> bool:
        return self.state in (self.State.FAILED, self.State.CANCELLED)

    @property
    def config_data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.config)
        return data

    @property
    def progress_data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.progress)
        return data

    @cached_property
    def epochs(self) -> list[tuple[int, float | None, float | None]]:
        return [(epoch, loss, accuracy) for epoch, loss, accuracy in json.loads(self.history)]

    @cached_property
    def test_splits(self) -> list[Split]:
        return list(self.tests.select_related("dataset", "parent", "reference").order_by("dataset", "ordinal"))
