"""Jobs that make datasets: planned as rows and claimed one by one. Each is safe to run twice and to kill half-way.

The processes of the command line and those of workers run the same loop. `generation.queue.runner` does what all kinds
of jobs have in common.
"""

import functools
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Now

from generation import extension_points
from generation.engine import ENGINE_VERSION
from generation.engine import worlds as engine
from generation.engine.content_hash import dataset_fingerprint
from generation.engine.errors import BadRecord, BadSpec, EngineError, NotDrawn
from generation.making import deletion, ingestion
from generation.making.chunk_writer import ROWS, ChunkWriter
from generation.making.creation import create_dataset
from generation.models import Chunk, Dataset, Import, Job, Scene, Split, Turn, from_now
from generation.models.datasets import SLICE
from generation.program_version import PROGRAM
from generation.queue import GENERATION, graceful_shutdown, leases, runner, scheduler
from generation.queue.transient_errors import find_outage
from generation.reports import chart_prerendering
from generation.specs import estimates
from generation.splits import count_shifts, question_sets, sealing, train_overlap
from generation.splits.count_shifts import CountShift
from generation.splits.split_recipes import Recipe
from generation.storage import files
from generation.storage.items import load_items
from generation.storage.pictures import Pictures

PREVIEW = 10  # the priority of a dataset's first scenes and pictures
IDLE = 0.2  # seconds between two attempts to make a question set that another process makes
DELETED_AGAIN = 600.0  # seconds after which a failed deletion is tried again
RETRIED_IN = (Dataset.State.MAKING, Dataset.State.FAILED)


class WrongVersion(EngineError):
    """A dataset was started with another version of the engine. This version would make the rest differently."""


class SetNotMade(Exception):
    """A question set was not made: its job failed or was cancelled, or the set was deleted."""


# Planning and stopping jobs


def start(data: Mapping[str, Any], **options: Any) -> Dataset:
    """Create and return a dataset with its waiting jobs in one transaction. Takes the options of `create_dataset`."""
    with transaction.atomic():
        dataset = create_dataset(data, **options)
        plan(dataset)
    return dataset


def plan(dataset: Dataset) -> None:
    """Create the missing jobs of a dataset. The jobs that draw pictures are created when their chunk is stored."""
    rows = []
    for split in dataset.splits.own().order_by("ordinal"):
        if split.kind == Split.Kind.IMPORTED and not ingestion.is_read(split):
            rows.append(Job(kind=Job.Kind.IMPORT, dataset=dataset, split=split))
            continue  # it is sealed after all splits are read, because only then the spec is known
        for chunk in split.chunks.filter(made=False).order_by("number"):
            priority = PREVIEW if split.ordinal == 0 and chunk.number == 0 else 0
            rows.append(Job(kind=Job.Kind.ITEMS, dataset=dataset, split=split, chunk=chunk, priority=priority))
        if not split.is_complete:
            rows.append(Job(kind=Job.Kind.SEAL, dataset=dataset, split=split))
        if not split.seen_digest and train_overlap.train_facets(split):
            rows.append(Job(kind=Job.Kind.SEEN, dataset=dataset, split=split))
    Job.objects.bulk_create(rows, ignore_conflicts=True, batch_size=ROWS)
    Turn.objects.offer(dataset.pk)


def cancel(dataset: Dataset) -> bool:
    """Stop making a dataset; return False if it was not being made."""
    with transaction.atomic():
        making = Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.MAKING)
        if making.update(state=Dataset.State.CANCELLED) != 1:
            return False
        _call_off(dataset)
    return True


def resume(dataset: Dataset) -> None:
    """Continue to make a dataset that was cancelled or has failed; raise `WrongVersion`."""
    check_version(dataset)
    stopped = [Dataset.State.CANCELLED, Dataset.State.FAILED]
    with transaction.atomic():
        Dataset.objects.filter(pk=dataset.pk, state__in=stopped).update(state=Dataset.State.MAKING, error="")
        dataset.splits.filter(state=Split.State.FAILED).update(state=Split.State.MAKING)
        left = dataset.jobs.filter(state__in=[Job.State.CANCELLED, Job.State.FAILED, Job.State.WAITING])
        left.exclude(kind=Job.Kind.DELETE).start_over()
        plan(dataset)
    dataset.refresh_from_db()


