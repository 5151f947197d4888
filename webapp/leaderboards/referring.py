"""What of leaderboards refers to datasets and splits: they can't be deleted while it is there.

A split's own baselines hold nothing: they go with it.
"""

from django.db.models import Q

from generation.models import Dataset, Split
from webapp.leaderboards.models import Submission, Suite


def of_dataset(dataset: Dataset) -> list[str]:
    """Return what refers to a dataset, in words."""
    return _said(Q(split__dataset=dataset) | Q(trained_on__dataset=dataset), Q(members__split__dataset=dataset))


def of_split(split: Split) -> list[str]:
    """Return what refers to a split, in words."""
    return _said(Q(split=split) | Q(trained_on=split), Q(members__split=split))


def _said(submitted: Q, members: Q) -> list[str]:
    rows = Submission.objects.filter(submitted, method__baseline="").select_related("method").order_by("pk")
    suites = Suite.objects.filter(members).distinct().order_by("pk")
    return [*(f"submission {row.pk} of {row.method}" for row in rows), *(f"suite {suite}" for suite in suites)]
