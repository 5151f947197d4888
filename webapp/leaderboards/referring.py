"""What of leaderboards goes with splits that are deleted: submissions, members of suites, the splits named as training.

None of it keeps an owner from deleting a dataset, and none is named to that owner: methods of others may be private.
"""

from collections.abc import Iterator

from django.db.models import Count, QuerySet

from generation.models import Dataset, Split
from webapp.leaderboards.models import RemovedSubmissions, Submission, Suite, SuiteMember


def losses(splits: QuerySet[Split]) -> Iterator[str]:
    """Yield a sentence for each kind of thing that goes with splits: how many, and of how many."""
    sent = _sent(splits)
    if count := sent.count():
        methods = sent.values("method").distinct().count()
        owners = sent.values("method__owner").distinct().count()
        yield (
            f"{_counted(count, 'submission')} of {_counted(methods, 'method')} by {_counted(owners, 'account')}, with "
            "their scores. The pages of the methods will say that they were removed."
        )
    if count := Suite.objects.filter(members__split__in=splits).distinct().count():
        yield f"A column of {_counted(count, 'suite')}."
    if count := _trained(splits).count():
        yield f"{_counted(count, 'submission')} to other splits keep its name as what they were trained on."


def release(splits: QuerySet[Split]) -> None:
    """Delete submissions to splits and leave a note with each method; keep the splits' names where others name them."""
    for split in splits.filter(trained__isnull=False).select_related("dataset").distinct():
        is_listed = split.dataset.visibility == Dataset.Visibility.PUBLIC
        _trained(Split.objects.filter(pk=split.pk)).update(
            trained_on=None, trained_on_name=str(split), trained_on_listed=is_listed
        )
    counts = _sent(splits).order_by().values_list("method").annotate(count=Count("pk"))
    RemovedSubmissions.objects.bulk_create(
        [RemovedSubmissions(method_id=method, submissions=count) for method, count in counts]
    )
    _sent(splits).delete()  # the sweep deletes their files
    SuiteMember.objects.filter(split__in=splits).delete()


def _sent(splits: QuerySet[Split]) -> QuerySet[Submission]:
    """Return the submissions to splits that somebody sent."""
    return Submission.objects.filter(split__in=splits, method__baseline="")


def _trained(splits: QuerySet[Split]) -> QuerySet[Submission]:
    """Return the submissions to other splits that were trained on these."""
    return Submission.objects.filter(trained_on__in=splits).exclude(split__in=splits)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
