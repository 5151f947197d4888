"""Work as rows: jobs that processes claim with a token and a lease, and the processes themselves."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from django.db import models
from django.db.models import (
    Count,
    DateTimeField,
    DurationField,
    Exists,
    Expression,
    ExpressionWrapper,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    Value,
)
from django.db.models.functions import Coalesce, Greatest, Now
from django.utils import timezone

from generation.models.datasets import Dataset, Split
from generation.models.items import Chunk

AnyJob = TypeVar("AnyJob", bound="AbstractJob")
UNKNOWN = 32_767  # higher than every real urgency; the next claim replaces it with the real one
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
TURNS_KEPT = 86_400.0  # seconds for which an account that was served is behind one that was not


def from_now(seconds: float) -> ExpressionWrapper:
    return ExpressionWrapper(Now() + Value(timedelta(seconds=seconds)), output_field=DateTimeField())


def ago(moment: Expression | F) -> ExpressionWrapper:
    return ExpressionWrapper(Now() - moment, output_field=DurationField())


class Backlog(NamedTuple):
    """How long the jobs of one table have waited, and how many run."""

    oldest: timedelta | None  # age of the oldest waiting job
    ready: timedelta | None  # for how long jobs could have been claimed; None if none can be claimed
    quiet: timedelta | None  # since a job was last begun or ended; None if this never happened
    running: int


class AbstractJobQuerySet(models.QuerySet[AnyJob]):
    """Selections of jobs for conditional updates, which count the rows that were still in the expected state."""

    def held(self, job: AnyJob) -> Self:
        return self.filter(pk=job.pk, token=job.token, state=AbstractJob.State.RUNNING)

    def overdue(self) -> Self:
        return self.filter(state=AbstractJob.State.RUNNING, deadline__lt=Now())

    def expired(self) -> Self:
        return self.filter(state=AbstractJob.State.RUNNING, lease__lt=Now())

    def note_taken(self, job: AnyJob) -> None:
        """Do what a table needs after one of its jobs was claimed."""

    def note_moved(self, job: AnyJob) -> None:
        """Do what a table needs after a job stopped running, so that it or other jobs can be claimed now."""

    def start_over(self, **more: Any) -> int:
        # They wait from now on, as if they had never been tried.
        untried = {"attempts": 0, "crashes": 0, "waits": 0, "not_before": Now(), "message": ""}
        return self.update(**{"state": AbstractJob.State.WAITING, **untried, **more})

    def ready(self) -> Self:
        return self.filter(Q(not_before=None) | Q(not_before__lte=Now()), state=AbstractJob.State.WAITING)

    def claimable(self) -> Self:
        return self.ready().order_by("-priority", "pk")

    def backlog(self) -> Backlog:
        can_start = Q(pk__in=self.claimable().order_by().values("pk"))
        return self._backlog(can_start=can_start, since=Coalesce("not_before", "created"))

    def _backlog(self, *, can_start: Q, since: Expression | F) -> Backlog:
        ended = Q(state__in=[AbstractJob.State.DONE, AbstractJob.State.FAILED])
        found = self.aggregate(
            oldest=ago(Min(since, filter=can_start)),
            freed=ago(Max("not_before", filter=can_start & Q(not_before__lte=Now()))),
            begun=ago(Max("started")),
            ended=ago(Max("finished", filter=ended)),
            running=Count("pk", filter=Q(state=AbstractJob.State.RUNNING, lease__gte=Now())),
        )
        quiet = min((found[name] for name in ("begun", "ended") if found[name] is not None), default=None)
        ready = [found[name] for name in ("oldest", "freed") if found[name] is not None]
        return Backlog(found["oldest"], min(ready, default=None), quiet, found["running"])

    def in_turns(self, *, most: int) -> Iterator[AnyJob]:
        """Yield the first jobs of each account, in the order in which the accounts take turns.

        The account with the most urgent job is first. Among equals, it is the account with the fewest running jobs,
        then the account that has waited longest since a job of it was started, then the account with the oldest job.

        Parameters
        ----------
        most : int
            The limit of accounts, and of jobs of an account. Another process may claim a job first, so a claim may need
            several jobs.
        """
        for account in self._accounts_in_turn()[:most]:
            yield from self.filter(self._of_accounts([account]))[:most]

    def _accounts_in_turn(self) -> list[Any]:
        path = self.model.account
        found = self.order_by().values_list(path).annotate(urgency=Max("priority"), oldest=Min("pk"))
        waiting = {account: (-urgency, oldest) for account, urgency, oldest in found}
        if len(waiting) < 2:
            return list(waiting)
        begun = Q(state=AbstractJob.State.RUNNING) | Q(started__gt=from_now(-TURNS_KEPT))
        rows = self.model._default_manager.filter(begun, self._of_accounts(list(waiting))).order_by()
        running = Count("pk", filter=Q(state=AbstractJob.State.RUNNING))
        counts = rows.values_list(path).annotate(running=running, served=Max("started"))
        served = {account: about for account, *about in counts}

        def place(account: Any) -> tuple[Any, ...]:
            urgency, oldest = waiting[account]
            return urgency, *served.get(account, (0, NEVER)), oldest

        return sorted(waiting, key=place)

    def _of_accounts(self, accounts: Sequence[Any]) -> Q:
        path = self.model.account
        known = Q(**{f"{path}__in": [account for account in accounts if account is not None]})
        return known | Q(**{f"{path}__isnull": True}) if None in accounts else known


class AbstractJob(models.Model):
    """A piece of work. A process claims it with a random token and a lease, by the database's clock.

    A running job after its `deadline` hangs, even if its lease is renewed; a sweep marks it as failed. The process that
    holds a job writes the result with `held(job).update(...) == 1` in the transaction that inserts its rows. So if two
    processes believe that they hold a job, only one of them writes.

    Accounts take turns. `account` is the path of the field that names the account of a job. Several rows may have no
    account; they take turns as if they were of one account.
    """

    account: ClassVar[str]

    class State(models.TextChoices):
        """The state of the job."""

        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    priority = models.SmallIntegerField(default=0, help_text="Higher goes first.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Runs, but those that were no fault of the job.")
    crashes = models.PositiveSmallIntegerField(default=0, help_text="Runs whose process died.")
    waits = models.PositiveIntegerField(default=0, help_text="Runs that met an outage of storage, database or network.")
    not_before = models.DateTimeField(null=True, blank=True, help_text="When it may be tried again.")
    token = models.CharField(max_length=32, blank=True)
    worker = models.CharField(max_length=200, blank=True, help_text="The process that claimed it last.")
    lease = models.DateTimeField(null=True, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    message = models.TextField(blank=True)
    created = models.DateTimeField(db_default=Now())
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Rules that the database enforces for each table of jobs."""

        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(state="running", lease__isnull=False) & ~Q(token="")
                | ~Q(state="running") & Q(token="", lease__isnull=True),
                name="%(class)s_running_is_held",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed", "cancelled"]),
                name="%(class)s_state_known",
            ),
        )

    @property
    def waiting_note(self) -> str:
        """Return why the job waits and when it is tried again; empty if there is nothing to say."""
        if self.state != self.State.WAITING or not self.message:
            return ""
        if self.not_before is None or self.not_before <= timezone.now():
            return self.message
        return f"{self.message} It is tried again at {timezone.localtime(self.not_before):%H:%M:%S}."


