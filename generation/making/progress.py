"""The progress of making a dataset: what is done, how fast, how long it may still take, and what holds it up."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Min, Q, Sum, Value
from django.db.models.functions import Coalesce, Least, Now

from generation.durations import duration
from generation.making.process_pool import note
from generation.models import Chunk, Dataset, Heartbeat, Job, Split, from_now
from generation.models.datasets import SLICE, Progress
from generation.queue import GENERATION
from generation.specs import estimates

FAILURES_SHOWN = 10
IGNORED = 600.0  # seconds that jobs may wait while no job of any dataset runs
OTHER_WORK = (Job.Kind.DELETE, Job.Kind.DERIVE)  # kinds of jobs that do not make a dataset
LATELY = 60.0  # seconds over which rates are measured


class MakingProgress(NamedTuple):
    """The progress of making a dataset, and what holds it up.

    Attributes
    ----------
    progress : Progress
        Finished scenes, pictures and splits, each with its goal.
    done, running, waiting, failed, total : int
        Numbers of jobs in each state. A running job whose lease is over counts as waiting.
    scenes_a_second, pictures_a_second : float
        Numbers per second in the last minute.
    left : str
        How long it may still take, in words; empty if this is unknown.
    waiting_since : datetime or None
        Since when jobs wait and none runs; None if a job runs or none waits.
    is_alone : bool
        Whether jobs wait and no background process is alive to run them.
    is_ignored : bool
        Whether jobs have waited long, although background processes are alive and run no other jobs.
    last_heard : datetime or None
        When a background process last reported that it is alive, if none is alive now.
    note : str
        Why a job waits; empty if there is no reason to tell.
    failures : list of Job
    """

    progress: Progress
    done: int
    running: int
    waiting: int
    failed: int
    total: int
    scenes_a_second: float
    pictures_a_second: float
    left: str
    waiting_since: datetime | None
    is_alone: bool
    is_ignored: bool
    last_heard: datetime | None
    note: str
    failures: list[Job]

    @property
    def percent(self) -> int:
        return int(self.progress.share * 100)  # rounded down: it is 100 only if nothing is left to do


def making_of(dataset: Dataset) -> MakingProgress:
    """Return the progress of making a dataset, and what holds it up."""
    counts = _counts(dataset)
    asked, heard = counts.pop("asked"), counts.pop("heard")
    scenes, pictures = _lately(dataset)
    progress = progress_of(dataset)
    waits = bool(counts["waiting"]) and not counts["running"]
    beats = Heartbeat.objects.reading(GENERATION)
    is_alone = waits and not beats.alive().exists()
    since = (max(asked, heard) if heard else asked) if waits else None
    said = note(dataset, outages=not waits) if counts["waiting"] else ""
    return MakingProgress(
        progress=progress,
        **counts,
        scenes_a_second=scenes,
        pictures_a_second=pictures,
        left=_left(dataset, progress, running=counts["running"]),
        waiting_since=since,
        is_alone=is_alone,
        is_ignored=since is not None and not is_alone and not said and _is_ignored(dataset, since),
        last_heard=beats.aggregate(seen=Max("seen"))["seen"] if is_alone else None,
        note=said,
        failures=_failures(dataset) if counts["failed"] else [],
    )


def _is_ignored(dataset: Dataset, since: datetime) -> bool:
    waited = Dataset.objects.filter(pk=dataset.pk).annotate(long_ago=from_now(-IGNORED)).filter(long_ago__gt=since)
    busy = Job.objects.filter(Q(started__gte=from_now(-IGNORED)) | Q(state=Job.State.RUNNING, lease__gte=Now()))
    return waited.exists() and not busy.exists()


def _counts(dataset: Dataset) -> dict[str, Any]:
    state = Job.State
    jobs = Job.objects.filter(dataset=dataset).exclude(kind__in=OTHER_WORK)
    return jobs.aggregate(
        done=Count("pk", filter=Q(state=state.DONE)),
        running=Count("pk", filter=Q(state=state.RUNNING, lease__gte=Now())),
        waiting=Count("pk", filter=Q(state=state.WAITING) | Q(state=state.RUNNING, lease__lt=Now())),
        failed=Count("pk", filter=Q(state=state.FAILED)),
        total=Count("pk"),
        asked=Min("created", filter=Q(state=state.WAITING) | Q(state=state.RUNNING, lease__lt=Now())),
        heard=Max("finished"),
    )


def _lately(dataset: Dataset) -> tuple[float, float]:
    """Return how many scenes and pictures were made per second in the last minute."""
    lately = Job.objects.filter(dataset=dataset, state=Job.State.DONE, finished__gte=from_now(-LATELY))
    jobs = list(lately.exclude(chunk=None).select_related("chunk"))
    starts = [job.started for job in jobs if job.started]
    ends = [job.finished for job in jobs if job.finished]
    if not starts or not ends:
        return 0.0, 0.0
    seconds = max(1.0, min(LATELY, (max(ends) - min(starts)).total_seconds()))
    made = {Job.Kind.ITEMS: 0, Job.Kind.IMAGES: 0}
    for job in jobs:
        assert job.chunk is not None
        is_drawn = job.kind == Job.Kind.IMAGES
        made[Job.Kind(job.kind)] += estimates.scenes_of(job.chunk, job.part) if is_drawn else job.chunk.scenes
    return made[Job.Kind.ITEMS] / seconds, made[Job.Kind.IMAGES] / seconds


def _left(dataset: Dataset, progress: Progress, *, running: int) -> str:
    """Return the remaining time with as many running jobs as now, estimated from this dataset's finished jobs."""
    if not running:
        return ""
    rates = estimates.rates_of(Job.objects.filter(dataset=dataset), without=estimates.measured_rates(dataset.world))
    unmade = Chunk.objects.filter(split__dataset=dataset, made=False)
    questions = unmade.aggregate(n=Coalesce(Sum("questions"), 0))["n"]
    drawing = rates.drawing(dataset.spec_data, progress.of_images - progress.images)
    return duration((questions * rates.question + drawing) / running)


def _failures(dataset: Dataset) -> list[Job]:
    failed = Job.objects.filter(dataset=dataset, state=Job.State.FAILED).exclude(kind__in=OTHER_WORK)
    jobs = failed.select_related("dataset", "split__dataset", "chunk__split__dataset").order_by("pk")
    return list(jobs[:FAILURES_SHOWN])


def progress_of(dataset: Dataset) -> Progress:
    """Return the finished scenes, pictures and splits of a dataset, with their goals."""
    splits = dataset.splits.own().aggregate(
        scenes=Coalesce(Sum("scenes"), 0),
        complete=Count("pk", filter=Q(state=Split.State.COMPLETE)),
        count=Count("pk"),
        imported=Count("pk", filter=Q(kind=Split.Kind.IMPORTED)),
        read=Coalesce(Sum("origin__done"), 0),
        of_bytes=Coalesce(Sum("origin__total"), 0),
    )
    made = Chunk.objects.filter(split__dataset=dataset, made=True).aggregate(n=Coalesce(Sum("scenes"), 0))
    drawn = Job.objects.filter(dataset=dataset, kind=Job.Kind.IMAGES, state=Job.State.DONE).aggregate(
        n=Coalesce(Sum(Least(Value(SLICE), F("chunk__scenes") - F("part") * SLICE)), 0)
    )
    of_images = splits["scenes"] if dataset.with_images and not splits["imported"] else 0
    done = Progress(made["n"], splits["scenes"], drawn["n"], of_images, splits["complete"], splits["count"])
    return done._replace(read=splits["read"], of_bytes=splits["of_bytes"])
