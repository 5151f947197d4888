"""Processes end without an error if the dataset that they work on is deleted."""

import logging
import os
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from generation.making import dataset_jobs, process_pool
from generation.models import Dataset, Job
from tests.generation import small

pytestmark = pytest.mark.django_db


def delete(dataset: Dataset) -> int:
    """Delete a dataset as another process would."""
    Dataset.objects.filter(pk=dataset.pk).delete()
    return 0


def test_a_process_ends_when_its_dataset_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = small.begun(with_images=False)
    monkeypatch.setattr(dataset_jobs, "work", lambda **options: delete(dataset))
    call_command("work", "--dataset", dataset.slug)
    assert not Dataset.objects.exists()


def test_a_process_that_starts_after_its_dataset_was_deleted_prints_nothing(capsys: Any) -> None:
    call_command("work", "--dataset", "gone", "--parent", str(os.getppid()))
    assert capsys.readouterr() == ("", "")


def test_a_pool_ends_when_its_dataset_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = small.begun(with_images=False)
    monkeypatch.setattr(process_pool.Pool, "_spawn", lambda self: None)
    delete(dataset)
    shown: list[bool] = []
    process_pool.Pool(dataset, size=2).watch(show=lambda: shown.append(True))
    assert shown == [True] and dataset.state == Dataset.State.DELETING


def test_an_error_in_a_job_of_a_deleted_dataset_is_logged_as_info(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    dataset = small.begun(with_images=False)
    job = dataset_jobs.claim(dataset=dataset)
    assert job is not None

    def perform(job: Job, lease: Any) -> None:
        delete(dataset)
        Dataset.objects.get(pk=dataset.pk)

    monkeypatch.setattr(dataset_jobs, "PERFORMERS", {Job.Kind(job.kind): perform})
    with caplog.at_level(logging.INFO):
        assert dataset_jobs.RUNNER.run(job)
    assert [record.levelname for record in caplog.records] == ["INFO"]


@pytest.mark.django_db(transaction=True)
def test_the_database_works_after_an_interrupted_transaction() -> None:
    """After a signal between the first and the last step of `atomic`, the connection stays in the transaction."""
    transaction.atomic().__enter__()
    assert not Dataset.objects.exists()
    process_pool.drop_connection()
    assert not connection.in_atomic_block
    assert not Dataset.objects.exists()
