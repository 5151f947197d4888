"""Whose turn it is: the most urgent work first, then the dataset that was served longest ago."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from generation import jobs
from generation.models import Dataset, Job, from_now
from tests.proof import size

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]
DATASETS = 30


def test_many_datasets_take_turns(begin: Begin) -> None:
    for number in range(DATASETS):
        begin(f"rows-{number}", scenes_per_chunk=1, splits={"train": {"scenes": 3}}, images=False)
    served: Counter[int] = Counter()
    while (job := jobs.claim()) is not None:
        jobs.run(job)
        served[job.dataset_id] += 1
        busy = Dataset.objects.filter(state="making").values_list("pk", flat=True)
        counts = [served[pk] for pk in busy]
        assert max(counts, default=0) - min(counts, default=0) <= 1
    assert set(served.values()) == {4} and len(served) == DATASETS
    assert not Dataset.objects.exclude(state="complete").exists()


def test_a_dataset_that_comes_late_is_served_at_once(begin: Begin) -> None:
    begin("long", scenes_per_chunk=1, splits={"train": {"scenes": 50}}, images=False)
    for _ in range(5):
        run()
    begin("late", scenes_per_chunk=1, splits={"train": {"scenes": 2}}, images=False)
    assert [run().dataset.slug for _ in range(6)] == ["late", "long", "late", "long", "late", "long"]
    assert Dataset.objects.get(slug="late").state == "complete"


def run() -> Job:
    job = jobs.claim()
    assert job is not None
    jobs.run(job)
    return job


# A slow twin -----------------------------------------------------------------------------------------------


def test_the_order_of_claims_is_that_of_an_obvious_twin(begin: Begin) -> None:
    for number in range(6):
        splits = {"train": {"scenes": 3}, "val": {"scenes": 2}}
        begin(f"rows-{number}", scenes_per_chunk=1, splits=splits)
    for case in range(size(600, name="orders of claims against an obvious twin", least=25)):
        shuffle(random.Random(case))
        assert [job.pk for job in jobs._candidates(Job.objects.claimable())] == expected(), case


def shuffle(chance: random.Random) -> None:
    """Let datasets, splits and jobs be in any states, begun at any moments."""
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


def expected() -> list[int]:
    """Return the jobs that are next, found by looking at every row."""
    rows = list(Job.objects.select_related("dataset"))
    left = {job.split_id for job in rows if job.kind != "seal" and job.state != "done"}

    def may_be_done(job: Job) -> bool:
        wanted = "deleting" if job.kind == "delete" else "making"
        ready = job.kind != "seal" or job.split_id not in left
        return job.state == "waiting" and job.dataset.state == wanted and ready

    waiting = [job for job in rows if may_be_done(job)]
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
    theirs = [job for job in waiting if job.dataset_id == first]
    return [job.pk for job in sorted(theirs, key=lambda job: (-job.priority, job.pk))][: jobs.CANDIDATES]
