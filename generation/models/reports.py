"""What was found out about a dataset or a split as a whole, computed once: a job whose row keeps the result."""

import json
from typing import Any, ClassVar

from django.db import models

from generation.models.datasets import Dataset, Split
from generation.models.work import AbstractJob, AbstractJobQuerySet


class BlindReportQuerySet(AbstractJobQuerySet["BlindReport"]):
    """Reads of reports."""

    def waiting(self) -> "BlindReportQuerySet":
        return self.ready().order_by("pk")


class BlindReport(AbstractJob):
    """What can be scored on a dataset's splits without looking at their pictures, and the work of finding that out.

    `key` names what `figures` were computed of; where the dataset's splits amount to another key by now, they are
    outdated. `figures` is JSON for the program alone: it tells of withheld splits too.
    """

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, related_name="blind_report")
    key = models.CharField(max_length=64, blank=True)
    figures = models.TextField(blank=True)

    objects = BlindReportQuerySet.as_manager()

    class Meta(AbstractJob.Meta):
        """What is done has figures."""

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


class AblationReportQuerySet(AbstractJobQuerySet["AblationReport"]):
    """Reads of reports."""

    def waiting(self) -> "AblationReportQuerySet":
        return self.ready().order_by("pk")


class AblationReport(AbstractJob):
    """What a split's programs give with one step left out, and the work of finding that out.

    `key` names what `found` was computed of; where the split amounts to another key by now, it is outdated. `found`
    is a NumPy archive for the program alone, as `generation.reports.skipped_steps` writes it: it tells of withheld
    splits too.
    """

    split = models.OneToOneField(Split, on_delete=models.CASCADE, related_name="ablation_report")
    key = models.CharField(max_length=64, blank=True)
    found = models.BinaryField(blank=True)

    objects = AblationReportQuerySet.as_manager()

    class Meta(AbstractJob.Meta):
        """What is done has a key."""

        abstract = False
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *AbstractJob.Meta.constraints,
            models.CheckConstraint(
                condition=~models.Q(state="done") | ~models.Q(key=""), name="ablationreport_has_key"
            ),
        )

    def __str__(self) -> str:
        return f"steps left out of {self.split}"
