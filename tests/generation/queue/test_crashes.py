"""Processes are killed in the middle of each kind of job, and the finished dataset still has the same content hash."""

import dataclasses
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from generation.making import dataset_jobs
from generation.models import Dataset, Job, Question, Scene
from generation.queue import graceful_shutdown, leases, runner
from generation.storage import files
from tests.generation.conftest import MANAGE, Child

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
Begin = Callable[..., Dataset]


@pytest.fixture
def expected(begin: Begin) -> str:
    """Give the fingerprint of a dataset that is made without any interruption."""
    dataset = begin("expected", scenes_per_chunk=150, questions_per_scene=50, splits={"train": {"scenes": 150}})
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    return dataset.fingerprint


@pytest.mark.parametrize(
    ("place", "kind", "scenes"),
    [
        ("items:140", "items", 98),
        pytest.param("images:6", "images", 150, marks=pytest.mark.full),
        pytest.param("seal:6", "seal", 150, marks=pytest.mark.full),
    ],
)
def test_a_dataset_whose_process_is_killed_gets_the_same_fingerprint(
    expected: str, begin: Begin, child: Child, place: str, kind: str, scenes: int
) -> None:
    dataset = begin("rows", scenes_per_chunk=150, questions_per_scene=50, splits={"train": {"scenes": 150}})
    killed = child(MANAGE, "work", "--dataset", "rows", environment={"FAKE_WORLD_DIES_AT": place})
    assert killed.wait(60) == -signal.SIGKILL
    running_job = dataset.jobs.get(state="running")
    assert running_job.kind == kind
    assert Scene.objects.filter(split__dataset=dataset).count() == scenes
    dataset_jobs.RUNNER.recover()
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert (dataset.state, dataset.fingerprint) == ("complete", expected)
    assert Question.objects.filter(split__dataset=dataset).count() == 7500
    found = dataset.jobs.get(pk=running_job.pk)
    assert (found.attempts, found.crashes) == (1, 1)
    folder = files.local_path("index")
    assert folder is not None and not list(folder.glob(".split*"))


def test_a_deletion_whose_process_was_killed_is_finished_later(made: Dataset, child: Child, monkeypatch: Any) -> None:
    images = files.local_path(f"datasets/{made.pk}")
    dataset_jobs.delete(made)
    job = dataset_jobs.claim()
    assert job is not None and job.kind == "delete"

    def raise_system_exit(*_: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(files, "drop_folder", raise_system_exit)
        patched.setattr(
            leases, "release_untried", lambda job: False
        )  # as if the process died before it could release the job
        with pytest.raises(SystemExit):
            dataset_jobs.RUNNER.run(job)
    Job.objects.filter(pk=job.pk).update(worker=f"{leases.host_name()}:{2**22 + 1}")
    assert not Dataset.objects.visible_to(None).exists()
    finishing = child(MANAGE, "delete", made.slug)
    assert finishing.wait(60) == 0
    assert not Dataset.objects.exists() and not Job.objects.exists()
    assert images is not None and not images.exists()


def test_a_process_that_gets_sigterm_releases_its_job(begin: Begin, child: Child) -> None:
    dataset = begin("rows", scenes_per_chunk=2000, questions_per_scene=10, splits={"train": {"scenes": 2000}})
    process = child(MANAGE, "work", "--dataset", "rows")
    _wait_for(lambda: dataset.jobs.filter(state="running").exists())
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    job = dataset.jobs.get(kind="items")
    assert (job.state, job.attempts) in {("waiting", 0), ("done", 1)}


def test_a_sigterm_during_a_query_still_stops_the_process(begin: Begin, monkeypatch: Any) -> None:
    dataset = begin("rows")
    connection.ensure_connection()
    connection.connection.create_function("asked", 0, lambda: os.kill(os.getpid(), signal.SIGTERM))

    def send_sigterm_in_a_query(job: Job, lease: leases.Lease) -> None:
        connection.cursor().execute("SELECT asked()")

    monkeypatch.setattr(
        dataset_jobs, "RUNNER", dataclasses.replace(dataset_jobs.RUNNER, perform=send_sigterm_in_a_query)
    )
    call_command("work", "--dataset", "rows")
    assert set(dataset.jobs.values_list("state", "attempts", "token")) == {("waiting", 0, "")}
    assert not graceful_shutdown.is_asked()


def test_a_sigterm_between_claim_and_run_releases_the_job(begin: Begin, monkeypatch: Any) -> None:
    dataset = begin("rows")

    def send_sigterm(job: Job) -> None:
        assert job.state == "running"
        os.kill(os.getpid(), signal.SIGTERM)
        pytest.fail("TERM was not noticed")

    monkeypatch.setattr(runner.Runner, "run", lambda self, job: send_sigterm(job))
    call_command("work", "--dataset", "rows")
    assert set(dataset.jobs.values_list("state", "attempts", "token")) == {("waiting", 0, "")}


@pytest.mark.full
def test_several_processes_make_the_same_dataset_as_one(made: Dataset, begin: Begin, child: Child) -> None:
    dataset = begin("again")
    processes = [child(MANAGE, "work", "--dataset", "again") for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    dataset.refresh_from_db()
    assert dataset.fingerprint == made.fingerprint
    assert set(dataset.jobs.values_list("attempts", flat=True)) == {1}


def test_a_process_without_its_parent_stops(begin: Begin, child: Child) -> None:
    begin("rows")
    process = child(MANAGE, "work", "--dataset", "rows", "--parent", str(os.getpid() + 1))
    assert process.wait(30) == 0
    assert not Scene.objects.exists()


def _wait_for(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "waited 30 s in vain"
        time.sleep(0.02)