class JobEventQuerySet(models.QuerySet["JobEvent"]):
    """Writes of counts."""

    def note(self, kind: str, event: str) -> None:
        if not self.filter(kind=kind, event=event).update(count=F("count") + 1):
            self.bulk_create([self.model(kind=kind, event=event)], ignore_conflicts=True)
            self.filter(kind=kind, event=event).update(count=F("count") + 1)


class JobEvent(models.Model):
    """How often something happened to jobs of a kind. The counts are kept when jobs are deleted."""

    class Event(models.TextChoices):
        """The event that is counted."""

        CRASHED = "crashed", "its process died"
        RETRIED = "retried", "an error, and it was tried again"
        WAITED = "waited", "an outage, and it waited"
        RELEASED = "released", "its process was asked to stop"
        LOST = "lost", "its holder found that the lease was somebody else's"
        FAILED = "failed", "it failed for good"

    kind = models.CharField(max_length=40, help_text="The name of the kind's runner.")
    event = models.CharField(max_length=10, choices=Event.choices)
    count = models.PositiveBigIntegerField(default=0)

    objects = JobEventQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["kind", "event"], name="jobevent_once"),)

    def __str__(self) -> str:
        return f"{self.count} {self.kind} {self.event}"


class TurnQuerySet(models.QuerySet["Turn"]):
    """Reads and writes of turns."""

    def offer(self, *datasets: int, urgency: int = UNKNOWN) -> None:
        """Note that jobs of these datasets may be waiting, with at most this urgency."""
        offered = self.filter(pk__in=datasets)
        if offered.update(ready=Now(), urgency=Greatest("urgency", Value(urgency))) < len(datasets):
            self.bulk_create([self.model(dataset_id=pk) for pk in datasets], ignore_conflicts=True)
            offered.update(ready=Now(), urgency=Greatest("urgency", Value(urgency)))

    def in_order(self) -> Self:
        return self.filter(ready__lte=Now()).order_by("-urgency", "served", "dataset")


