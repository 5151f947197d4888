"""Deletes methods, submissions and suites, and what belongs to a deleted split: submissions and places in suites.

Rows are deleted before files, so that no row points at a missing file. Submissions do not prevent an owner from
deleting a dataset. Their names are not shown to that owner, because the methods of others may be private.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from generation.access import is_withheld
from generation.charts.drawing import drop_drawings
from generation.models import Dataset, Split
from generation.storage import files
from webapp.leaderboards.models import (
    Method,
    RemovedSubmissions,
    SavedView,
    Submission,
    Suite,
    SuiteMember,
    Training,
)
from webapp.leaderboards.models.submissions import FITTED_ON_HIDDEN
from webapp.leaderboards.replies import stored_replies
from webapp.leaderboards.stored_predictions import FOLDER as PREDICTIONS
from webapp.leaderboards.stored_predictions import name_of
from webapp.leaderboards.uploads import FOLDER as UPLOADS

YOUNG = timedelta(hours=1)  # age up to which the row of a file may still be missing
AT_ONCE = 100  # uploads that one call drops


class CountsToday(Exception):
    """The submission still counts for the daily limit of a split with withheld answers, so it can't be deleted now."""


def delete_submission(submission: Submission) -> None:
    """Delete a submission with its scores and files; raise `CountsToday` if it still counts for a limit."""
    if is_withheld(submission.split) and _counts(submission):
        raise CountsToday(
            "Expected a submission that no longer counts for the limit of its split, got one of the last day, or one "
            "that is still being scored. Delete it later."
        )
    Submission.objects.filter(pk=submission.pk).delete()
    drop_files([submission])


def _counts(submission: Submission) -> bool:
    same = Submission.objects.filter(pk=submission.pk)
    return same.of_last_day().exists() or same.under_way().exists()


def delete_method(method: Method) -> None:
    """Delete a method with its submissions; raise `CountsToday` if one of them still counts for a limit."""
    with transaction.atomic():
        mine = list(method.submissions.select_related("split__parent"))
        if any(is_withheld(one.split) and _counts(one) for one in mine):
            raise CountsToday(
                "Expected a method without submissions that count for a limit, got one with scores of the last day. "
                "Delete it later, or hide it now."
            )
        Method.objects.filter(pk=method.pk).delete()
    drop_files(mine)


def drop_files(gone: Iterable[Submission]) -> None:
    # Housekeeping deletes predictions and replies without a row.
    for submission in gone:
        files.drop(submission.file)
        files.drop(submission.replies_file)
        files.drop(submission.findings)


def drop_scored() -> None:
    """Delete uploads that an earlier version kept after scoring; their codes are kept."""
    for submission in Submission.objects.scored().exclude(file="")[:AT_ONCE]:
        with suppress(FileNotFoundError):
            kept = files.size(name_of(submission.predictions))
            Submission.objects.filter(pk=submission.pk).update(file="", kept=kept)
            files.drop(submission.file)


def drop_files_without_row() -> int:
    """Delete old files without a row, which a crash may leave, and return how many."""
    known = {name for field in ("file", "findings", "replies_file") for name in _values(field)}
    known |= {name_of(one) for one in _values("predictions")}
    known |= {stored_replies.name_of(one) for one in _values("replies")}
    gone = [name for name in _kept() if name not in known and is_old(name)]
    for name in gone:
        files.drop(name)
    return len(gone)


def _values(field: str) -> set[str]:
    return set(Submission.objects.exclude(**{field: ""}).values_list(field, flat=True))


def _kept() -> Iterator[str]:
    """Yield the names of leaderboard files, without drafts."""
    for folder in (UPLOADS, PREDICTIONS, stored_replies.FOLDER):
        with suppress(FileNotFoundError):
            folders, names = default_storage.listdir(folder)
            yield from (f"{folder}/{name}" for name in names if not name.startswith("."))
            for inner in folders:
                yield from (f"{folder}/{inner}/{name}" for name in default_storage.listdir(f"{folder}/{inner}")[1])


def is_old(name: str) -> bool:
    """Return whether a stored file is so old that its row would exist by now."""
    try:
        changed: datetime = default_storage.get_modified_time(name)
    except OSError:
        return False
    return timezone.now() - changed > YOUNG


def losses(splits: QuerySet[Split]) -> Iterator[str]:
    """Yield a sentence for each kind of object that is deleted with the splits, with its number."""
    sent = _sent(splits)
    if count := sent.count():
        methods = sent.values("method").distinct().count()
        owners = sent.values("method__owner").distinct().count()
        yield (
            f"{_counted(count, 'submission')} of {_counted(methods, 'method')} by {_counted(owners, 'account')}, with "
            "their scores. The pages of the methods will say that they were removed."
        )
    if count := _trainings(splits).count():
        yield f"{_counted(count, 'training')} with the trained models. Submissions to other datasets stay."
    if count := Suite.objects.filter(members__split__in=splits).distinct().count():
        yield f"A column of {_counted(count, 'suite')}."
    if count := SavedView.objects.filter(split__in=splits).count():
        yield f"{_counted(count, 'saved view')} of boards."
    if count := _lost_baselines(splits).count():
        yield (
            f"{_counted(count, 'baseline')} on boards of other splits, because what they learned from is withheld, "
            "private, or still has to be read."
        )
    if count := _trained(splits).exclude(pk__in=_lost_baselines(splits)).count():
        yield f"The training split of {_counted(count, 'submission')} to other splits; only its name stays."


def release(splits: QuerySet[Split]) -> None:
    """Delete submissions to splits, with a note at each method; submissions trained on them keep the split's name."""
    _lost_baselines(splits).delete()
    for split in splits.filter(trained__isnull=False).select_related("dataset").distinct():
        is_listed = split.dataset.visibility == Dataset.Visibility.PUBLIC
        _trained(Split.objects.filter(pk=split.pk)).update(
            trained_on=None, trained_on_name=str(split), trained_on_listed=is_listed
        )
    counts = _sent(splits).order_by().values_list("method").annotate(count=Count("pk"))
    RemovedSubmissions.objects.bulk_create(
        [RemovedSubmissions(method_id=method, submissions=count) for method, count in counts]
    )
    _trainings(splits).delete()  # a running one notices it
    _sent(splits).delete()  # housekeeping deletes their files
    for suite in Suite.objects.filter(members__split__in=splits).distinct():
        drop_drawings(suite.chart_folder)
    SuiteMember.objects.filter(split__in=splits).delete()


def delete_suite(suite: Suite) -> None:
    folder = suite.chart_folder
    suite.delete()  # its splits stay
    drop_drawings(folder)


def _sent(splits: QuerySet[Split]) -> QuerySet[Submission]:
    return Submission.objects.filter(split__in=splits, method__baseline="")


def _trained(splits: QuerySet[Split]) -> QuerySet[Submission]:
    return Submission.objects.filter(trained_on__in=splits).exclude(split__in=splits)


def _lost_baselines(splits: QuerySet[Split]) -> QuerySet[Submission]:
    """Return the baselines of other splits that cannot stay without the splits that they were fitted on.

    Those that repeat withheld or private answers would be shown to everybody, because nothing would say any more what
    they were fitted on. Those that are not scored yet cannot be fitted any more.
    """
    fitted = _trained(splits).exclude(method__baseline="")
    return fitted.filter(FITTED_ON_HIDDEN | ~Q(state=Submission.State.DONE))


def _trainings(splits: QuerySet[Split]) -> QuerySet[Training]:
    return Training.objects.filter(Q(train__in=splits) | Q(val__in=splits))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
