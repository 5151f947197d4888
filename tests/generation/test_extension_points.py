"""A dataset that something refers to is never deleted."""

from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command

from generation import extension_points
from generation.making import dataset_jobs
from generation.models import Dataset
from tests.referring.models import Study

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]


def test_a_dataset_that_a_study_refers_to_is_not_deleted(begin: Begin) -> None:
    dataset = begin()
    Study.objects.create(dataset=dataset, title="one")
    with pytest.raises(extension_points.Referred, match=r"got one that study one refers to\. Archive it instead"):
        dataset_jobs.delete(dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.MAKING
    assert not dataset.jobs.exclude(state="waiting").exists()


def test_the_command_says_why_it_does_not_delete(begin: Begin) -> None:
    Study.objects.create(dataset=begin(), title="one")
    with pytest.raises(CommandError, match="rows: Expected a dataset that nothing refers to") as refused:
        call_command("delete", "rows")
    assert refused.value.returncode == 2


def test_many_referrers_are_counted(begin: Begin) -> None:
    dataset = begin()
    for number in range(7):
        Study.objects.create(dataset=dataset, title=str(number))
    with pytest.raises(extension_points.Referred, match=r"study 4 and 2 more refer to"):
        dataset_jobs.delete(dataset)


def test_a_dataset_without_referrers_is_deleted(begin: Begin) -> None:
    dataset = begin()
    dataset_jobs.delete(dataset)
    dataset_jobs.work(dataset=dataset)
    assert not Dataset.objects.filter(pk=dataset.pk).exists()