class Turn(models.Model):
    """A dataset's place in the order in which datasets are served, so that choosing one does not read jobs.

    `urgency` is at least the priority of the dataset's most urgent claimable job, and `ready` is set while there is
    one. Code that makes a job claimable offers the turn at the end of the same transaction. A claim that finds less
    corrects the row, and a sweep repairs rows that were forgotten.
    """

    dataset = models.OneToOneField(Dataset, primary_key=True, on_delete=models.CASCADE, related_name="turn")
    urgency = models.SmallIntegerField(default=UNKNOWN)
    served = models.DateTimeField(default=NEVER, help_text="When a job of it was claimed last.")
    ready = models.DateTimeField(null=True, help_text="From when on something may be claimed; none: nothing may.")

    objects = TurnQuerySet.as_manager()

    class Meta:
        """Turns are read in order."""

        indexes = (
            models.Index(
                fields=["-urgency", "served", "dataset"], condition=Q(ready__isnull=False), name="turn_by_order"
            ),
        )

    def __str__(self) -> str:
        return f"turn of {self.dataset_id}"


class JobQuerySet(AbstractJobQuerySet["Job"]):
    """Reads of jobs."""

    def note_taken(self, job: "Job") -> None:
        """Note that the job's dataset was served."""
        assert job.started is not None
        served = Turn.objects.filter(pk=job.dataset_id)
        if not served.update(served=job.started):
            Turn.objects.bulk_create([Turn(dataset_id=job.dataset_id, served=job.started)], ignore_conflicts=True)

    def note_moved(self, job: "Job") -> None:
        """Offer the job's dataset again, because this job or jobs that waited for it may be claimable now."""
        if job.kind != Job.Kind.DELETE:  # a deletion also deletes the dataset
            Turn.objects.offer(job.dataset_id, urgency=job.priority)
        elif Dataset.objects.filter(pk=job.dataset_id).exists():
            Turn.objects.offer(job.dataset_id)

    def claimable(self) -> Self:
        """Return waiting jobs that may be claimed now, in no order: `generation.queue.scheduler` orders them.

        Most jobs can be claimed while their dataset is being made. A split is sealed when all its other jobs are done,
        and is compared with its reference when both are sealed. A split is derived from another one when the dataset is
        complete. A deletion can be claimed while its dataset is being deleted.
        """
        last = [Job.Kind.SEAL, Job.Kind.SEEN]
        undone = [state for state in Job.State if state != Job.State.DONE]
        left = Job.objects.filter(split=OuterRef("split"), state__in=undone).exclude(kind__in=last)
        making = ~Q(kind__in=[Job.Kind.DELETE, Job.Kind.DERIVE]) & Q(dataset__state=Dataset.State.MAKING)
        deriving = Q(kind=Job.Kind.DERIVE, dataset__state=Dataset.State.COMPLETE)
        deleting = Q(kind=Job.Kind.DELETE, dataset__state=Dataset.State.DELETING)
        sealed = Q(split__reference__state=Split.State.COMPLETE) | Q(split__reference=None)  # None if it was deleted
        both = Q(split__state=Split.State.COMPLETE) & sealed
        may = self.ready().filter(making | deriving | deleting, ~Q(kind=Job.Kind.SEEN) | both)
        return may.exclude(Q(kind=Job.Kind.SEAL) & Exists(left))

    def start_over(self, **more: Any) -> int:
        return super().start_over(**{"not_before": None, **more})  # a turn says when its jobs may be claimed

    def backlog(self) -> Backlog:
        """Return the backlog of datasets that are being made or deleted, and of question sets.

        Turns tell whether a job can be claimed, because `claimable` would read all jobs of large datasets.
        """
        deriving = Q(kind=Job.Kind.DERIVE, dataset__state=Dataset.State.COMPLETE)
        busy = Q(dataset__state__in=[Dataset.State.MAKING, Dataset.State.DELETING])
        found = self.filter(busy | deriving)._backlog(can_start=Q(state=Job.State.WAITING), since=F("created"))
        if found.oldest is None or Turn.objects.in_order().exists():
            return found
        return found._replace(ready=None)


