"""Whose turn it is: datasets take turns, the most urgent work first; choosing costs the same however many jobs wait."""

from collections.abc import Callable

from django.db import transaction
from django.db.models import Exists, Max, Min, OuterRef, Q, Subquery
from django.db.models.functions import Now

from generation.models import Dataset, Job, JobQuerySet, Turn
from generation.models.jobs import UNKNOWN

Take = Callable[[Job], bool]
NOTED = 100  # datasets, at most, whose first job says why nothing is done


def claim(take: Take, *, deletions: bool = False) -> Job | None:
    """Return a job that is now ours, of the dataset whose turn it is; with `deletions`, only a deletion."""
    busy: list[int] = []  # what can be claimed there is just being claimed by others
    while (turn := _next(busy, deletions=deletions)) is not None:
        job = None if turn.urgency == UNKNOWN else claim_of(turn.pk, take, least=turn.urgency)
        if job is not None:
            return job
        if not _correct(turn):
            busy.append(turn.pk)
    return None


def claim_of(dataset: int, take: Take, *, least: int | None = None) -> Job | None:
    """Return a dataset's next job, now ours; None where there is none, or one less urgent than `least`.

    PostgreSQL passes over jobs that others are about to claim; SQLite has one writer at a time.
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
    """Return whether a turn promised more than there is, and does not any more.

    A process that offers the turn meanwhile waits for this lock, and offers it again afterwards.
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


def count_claimable(most: int) -> int:
    datasets = list(Turn.objects.in_order().values_list("pk", flat=True)[:most])
    return Job.objects.claimable().filter(dataset__in=datasets)[:most].count()


def note_shortage(message: str) -> None:
    """Write on the first job of each of the next datasets why nothing is done."""
    first = Job.objects.claimable().filter(dataset=OuterRef("pk")).order_by("-priority", "pk").values("pk")[:1]
    datasets = Turn.objects.in_order().values_list("pk", flat=True)[:NOTED]
    jobs = Dataset.objects.filter(pk__in=list(datasets)).annotate(first=Subquery(first)).values_list("first", flat=True)
    Job.objects.filter(pk__in=[pk for pk in jobs if pk is not None], message="").update(message=message)


def mend() -> int:
    """Return how many datasets had something to claim of which their turn did not know.

    That is also how a job gets its urgency back whose pause is over.
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
