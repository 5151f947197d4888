"""Exports that users requested: built in the background, and stored for a limited time as one file."""

import json
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from generation.models.datasets import Dataset
from generation.models.jobs import AbstractJob, AbstractJobQuerySet


class ExportQuerySet(AbstractJobQuerySet["Export"]):
    """Reads of exports."""

    def unfinished(self) -> "ExportQuerySet":
        return self.filter(state__in=[Export.State.WAITING, Export.State.RUNNING])

    def like(self, other: "Export") -> "ExportQuerySet":
        kept = {name: getattr(other, name) for name in ("dataset", "view", "format", "splits", "options", "images")}
        return self.filter(**kept, state__in=[Export.State.WAITING, Export.State.RUNNING, Export.State.DONE])

    def claimable(self) -> Self:
        return super().claimable().filter(dataset__state=Dataset.State.COMPLETE)

    def outdated(self) -> "ExportQuerySet":
        return self.filter(expires__lt=Now())

    def for_list(self, dataset: Dataset) -> list["Export"]:
        return list(self.filter(dataset=dataset).select_related("dataset", "user").order_by("-created", "-pk"))


class Export(AbstractJob):
    """A dataset in some format, as one file. `view` says for whom it was made, and who may download it."""

    class View(models.TextChoices):
        PUBLIC = "public", "what everybody may see who may open the dataset"
        ALL = "all", "everything, withheld answers too"

    account = "user"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="exports", db_index=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="exports"
    )
    view = models.CharField(max_length=10, choices=View.choices, default=View.PUBLIC)
    format = models.CharField(max_length=40)
    splits = models.TextField(blank=True, help_text="Names, separated by blanks; empty for all.")
    options = models.TextField(default="{}", help_text="JSON.")
    images = models.BooleanField(default=True)
    done = models.PositiveIntegerField(default=0, help_text="Scenes written.")
    total = models.PositiveIntegerField(default=0, help_text="Scenes to write.")
    shown = models.TextField(
        default="{}", help_text="JSON: for each split, what of it is shown; for who asks at each download."
    )
    file = models.CharField(max_length=200, blank=True, help_text="File name in the storage.")
    size = models.PositiveBigIntegerField(default=0, help_text="Of the file, in bytes.")
    expires = models.DateTimeField(null=True, blank=True, help_text="When the file is thrown away.")

    objects = ExportQuerySet.as_manager()

    class Meta(AbstractJob.Meta):
        """Rules that the database enforces."""

        abstract = False
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *AbstractJob.Meta.constraints,
            models.CheckConstraint(
                condition=~Q(state="done") | (~Q(file="") & Q(expires__isnull=False)), name="export_done_has_file"
            ),
            models.CheckConstraint(condition=Q(view__in=["public", "all"]), name="export_view_known"),
        )
        indexes = (
            models.Index(fields=["dataset", "-created"], name="export_by_age"),
            models.Index(fields=["state", "id"], name="export_by_state"),
        )

    def __str__(self) -> str:
        return f"export {self.pk} of {self.dataset.slug} as {self.format}"

    def get_absolute_url(self) -> str:
        return f"{reverse('dataset_export', args=[self.dataset.slug])}#export-{self.pk}"

    @property
    def option_values(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(self.options)
        return values

    @property
    def shown_kinds(self) -> dict[str, list[str]]:
        kinds: dict[str, list[str]] = json.loads(self.shown)
        return kinds

    @property
    def split_names(self) -> list[str]:
        return self.splits.split()  # empty for all splits

    @property
    def file_name(self) -> str:
        only = f"-{'-'.join(self.split_names)}" if self.split_names else ""
        return f"{self.dataset.slug}{only}-{self.format}.zip"

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0