def retry(job: Job) -> bool:
    """Try a failed job again and continue its dataset; return False if this is not possible; raise `WrongVersion`."""
    check_version(job.dataset)
    with transaction.atomic():
        failed = Job.objects.filter(pk=job.pk, state=Job.State.FAILED, dataset__state__in=RETRIED_IN)
        if failed.start_over() != 1:
            return False
        Dataset.objects.filter(pk=job.dataset_id).update(state=Dataset.State.MAKING, error="")
        Split.objects.filter(jobs=job.pk, state=Split.State.FAILED).update(state=Split.State.MAKING)
        plan(job.dataset)
    return True


def delete(dataset: Dataset) -> None:
    """Start deleting a dataset in any state. From now on nobody sees it. Raise `Referred` if something needs it."""
    with transaction.atomic():
        Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.DELETING)
        extension_points.check_unreferred(dataset)
        extension_points.release(dataset.splits.all())
        _call_off(dataset)
        Job.objects.bulk_create([Job(kind=Job.Kind.DELETE, dataset=dataset)], ignore_conflicts=True)
        deletions = dataset.jobs.filter(kind=Job.Kind.DELETE, state__in=[Job.State.FAILED, Job.State.CANCELLED])
        deletions.start_over()
        Turn.objects.offer(dataset.pk)
    dataset.refresh_from_db()


def _call_off(dataset: Dataset) -> None:
    unfinished = dataset.jobs.exclude(kind=Job.Kind.DELETE).filter(state__in=[Job.State.WAITING, Job.State.RUNNING])
    unfinished.update(state=Job.State.CANCELLED, **leases.FREE, finished=Now())


def derive(parent: Split, *, name: str, recipe: Recipe) -> Split:
    """Create and return a derived split. A small one is made at once; a large one waits for a background process.

    Raises `BadRecipe`. Then nothing is stored.
    """
    return _derived(question_sets.create(parent, name=name, recipe=recipe))


def shift_counts(dataset: Dataset, shift: CountShift, *, suffix: str = "") -> list[Split]:
    return [_derived(job) for job in count_shifts.create(dataset, [shift], suffix=suffix)]


def _derived(job: Job) -> Split:
    split = job.split
    assert split is not None
    if split.questions > question_sets.AT_ONCE:
        RUNNER.wake()
    else:
        RUNNER.run_now(job)
    return Split.objects.for_browse().get(pk=split.pk)


def resume_set(split: Split) -> Job:
    """Make a question set that is not complete wait again, and return its job; raise `SetNotMade` if it has none."""
    job = split.jobs.filter(kind=Job.Kind.DERIVE).select_related(*RUNNER.related).first()
    if job is None:
        raise SetNotMade(f"It was partly deleted. Delete the rest: python manage.py delete {split}")
    with transaction.atomic():
        stopped = Job.objects.filter(pk=job.pk).exclude(state__in=[Job.State.RUNNING, Job.State.DONE])
        if stopped.start_over():
            Split.objects.filter(pk=split.pk, state=Split.State.FAILED).update(state=Split.State.WAITING)
            Turn.objects.offer(job.dataset_id)
    return job


def finish_set(job: Job, *, watch: Callable[[Job], object] = runner.nothing) -> None:
    """Make a question set in this process, or wait for another process that makes it.

    `watch` is called with the job again and again until the set is complete; an exception from it ends the waiting.

    Raises
    ------
    SetNotMade
        With the message of the job.
    KeyboardInterrupt
        If this process was asked to stop.
    """
    split = job.split
    assert split is not None
    while not Split.objects.filter(pk=split.pk, state=Split.State.COMPLETE).exists():
        if graceful_shutdown.is_asked():
            raise KeyboardInterrupt
        if not RUNNER.run_now(job):
            RUNNER.recover()  # a process that was killed may still hold it
            time.sleep(IDLE)
        found = Job.objects.filter(pk=job.pk).first()
        if found is None or found.state in (Job.State.FAILED, Job.State.CANCELLED):
            raise SetNotMade(
                "The set was deleted meanwhile." if found is None else found.message or "It was cancelled."
            )
        watch(found)


def check_version(dataset: Dataset) -> None:
    """Raise `WrongVersion` unless the dataset was started with this version of the engine."""
    if dataset.engine_version != ENGINE_VERSION:
        raise WrongVersion(
            f"Expected a dataset begun by engine {ENGINE_VERSION}, which this {PROGRAM} has, got one begun by "
            f"{dataset.made_by}. The rest would not fit. Continue it with engine {dataset.engine_version}, or delete "
            "it and make it again.",
            where=dataset.slug,
        )


# Claiming and running jobs


