"""Failed jobs are tried again one by one; a dataset of which only failed ones are left has failed."""

from collections.abc import Callable

import pytest

from generation.making import dataset_jobs
from generation.models import Dataset, Job, Split

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]


def broken(begin: Begin) -> tuple[Dataset, list[Job]]:
    """Return a dataset two jobs of which have failed, and those."""
    dataset = begin(splits={"train": {"scenes": 30}, "val": {"scenes": 8}})
    failed = list(dataset.jobs.filter(kind="items").order_by("pk")[:2])
    dataset.jobs.filter(pk__in=[job.pk for job in failed]).update(state="failed", message="it broke", attempts=3)
    Dataset.objects.filter(pk=dataset.pk).update(state="failed", error="it broke")
    Split.objects.filter(dataset=dataset, name="train").update(state="failed")
    return dataset, failed


def test_a_dataset_whose_failed_jobs_are_tried_again_is_completed(begin: Begin) -> None:
    dataset, failed = broken(begin)
    assert all(dataset_jobs.retry(job) for job in failed)
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == "complete"


def test_a_job_is_tried_again_once(begin: Begin) -> None:
    _, failed = broken(begin)
    assert [dataset_jobs.retry(failed[0]), dataset_jobs.retry(failed[0])] == [True, False]


def test_a_cancelled_dataset_is_not_gone_on_with_by_retrying(begin: Begin) -> None:
    dataset, failed = broken(begin)
    Dataset.objects.filter(pk=dataset.pk).update(state="cancelled")
    assert not dataset_jobs.retry(failed[0])
    assert set(dataset.jobs.filter(pk=failed[0].pk).values_list("state", flat=True)) == {"failed"}


def test_what_still_waits_for_a_failed_job_fails_with_it(begin: Begin) -> None:
    dataset, failed = broken(begin)
    dataset_jobs.retry(failed[0])
    assert dataset_jobs.settle() == 0  # there is work
    dataset_jobs.work(dataset=dataset)
    assert dataset_jobs.settle() == 1
    dataset.refresh_from_db()
    assert (dataset.state, dataset.error) == ("failed", "it broke")
    assert dataset_jobs.settle() == 0


def test_a_dataset_with_a_running_job_is_left_alone(begin: Begin) -> None:
    _, failed = broken(begin)
    dataset_jobs.retry(failed[0])
    while dataset_jobs.claim() is not None:
        pass
    assert dataset_jobs.settle() == 0
