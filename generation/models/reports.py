"""Reports on a dataset or a split. Each is computed once by a job, whose row stores the result."""

import json
from typing import Any, ClassVar

from django.db import models

from generation.models.datasets import Dataset, Split
from generation.models.jobs import AbstractJob, AbstractJobQuerySet


class BlindReport(AbstractJob):
    """The report on what can be answered without pictures on a dataset's splits, and the job that computes it.

    `key` identifies the data from which `figures` was computed. If the dataset's splits now have another key, the
    report is outdated. `figures` is JSON that users must not get unfiltered, because it also covers withheld splits.
    """

    account = "dataset__owner"

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, related_name="blind_report")
    key = models.CharField(max_length=64, blank=True)
    figures = models.TextField(blank=True)

    objects = AbstractJobQuerySet["BlindReport"].as_manager()

    class Meta(AbstractJob.Meta):
        """A finished report has figures."""

        abstract = False
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *AbstractJob.Meta.constraints,
            models.CheckConstraint(
                condition=~models.Q(state="done") | (~models.Q(key="") & ~models.Q(figures="")),
                name="blindreport_done_has_figures",
            ),
        )

    def __str__(self) -> str:
        return f"report of {self.dataset}"

    @property
    def figures_json(self) -> dict[str, Any]:
        figures: dict[str, Any] = json.loads(self.figures)
        return figures


class AblationReport(AbstractJob):
    """The answers of a split's programs with one step left out, and the job that computes them.

    `key` identifies the data from which `found` was computed. If the split now has another key, the report is outdated.
    `found` is a NumPy archive in the form of `generation.reports.skipped_steps`. Users must not get it unfiltered,
    because it also covers withheld splits.
    """

    account = "split__dataset__owner"

    split = models.OneToOneField(Split, on_delete=models.CASCADE, related_name="ablation_report")
    key = models.CharField(max_length=64, blank=True)
    found = models.BinaryField(blank=True)

    objects = AbstractJobQuerySet["AblationReport"].as_manager()

    class Meta(AbstractJob.Meta):
        """A finished report has a key."""

        abstract = False
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *AbstractJob.Meta.constraints,
            models.CheckConstraint(
                condition=~models.Q(state="done") | ~models.Q(key=""), name="ablationreport_has_key"
            ),
        )

    def __str__(self) -> str:
        return f"steps left out of {self.split}"