class Job(AbstractJob):
    """A job of a dataset."""

    class Kind(models.TextChoices):
        """What the job does."""

        ITEMS = "items", "scenes and questions"
        IMPORT = "import"
        IMAGES = "images"
        SEAL = "seal", "content hash and index"
        SEEN = "seen", "comparison with the reference split"
        DERIVE = "derive", "question set"
        DELETE = "delete"

    account = "dataset__owner"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="jobs", db_index=False)
    split = models.ForeignKey(Split, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    chunk = models.ForeignKey(Chunk, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    part = models.PositiveIntegerField(default=0, help_text="Of images: which 25 scenes of the chunk.")

    objects = JobQuerySet.as_manager()

    class Meta(AbstractJob.Meta):
        """The same work exists only once."""

        abstract = False
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *AbstractJob.Meta.constraints,
            models.UniqueConstraint(
                fields=["chunk", "kind", "part"], condition=Q(chunk__isnull=False), name="job_of_chunk_once"
            ),
            models.UniqueConstraint(
                fields=["split", "kind"],
                condition=Q(chunk__isnull=True, split__isnull=False),
                name="job_of_split_once",
            ),
            models.UniqueConstraint(
                fields=["dataset", "kind"], condition=Q(split__isnull=True), name="job_of_dataset_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["items", "images"], split__isnull=False, chunk__isnull=False)
                | Q(kind__in=["import", "seal", "seen", "derive"], split__isnull=False, chunk__isnull=True)
                | Q(kind__in=["import", "delete"], split__isnull=True, chunk__isnull=True),
                name="job_kind_names_its_work",
            ),
        )
        indexes = (
            models.Index(  # the order in which jobs are claimed
                fields=["dataset", "-priority", "id"], condition=Q(state="waiting"), name="job_waiting_by_rank"
            ),
            models.Index(fields=["lease"], condition=Q(state="running"), name="job_running"),
            models.Index(
                fields=["not_before"], condition=Q(state="waiting", not_before__isnull=False), name="job_waiting_paused"
            ),
            models.Index(fields=["dataset", "state"], name="job_by_state"),
            models.Index(fields=["split", "state", "kind"], name="job_of_split_by_state"),
            models.Index(fields=["dataset", "-finished"], name="job_by_end"),
            models.Index(
                fields=["dataset"], condition=Q(state="waiting") & ~Q(message=""), name="job_waiting_with_note"
            ),
        )

    def __str__(self) -> str:
        batch = f" batch {self.chunk.number}" if self.chunk is not None else ""
        part = f" part {self.part}" if self.kind == self.Kind.IMAGES else ""
        return f"{self.kind} of {self.split or self.dataset}{batch}{part}"


class HeartbeatQuerySet(models.QuerySet["Heartbeat"]):
    """Reads and writes of heartbeats."""

    def note(self, name: str, **about: Any) -> None:
        self.update_or_create(name=name, defaults={**about, "seen": Now()})

    def claim_chore(self, name: str, *, every: float, **about: Any) -> bool:
        """Set the time of a chore to now if it is more than `every` seconds ago; return whether this was done.

        Of several processes, one succeeds. A chore without a row is due.
        """
        due = self.filter(name=name, seen__lt=from_now(-every))
        if due.update(**about, seen=Now()) == 1:
            return True
        if self.filter(name=name).exists():
            return False
        self.bulk_create([self.model(name=name, queues="", seen=NEVER, **about)], ignore_conflicts=True)
        return due.update(**about, seen=Now()) == 1

    def alive(self, *, within: float = 60) -> "HeartbeatQuerySet":
        return self.exclude(queues="").filter(seen__gte=from_now(-within))

    def reading(self, queue: str) -> "HeartbeatQuerySet":
        return self.filter(queues__regex=f"(^|,){re.escape(queue)}(,|$)")


class Heartbeat(models.Model):
    """A background process, whose main process updates this row.

    Rows without queues have the times of regular work: of the last sweep (`SWEEP`), and of chores.
    """

    SWEEP = "sweep"

    name = models.CharField(max_length=200, unique=True)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    queues = models.CharField(max_length=200, help_text="Separated by commas.")
    processes = models.PositiveIntegerField(default=0, db_default=0, help_text="Number of processes that do jobs.")
    seen = models.DateTimeField(db_default=Now())

    objects = HeartbeatQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
