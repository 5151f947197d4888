"""The order of jobs: the most urgent job first, then the dataset that was served longest ago."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Subquery

from generation.making import dataset_jobs as jobs
from generation.models import Dataset, Job, Turn, from_now
from generation.models.jobs import NEVER
from generation.queue import leases, scheduler
from tests.proof import size

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]
CLAIMS = 3


def test_many_datasets_take_turns(begin: Begin) -> None:
    datasets = size(30, least=8)
    for number in range(datasets):
        begin(f"rows-{number}", scenes_per_chunk=1, splits={"train": {"scenes": 3}}, images=False)
    served: Counter[int] = Counter()
    while (job := jobs.claim()) is not None:
        jobs.RUNNER.run(job)
        served[job.dataset_id] += 1
        busy = Dataset.objects.filter(state="making").values_list("pk", flat=True)
        counts = [served[pk] for pk in busy]
        assert max(counts, default=0) - min(counts, default=0) <= 1
    assert set(served.values()) == {4} and len(served) == datasets
    assert not Dataset.objects.exclude(state="complete").exists()


def test_a_new_dataset_is_served_next(begin: Begin) -> None:
    begin("long", scenes_per_chunk=1, splits={"train": {"scenes": 50}}, images=False)
    for _ in range(5):
        run()
    begin("late", scenes_per_chunk=1, splits={"train": {"scenes": 2}}, images=False)
    assert [run().dataset.slug for _ in range(6)] == ["late", "long", "late", "long", "late", "long"]
    assert Dataset.objects.get(slug="late").state == "complete"


def run() -> Job:
    job = jobs.claim()
    assert job is not None
    jobs.RUNNER.run(job)
    return job


# A slow reference -----------------------------------------------------------------------------------------------


def test_claims_have_the_same_order_as_a_slow_reference(begin: Begin) -> None:
    for number in range(6):
        splits = {"train": {"scenes": 3}, "val": {"scenes": 2}}
        begin(f"rows-{number}", scenes_per_chunk=1, splits=splits)
    for case in range(size(600, name="orders of claims against an obvious twin", least=8, most=8)):
        shuffle(random.Random(case))
        with transaction.atomic():
            for _ in range(CLAIMS):
                wanted, job = find_next_jobs()[:1], jobs.claim()
                assert wanted == ([] if job is None else [job.pk]), case
            transaction.set_rollback(True)


def test_claims_after_random_events_have_the_same_order_as_the_query_over_all_jobs(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "FIRST_WAIT", 3600.0)
    monkeypatch.setattr(leases, "LONGEST_WAIT", 3600.0)
    chance, held = random.Random(15), []
    for step in range(size(4000, name="steps of a queue against the query over all its jobs", least=80, most=80)):
        act = chance.choice(
            ["begin", "claim", "claim", "claim", "end", "end", "error", "away", "crash", "cancel", "resume"]
        )
        datasets = list(Dataset.objects.order_by("pk"))
        if act == "begin" and len(datasets) < 8:
            splits = {"train": {"scenes": chance.randrange(1, 4)}, "val": {"scenes": chance.randrange(1, 3)}}
            begin(f"rows-{step}", scenes_per_chunk=1, splits=splits, images=chance.random() < 0.5)
        elif act == "claim":
            assert check_claim(held), step
        elif act == "cancel" and datasets and chance.random() < 0.3:
            jobs.cancel(chance.choice(datasets))
        elif act == "resume" and datasets:
            jobs.resume(chance.choice(datasets))
        elif held:
            end_job(held.pop(chance.randrange(len(held))), act)
        if chance.random() < 0.1:
            Job.objects.filter(not_before__isnull=False).update(not_before=from_now(-1))
            scheduler.mend()


def check_claim(held: list[Job]) -> bool:
    """Claim a job, and return whether the query over all jobs gives the same one."""
    wanted, job = find_next_in_all_jobs(), jobs.claim()
    if job is not None:
        held.append(job)
    return wanted == (None if job is None else job.pk)


def end_job(job: Job, act: str) -> None:
    """End a claimed job: run it, or release it after an error, an outage or a crash."""
    if act == "error":
        leases.release_for_retry(job)
    elif act == "away":
        leases.release_to_wait(job, message="away")
    elif act == "crash" and not job.crashes:
        leases.release_after_crash(job, message="crashed")
    else:
        jobs.RUNNER.run(job)


def find_next_in_all_jobs() -> int | None:
    """Return the key of the next job, found by a query that reads all jobs, as before datasets had rows of turns."""
    claimable = Job.objects.claimable()
    begun = Job.objects.filter(dataset=OuterRef("pk"), started__isnull=False).order_by("-started")
    urgent = claimable.filter(dataset=OuterRef("pk")).order_by("-priority")
    turn = (
        Dataset.objects.filter(Exists(claimable.filter(dataset=OuterRef("pk"))))
        .annotate(urgency=Subquery(urgent.values("priority")[:1]), served=Subquery(begun.values("started")[:1]))
        .order_by("-urgency", F("served").asc(nulls_first=True), "pk")
        .first()
    )
    return (
        None
        if turn is None
        else claimable.filter(dataset=turn).order_by("-priority", "pk").values_list("pk", flat=True).first()
    )


def shuffle(chance: random.Random) -> None:
    """Give datasets and jobs random states, and jobs random start times and priorities."""
    for dataset in Dataset.objects.all():
        state = chance.choice(["making", "making", "making", "complete", "cancelled", "failed", "deleting"])
        done = {"fingerprint": "0" * 64, "completed": from_now(0)} if state == "complete" else {}
        Dataset.objects.filter(pk=dataset.pk).update(state=state, **done)
        if state == "deleting":
            Job.objects.get_or_create(dataset=dataset, kind=Job.Kind.DELETE)
    for job in Job.objects.all():
        state = chance.choice(["waiting", "waiting", "running", "done", "done", "failed", "cancelled"])
        held = {"token": "t", "lease": from_now(60)} if state == "running" else {"token": "", "lease": None}
        begun = chance.choice([None, None, from_now(-chance.randrange(1000))])
        priority = chance.choice([0, 0, 0, jobs.PREVIEW])
        Job.objects.filter(pk=job.pk).update(state=state, started=begun, priority=priority, **held)
    for dataset in Dataset.objects.annotate(last=Max("jobs__started")):
        Turn.objects.offer(dataset.pk)
        Turn.objects.filter(pk=dataset.pk).update(served=dataset.last or NEVER)


def find_next_jobs() -> list[int]:
    """Return the keys of the next dataset's waiting jobs in order, found by reading every row."""
    rows = list(Job.objects.select_related("dataset"))
    left = {job.split_id for job in rows if job.kind != "seal" and job.state != "done"}

    def can_run(job: Job) -> bool:
        wanted = "deleting" if job.kind == "delete" else "making"
        ready = job.kind != "seal" or job.split_id not in left
        return job.state == "waiting" and job.dataset.state == wanted and ready

    waiting = [job for job in rows if can_run(job)]
    if not waiting:
        return []
    begun: dict[int, float] = {}
    for job in rows:
        if job.started is not None:
            begun[job.dataset_id] = max(begun.get(job.dataset_id, 0.0), job.started.timestamp())

    def turn(pk: int) -> tuple[float, float, int]:
        urgency = max(job.priority for job in waiting if job.dataset_id == pk)
        return -urgency, begun.get(pk, 0.0), pk

    first = min({job.dataset_id for job in waiting}, key=turn)
    of_first = [job for job in waiting if job.dataset_id == first]
    return [job.pk for job in sorted(of_first, key=lambda job: (-job.priority, job.pk))]
