"""Failed jobs are retried one by one; a dataset fails when only failed jobs and jobs that wait for them are left."""

from collections.abc import Callable

import pytest

from generation.making import dataset_jobs
from generation.models import Dataset, Job, Split

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]


def begin_with_failed_jobs(begin: Begin) -> tuple[Dataset, list[Job]]:
    """Return a failed dataset and its two failed jobs."""
    dataset = begin(splits={"train": {"scenes": 30}, "val": {"scenes": 8}})
    failed = list(dataset.jobs.filter(kind="items").order_by("pk")[:2])
    dataset.jobs.filter(pk__in=[job.pk for job in failed]).update(state="failed", message="it broke", attempts=3)
    Dataset.objects.filter(pk=dataset.pk).update(state="failed", error="it broke")
    Split.objects.filter(dataset=dataset, name="train").update(state="failed")
    return dataset, failed


def test_retrying_all_failed_jobs_completes_the_dataset(begin: Begin) -> None:
    dataset, failed = begin_with_failed_jobs(begin)
    assert all(dataset_jobs.retry(job) for job in failed)
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == "complete"


def test_a_failed_job_is_put_back_only_once(begin: Begin) -> None:
    _, failed = begin_with_failed_jobs(begin)
    assert [dataset_jobs.retry(failed[0]), dataset_jobs.retry(failed[0])] == [True, False]


def test_jobs_of_a_cancelled_dataset_are_not_retried(begin: Begin) -> None:
    dataset, failed = begin_with_failed_jobs(begin)
    Dataset.objects.filter(pk=dataset.pk).update(state="cancelled")
    assert not dataset_jobs.retry(failed[0])
    assert set(dataset.jobs.filter(pk=failed[0].pk).values_list("state", flat=True)) == {"failed"}


def test_a_dataset_whose_jobs_wait_for_a_failed_job_fails(begin: Begin) -> None:
    dataset, failed = begin_with_failed_jobs(begin)
    dataset_jobs.retry(failed[0])
    assert dataset_jobs.settle() == 0  # jobs still wait
    dataset_jobs.work(dataset=dataset)
    assert dataset_jobs.settle() == 1
    dataset.refresh_from_db()
    assert (dataset.state, dataset.error) == ("failed", "it broke")
    assert dataset_jobs.settle() == 0


def test_a_dataset_with_a_running_job_is_not_settled(begin: Begin) -> None:
    _, failed = begin_with_failed_jobs(begin)
    dataset_jobs.retry(failed[0])
    while dataset_jobs.claim() is not None:
        pass
    assert dataset_jobs.settle() == 0
