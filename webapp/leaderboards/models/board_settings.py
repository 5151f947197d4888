"""The owner's settings for boards: those of a split, or of all splits of a dataset."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from generation.models import Dataset, Split


class BoardSettings(models.Model):
    """The settings of a split's board, or of the boards of a dataset whose splits have none."""

    split = models.OneToOneField(Split, null=True, blank=True, on_delete=models.CASCADE, related_name="board_settings")
    dataset = models.OneToOneField(
        Dataset, null=True, blank=True, on_delete=models.CASCADE, related_name="board_settings"
    )
    least_coverage = models.PositiveSmallIntegerField(
        default=0, help_text="Percent of the questions that need an answer; 0 accepts every submission."
    )

    objects = models.Manager()

    class Meta:
        """Settings are of a split or of a dataset."""

        verbose_name_plural = "board settings"
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(split=None, dataset__isnull=False) | Q(split__isnull=False, dataset=None),
                name="boardsettings_of_one",
            ),
            models.CheckConstraint(condition=Q(least_coverage__range=(0, 100)), name="boardsettings_percent"),
        )

    def __str__(self) -> str:
        return f"board settings of {self.split or self.dataset}"
