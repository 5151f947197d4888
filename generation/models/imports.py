"""Imports: their owners, files and datasets, how many bytes are read, and what was found."""

import json
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from generation.models.datasets import Dataset, Split


class ImportQuerySet(models.QuerySet["Import"]):
    def of(self, user: Any) -> "ImportQuerySet":
        return self.filter(owner=user).select_related("dataset").order_by("-pk")


class Import(models.Model):
    """One import. If its dataset is deleted, the row is kept. If the import was refused, `message` has the reason."""

    class Images(models.TextChoices):
        LINKED = "linked", "linked: they stay where they are"
        COPIED = "copied"
        NONE = "none", "left out"

    dataset = models.OneToOneField(Dataset, null=True, blank=True, on_delete=models.SET_NULL, related_name="imported")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="imports"
    )
    slug = models.CharField(max_length=60)
    format = models.CharField(max_length=40)
    images = models.CharField(max_length=10, choices=Images.choices, default=Images.NONE)
    stored = models.CharField(max_length=200, blank=True, help_text="Folder of the storage in which uploads wait.")
    files = models.TextField(blank=True, help_text="JSON: the names of sent files, in the storage.")
    message = models.TextField(blank=True, help_text="Why nothing was kept.")
    created = models.DateTimeField(db_default=Now())

    objects = ImportQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(images__in=["linked", "copied", "none"]), name="import_images_known"),
        )

    def __str__(self) -> str:
        return f"import of {self.slug}"

    def get_absolute_url(self) -> str:
        return reverse("import", args=[self.pk])


class ImportedSplit(models.Model):
    """The files of an imported split, how much of them is read, and what was found."""

    split = models.OneToOneField(Split, on_delete=models.CASCADE, related_name="origin")
    files = models.TextField(help_text="JSON: the files by what is in them, with size and time of change.")
    total = models.PositiveBigIntegerField(default=0, help_text="Bytes to read.")
    done = models.PositiveBigIntegerField(default=0, help_text="Bytes read.")
    report = models.TextField(blank=True, help_text="JSON: what is there, what is missing, what disagrees.")

    objects = models.Manager()

    def __str__(self) -> str:
        return f"origin of {self.split}"

    @property
    def files_json(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.files)
        return data

    @property
    def report_json(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.report) if self.report else {}
        return data
