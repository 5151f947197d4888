"""Fresh twins: splits that were drawn again from the spec of another split, with a new secret."""

from typing import Any

from django.db import models
from django.db.models import Q

from generation.models.datasets import Dataset, Split


class FreshTwinQuerySet(models.QuerySet["FreshTwin"]):
    """Reads of fresh twins."""

    def visible_to(self, user: Any) -> "FreshTwinQuerySet":
        return self.filter(split__dataset__in=Dataset.objects.visible_to(user))

    def for_list(self) -> "FreshTwinQuerySet":
        return self.select_related("split__dataset", "source__dataset").order_by("number")

    def complete_for(self, user: Any, source: Split) -> "FreshTwinQuerySet":
        return self.filter(source=source, split__state=Split.State.COMPLETE).visible_to(user).for_list()

    def unfinished(self) -> "FreshTwinQuerySet":
        stopped = [Dataset.State.MAKING, Dataset.State.CANCELLED, Dataset.State.FAILED]
        return self.filter(split__dataset__state__in=stopped)


class FreshTwin(models.Model):
    """The fact that a split is a fresh twin of another one: the same spec, drawn again with a new secret.

    Twins of a split are numbered from 1. A twin outlives its source; then nobody can see what it is a twin of.
    """

    split = models.OneToOneField(Split, on_delete=models.CASCADE, related_name="twin")
    source = models.ForeignKey(Split, null=True, on_delete=models.SET_NULL, related_name="twins")
    number = models.PositiveIntegerField()

    objects = FreshTwinQuerySet.as_manager()

    class Meta:
        """Each number occurs once among the twins of a split, and no split is its own twin."""

        constraints = (
            models.UniqueConstraint(fields=["source", "number"], name="freshtwin_number_once"),
            models.CheckConstraint(condition=~Q(split=models.F("source")), name="freshtwin_of_another"),
        )

    def __str__(self) -> str:
        return f"fresh twin {self.number} of {self.source or 'a deleted split'}"