def claim(*, dataset: Dataset | None = None) -> Job | None:
    """Claim and return a job of this dataset, or of the dataset whose turn it is; return None if there is none."""
    shortage = files.disk_shortage()
    if shortage:
        scheduler.note_shortage(shortage)
    if graceful_shutdown.is_asked() or (shortage and dataset is not None and dataset.state != Dataset.State.DELETING):
        return None
    if dataset is not None:
        return scheduler.claim_of(dataset.pk, RUNNER.take)
    return scheduler.claim(RUNNER.take, deletions=bool(shortage))


def work(*, dataset: Dataset | None = None, keep_going: Callable[[], bool] = lambda: True) -> int:
    return RUNNER.work(claim=functools.partial(claim, dataset=dataset), keep_going=keep_going)


def _fail_dataset(job: Job, message: str) -> None:
    """Mark the split and the dataset of a failed job as failed."""
    if job.kind != Job.Kind.SEEN:  # the split is already sealed, and stays complete
        Split.objects.filter(jobs=job.pk).update(state=Split.State.FAILED)
    making = Dataset.objects.filter(pk=job.dataset_id, state=Dataset.State.MAKING)
    making.update(state=Dataset.State.FAILED, error=message)


# Each kind of job


def run_items(job: Job, lease: leases.Lease) -> None:
    """Make a chunk's scenes and questions, and create the jobs that draw its pictures."""
    split, chunk, dataset = job.split, job.chunk, job.dataset
    assert split is not None and chunk is not None
    check_version(dataset)
    Split.objects.filter(pk=split.pk, state=Split.State.WAITING).update(state=Split.State.MAKING)
    part = engine.Chunk(chunk.number, chunk.first_scene, chunk.scenes, chunk.first_question, chunk.questions)
    maker = engine.get_maker(dataset.world)
    items = maker.make(dataset.read_spec(), split.name, part, secret=split.secret_bytes)
    ChunkWriter(job).write(_checked(items, lease), then=_image_jobs(job, chunk))


def _checked(items: Iterable[engine.Item], lease: leases.Lease) -> Iterable[engine.Item]:
    for item in items:
        lease.check()
        yield item


