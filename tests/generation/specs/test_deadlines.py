"""No job stays in one state forever: a job that hangs fails, and a job that no worker claims is reported."""

import json
import signal
import time
from collections.abc import Callable

import pytest

from generation.making import dataset_jobs
from generation.making.progress import IGNORED, making_of
from generation.models import Dataset, Job, from_now
from generation.queue import leases, workers
from generation.specs import estimates
from tests.generation.conftest import Child

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]

HANG = """
import django; django.setup()
from generation.making import dataset_jobs as jobs
from generation.queue import leases
from generation.models import Job
leases.RENEWAL, leases.GRACE = 0.2, {grace}
def hang(job, lease):
    while True:
        pass
jobs.PERFORMERS = {{**jobs.PERFORMERS, Job.Kind.ITEMS: hang}}
job = jobs.claim()
print(job.pk, flush=True)
jobs.RUNNER.run(job)
"""


def pass_deadline(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(deadline=from_now(-1))


def claim() -> Job:
    job = dataset_jobs.claim()
    assert job is not None
    return job


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_job_that_hangs_while_its_lease_is_renewed_fails_and_its_process_ends(begin: Begin, child: Child) -> None:
    dataset = begin()
    hanging = child("-c", HANG.format(grace=0.5), stdout=-1)
    assert hanging.stdout is not None
    job = Job.objects.get(pk=int(hanging.stdout.readline()))
    first = job.lease
    end = time.monotonic() + 60
    while Job.objects.get(pk=job.pk).lease == first:  # until the lease is renewed
        assert time.monotonic() < end
        time.sleep(0.05)
    dataset_jobs.RUNNER.sweep()
    assert Job.objects.get(pk=job.pk).state == "running"
    pass_deadline(job)
    dataset_jobs.RUNNER.sweep()
    job.refresh_from_db()
    assert (job.state, job.token, job.lease, job.deadline) == ("failed", "", None, None)
    assert "expected an end within" in job.message and "it hangs" in job.message
    assert hanging.wait(60) == leases.HUNG
    dataset.refresh_from_db()
    assert (dataset.state, dataset.error) == ("failed", job.message)
    assert job in making_of(dataset).failures
    assert dataset_jobs.retry(job)
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == "complete"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_process_within_its_grace_time_is_not_ended(begin: Begin, child: Child) -> None:
    begin()
    hanging = child("-c", HANG.format(grace=3600), stdout=-1)
    assert hanging.stdout is not None
    pass_deadline(Job.objects.get(pk=int(hanging.stdout.readline())))
    dataset_jobs.RUNNER.sweep()
    with pytest.raises(TimeoutError):
        wait(hanging, 2)
    hanging.send_signal(signal.SIGKILL)


def wait(process: object, seconds: float) -> None:
    end = time.monotonic() + seconds
    while process.poll() is None:  # type: ignore[attr-defined]
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


def test_a_job_has_a_deadline_while_it_runs(begin: Begin) -> None:
    begin()
    job = claim()
    least, most = from_now(estimates.LEAST - 60), from_now(estimates.LEAST + 3600)
    assert Job.objects.filter(pk=job.pk, deadline__gt=least, deadline__lt=most).exists()
    leases.release_untried(job)
    assert Job.objects.get(pk=job.pk).deadline is None


def test_a_job_that_ends_after_its_deadline_but_before_the_sweep_is_done(begin: Begin) -> None:
    dataset = begin()
    pass_deadline(job := claim())
    dataset_jobs.RUNNER.run(job)
    assert dataset.jobs.get(pk=job.pk).state == "done"


def test_a_job_that_ends_after_the_sweep_failed_it_writes_nothing(begin: Begin) -> None:
    dataset = begin()
    pass_deadline(job := claim())
    assert dataset_jobs.RUNNER.fail_overdue() == 1
    dataset_jobs.RUNNER.run(job)
    assert dataset.jobs.get(pk=job.pk).state == "failed"
    assert not dataset.splits.filter(chunks__made=True).exists()


def test_larger_jobs_get_more_time(begin: Begin) -> None:
    small = begin("small", splits={"train": {"scenes": 1}}).jobs.get(kind="items")
    many = begin("many", scenes_per_chunk=5000, splits={"train": {"scenes": 5000}}).jobs
    large, seal = many.get(kind="items"), many.get(kind="seal")
    assert estimates.LEAST < estimates.seconds_for(small) < estimates.seconds_for(large)
    assert estimates.seconds_for(seal) > estimates.LEAST
    picture = Job(kind="images", dataset=large.dataset, split=large.split, chunk=large.chunk)
    plain = estimates.seconds_for(picture)
    spec = large.dataset.spec_data | {"images": {"width": 1024, "height": 1024, "samples": 4096}}
    picture.split.dataset.spec = json.dumps(spec)
    assert estimates.seconds_for(picture) > 10 * plain


def test_jobs_that_live_workers_do_not_claim_are_reported(begin: Begin) -> None:
    dataset = begin()
    workers.beat(name="one", queues="generation")
    assert not making_of(dataset).is_ignored
    Job.objects.update(created=from_now(-IGNORED - 60))
    assert making_of(dataset).is_ignored
    other = begin("other")
    dataset_jobs.RUNNER.run(claim_of(other))
    assert not making_of(dataset).is_ignored


def claim_of(dataset: Dataset) -> Job:
    job = dataset_jobs.claim(dataset=dataset)
    assert job is not None
    return job
