"""Choosing the next job: datasets take turns, and the most urgent work is first.

The cost of a choice does not depend on the number of waiting jobs.
"""

from collections.abc import Callable

from django.db import transaction
from django.db.models import Exists, Max, Min, OuterRef, Q, Subquery
from django.db.models.functions import Now

from generation.models import Dataset, Job, JobQuerySet, Turn
from generation.models.jobs import UNKNOWN

Take = Callable[[Job], bool]
NOTED = 100  # limit of datasets whose first job gets a message about why nothing is done


def claim(take: Take, *, deletions: bool = False) -> Job | None:
    """Claim and return a job of the dataset whose turn it is; return None if there is none.

    With `deletions`, only deletions are claimed.
    """
    busy: list[int] = []  # datasets whose claimable jobs other processes are claiming now
    while (turn := _next(busy, deletions=deletions)) is not None:
        job = None if turn.urgency == UNKNOWN else claim_of(turn.pk, take, least=turn.urgency)
        if job is not None:
            return job
        if not _correct(turn):
            busy.append(turn.pk)
    return None


def claim_of(dataset: int, take: Take, *, least: int | None = None) -> Job | None:
    """Claim and return a dataset's next job; return None if there is none, or if it is less urgent than `least`.

    PostgreSQL skips jobs that other processes are claiming. SQLite has only one writer at a time.
    """
    with transaction.atomic():
        job = _waiting(dataset).select_for_update(of=("self",), skip_locked=True).first()
        if job is None or (least is not None and job.priority < least) or not take(job):
            return None
        return job


def _next(busy: list[int], *, deletions: bool) -> Turn | None:
    turns = Turn.objects.in_order().exclude(pk__in=busy)
    return (turns.filter(dataset__state=Dataset.State.DELETING) if deletions else turns).first()


def _waiting(dataset: int) -> JobQuerySet:
    jobs = Job.objects.claimable().filter(dataset=dataset).order_by("-priority", "pk")
    return jobs.select_related("dataset", "split__dataset", "chunk")


def _correct(turn: Turn) -> bool:
    """Set a turn to the most urgent job that can really be claimed; return False if the turn was already correct.

    A process that offers the turn at the same time waits for this lock, and offers the turn afterwards.
    """
    with transaction.atomic():
        locked = Turn.objects.select_for_update().filter(pk=turn.pk).first()
        if locked is None:
            return True
        job = _waiting(turn.pk).first()
        if job is not None:
            changed = job.priority != turn.urgency
            Turn.objects.filter(pk=turn.pk).update(urgency=job.priority)
            return changed
        paused = Job.objects.filter(dataset=turn.pk, state=Job.State.WAITING, not_before__gt=Now())
        Turn.objects.filter(pk=turn.pk).update(urgency=0, ready=paused.aggregate(at=Min("not_before"))["at"])
        return True


def note_shortage(message: str) -> None:
    """Write a message about why nothing is done on the first job of each of the next datasets."""
    first = Job.objects.claimable().filter(dataset=OuterRef("pk")).order_by("-priority", "pk").values("pk")[:1]
    datasets = Turn.objects.in_order().values_list("pk", flat=True)[:NOTED]
    jobs = Dataset.objects.filter(pk__in=list(datasets)).annotate(first=Subquery(first)).values_list("first", flat=True)
    Job.objects.filter(pk__in=[pk for pk in jobs if pk is not None], message="").update(message=message)


def mend() -> int:
    """Offer the turns of datasets with claimable jobs that their turns do not show; return the number of datasets.

    This also restores the urgency of a turn for jobs whose pause is over.
    """
    paused = Job.objects.filter(state=Job.State.WAITING, not_before__lte=Now())
    for dataset, urgency in paused.order_by().values_list("dataset").annotate(most=Max("priority")):
        Turn.objects.offer(dataset, urgency=urgency)
    claimable = Job.objects.claimable().filter(dataset=OuterRef("pk"))
    busy = Q(state__in=[Dataset.State.MAKING, Dataset.State.DELETING])
    deriving = Q(Exists(Job.objects.filter(dataset=OuterRef("pk"), state=Job.State.WAITING)))
    forgotten = Dataset.objects.filter(busy | deriving & Q(state=Dataset.State.COMPLETE))
    forgotten = forgotten.exclude(turn__ready__isnull=False).filter(Exists(claimable))
    found = list(forgotten.values_list("pk", flat=True))
    if found:
        Turn.objects.offer(*found)
    return len(found)