def _image_jobs(job: Job, chunk: Chunk) -> list[Job]:
    if not job.dataset.with_images:
        return []
    return [
        Job(
            kind=Job.Kind.IMAGES,
            dataset=job.dataset,
            split=job.split,
            chunk=chunk,
            part=part,
            priority=job.priority if part == 0 else 0,
        )
        for part in range(-(-chunk.scenes // SLICE))
    ]


def run_import(job: Job, lease: leases.Lease) -> None:
    """Sort the files of an import, or read one of its splits. If this is not possible, only the reason is kept."""
    check_version(job.dataset)
    try:
        if job.split is None:
            ingestion.sort(job, lease, then=plan)
        else:
            ingestion.run(job, lease, then=plan)
    except (BadRecord, BadSpec) as error:
        if find_outage(error) is not None:  # an outage: the content of the file is still unknown
            raise
        _refuse_import(job, str(error))


def _refuse_import(job: Job, message: str) -> None:
    with transaction.atomic():
        leases.renew(job)
        imported = Import.objects.get(dataset=job.dataset_id)
        Import.objects.filter(pk=imported.pk).update(message=message)
        delete(job.dataset)


def run_images(job: Job, lease: leases.Lease) -> None:
    """Draw some scenes of a stored chunk."""
    split, chunk, dataset = job.split, job.chunk, job.dataset
    assert split is not None and chunk is not None
    check_version(dataset)
    spec, maker = dataset.read_spec(), engine.get_maker(dataset.world)
    first = chunk.first_scene + job.part * SLICE
    count = min(SLICE, chunk.first_scene + chunk.scenes - first)
    drawn = []
    for stored in load_items(split, first, count):
        lease.check()
        stored.scene.split = split
        try:
            drawing = maker.render(spec, split.name, stored.item)
        except NotDrawn as error:
            raise NotDrawn(error.reason, where=f"{split}, scene {stored.scene.position}") from error
        Pictures(stored.scene).store(*drawing)
        drawn.append(stored.scene)
    with transaction.atomic():
        leases.finish(job)
        Scene.objects.bulk_update(drawn, ["image", "ids_image", "width", "height"])


def run_seal(job: Job, lease: leases.Lease) -> None:
    """Seal a split that has all its rows. The last split completes the dataset."""
    split = job.split
    assert split is not None
    sealed = sealing.seal(split, lease)
    try:
        _store_seal(job, split, sealed)
    except leases.LeaseLost:
        deletion.drop_late_files(job.dataset, index_digest=sealed.index_digest)
        raise
    chart_prerendering.ask(split)


def _store_seal(job: Job, split: Split, sealed: sealing.SealedSplit) -> None:
    dataset, replaced = job.dataset, split.chunks.aggregate(n=Sum("replaced"))["n"]
    with transaction.atomic():
        # This lock makes the jobs check one after the other whether their split is the last.
        list(Dataset.objects.select_for_update().filter(pk=dataset.pk))
        leases.finish(job)
        Split.objects.filter(pk=split.pk).update(state=Split.State.COMPLETE, replaced=replaced or 0, **sealed._asdict())
        _complete(dataset)


def run_seen(job: Job, lease: leases.Lease) -> None:
    """Compare a sealed split with its sealed reference. The last comparison completes the dataset."""
    split = job.split
    assert split is not None
    try:
        digest = train_overlap.compare(split, lease)
        with transaction.atomic():
            list(Dataset.objects.select_for_update().filter(pk=job.dataset_id))
            leases.finish(job)
            Split.objects.filter(pk=split.pk).update(seen_digest=digest)
            _complete(job.dataset)
    except leases.LeaseLost:
        deletion.drop_late_files(job.dataset, index_digest=split.index_digest)
        raise


def run_derive(job: Job, lease: leases.Lease) -> None:
    """Make a derived split. Its dataset is complete before and after this."""
    split = job.split
    assert split is not None
    sealed = question_sets.make(split, lease)
    try:
        with transaction.atomic():
            leases.finish(job)
            Split.objects.filter(pk=split.pk).update(state=Split.State.COMPLETE, **sealed._asdict())
    except leases.LeaseLost:
        question_sets.drop_late_index(sealed.index_digest)
        raise
    chart_prerendering.ask(split)


def _complete(dataset: Dataset) -> None:
    splits = list(dataset.splits.own())
    # If lost pictures of complete splits are drawn again, jobs are unfinished too. Derived splits do not count.
    unfinished = dataset.jobs.exclude(kind=Job.Kind.DERIVE).exclude(state=Job.State.DONE)
    if unfinished.exists() or not all(split.is_complete for split in splits):
        return
    fingerprint = dataset_fingerprint({split.name: split.fingerprint for split in splits})
    making = Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.MAKING)
    making.update(state=Dataset.State.COMPLETE, completed=Coalesce("completed", Now()), fingerprint=fingerprint)


def run_delete(job: Job, lease: leases.Lease) -> None:
    deletion.remove(job.dataset, check=lease.check)  # this also deletes the row of the job


PERFORMERS: Mapping[Job.Kind, Callable[[Job, leases.Lease], None]] = {
    Job.Kind.ITEMS: run_items,
    Job.Kind.IMPORT: run_import,
    Job.Kind.IMAGES: run_images,
    Job.Kind.SEAL: run_seal,
    Job.Kind.SEEN: run_seen,
    Job.Kind.DERIVE: run_derive,
    Job.Kind.DELETE: run_delete,
}


# Chores of the sweep


def settle() -> int:
    """Mark datasets as failed that have a failed job and no job that runs or can be claimed; return their number.

    This happens if only some of a dataset's failed jobs were tried again.
    """
    making = Dataset.objects.filter(state=Dataset.State.MAKING)
    theirs = Job.objects.filter(dataset=OuterRef("pk"))
    failed = theirs.filter(state=Job.State.FAILED).exclude(kind=Job.Kind.DERIVE).order_by("pk")
    stuck = making.filter(Exists(failed)).exclude(Exists(theirs.filter(state=Job.State.RUNNING)))
    stuck = stuck.exclude(Exists(Job.objects.claimable().filter(dataset=OuterRef("pk"))))
    ended = 0
    for dataset in stuck.annotate(why=Subquery(failed.values("message")[:1])):
        ended += making.filter(pk=dataset.pk).update(state=Dataset.State.FAILED, error=dataset.why)
    return ended


def delete_again() -> int:
    failed = Job.objects.filter(kind=Job.Kind.DELETE, state=Job.State.FAILED, finished__lt=from_now(-DELETED_AGAIN))
    return failed.start_over()


def _chores() -> None:
    settle()
    delete_again()
    scheduler.mend()


RUNNER = runner.register(
    runner.Runner(
        name="datasets",
        model=Job,
        perform=lambda job, lease: PERFORMERS[Job.Kind(job.kind)](job, lease),
        seconds=estimates.seconds_for,
        task="generation.tasks.work",
        queue=GENERATION,
        claim_next=claim,
        related=("dataset", "split__dataset", "chunk__split__dataset"),
        on_failure=_fail_dataset,
        on_loss=lambda job: deletion.drop_late_files(job.dataset),
        chores=_chores,
    )
)
