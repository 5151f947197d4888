"""The state of a job after its process died, after an outage, or after its process was asked to stop."""

import errno
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import botocore.exceptions
import psycopg
import pytest
import redis
from django.conf import LazySettings
from django.db import OperationalError, ProgrammingError
from django.utils import timezone

from generation.engine.errors import BadRecord
from generation.making import dataset_jobs
from generation.making.chunk_writer import ChunkWriter
from generation.making.progress import making_of
from generation.models import Dataset, Job, JobEvent, from_now
from generation.queue import graceful_shutdown, job_processes, leases, runner, scheduler, wakeups
from generation.queue.transient_errors import find_outage
from generation.splits import sealing
from generation.storage.pictures import Pictures

pytestmark = pytest.mark.django_db
Begin = Callable[..., Dataset]


def claim() -> Job:
    job = dataset_jobs.claim()
    assert job is not None
    return job


def row(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def count(event: str) -> int:
    return sum(JobEvent.objects.filter(kind="datasets", event=event).values_list("count", flat=True))


def crash(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease=from_now(-1), worker="elsewhere:1")
    assert dataset_jobs.RUNNER.recover() == 1


def end_pauses() -> None:
    """Move the time of the next retry of each job into the past."""
    Job.objects.filter(not_before__isnull=False).update(not_before=from_now(-1))
    scheduler.mend()


# Crashes


def test_a_crash_uses_no_attempt_and_the_job_is_retried_at_once(begin: Begin) -> None:
    begin()
    job = claim()
    crash(job)
    assert (row(job).state, row(job).attempts, row(job).crashes) == ("waiting", 0, 1)
    assert claim().pk == job.pk
    assert count("crashed") == 1


def test_pauses_between_crashes_grow_up_to_a_limit(begin: Begin) -> None:
    dataset = begin(splits={"train": {"scenes": 5}})
    pauses = []
    for _ in range(12):
        crash(job := claim())
        until = row(job).not_before
        assert until is not None
        pauses.append((until - timezone.now()).total_seconds())
        if len(pauses) > 1:
            assert dataset_jobs.claim() is None
        end_pauses()
    expected = [0, 1, 2, 4, 8, 16, 32, 64, 120, 120, 120, 120]
    assert pauses == pytest.approx(expected, abs=10), pauses
    assert dataset.jobs.filter(kind="items", attempts=0, crashes=12).exists()


def test_a_job_fails_with_a_message_after_the_limit_of_crashes(begin: Begin) -> None:
    dataset = begin(splits={"train": {"scenes": 5}})
    for _ in range(leases.CRASHES):
        end_pauses()
        crash(claim())
    dataset.refresh_from_db()
    assert dataset.state == "failed"
    assert dataset.error == (
        f"items of rows/train batch 0: the process that did it stopped answering. That happened {leases.CRASHES} "
        "times. A signal, such as 11, or too little memory may end each of them: the log says which on elsewhere:1."
    )
    assert dataset.splits.get(name="train").state == "failed"
    assert dataset_jobs.claim() is None
    dataset_jobs.resume(dataset)
    assert claim().crashes == 0


def test_crashes_and_errors_are_counted_separately(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = begin(splits={"train": {"scenes": 5}})
    for _ in range(5):
        crash(claim())
        end_pauses()
    monkeypatch.setattr(ChunkWriter, "write", lambda *_, **__: 1 / 0)
    for left in (2, 1, 0):
        assert dataset.jobs.filter(kind="items", state="waiting").count() == (1 if left < 3 else 0)
        dataset_jobs.RUNNER.run(claim())
    dataset.refresh_from_db()
    assert dataset.state == "failed" and dataset.error.endswith("It was tried 3 times.")
    assert (count("crashed"), count("retried"), count("failed")) == (5, 2, 1)


# Outages

CLIENT = botocore.exceptions.ClientError
OUTAGES = [
    OSError(errno.EROFS, "Read-only file system", "/media/x"),
    OSError(errno.ENOSPC, "No space left on device"),
    ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
    ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
    TimeoutError("timed out"),
    botocore.exceptions.EndpointConnectionError(endpoint_url="http://s3"),
    botocore.exceptions.ConnectTimeoutError(endpoint_url="http://s3"),
    botocore.exceptions.ReadTimeoutError(endpoint_url="http://s3"),
    CLIENT({"Error": {"Code": "NoSuchBucket"}, "ResponseMetadata": {"HTTPStatusCode": 404}}, "PutObject"),
    CLIENT({"Error": {"Code": "InternalError"}, "ResponseMetadata": {"HTTPStatusCode": 500}}, "PutObject"),
    CLIENT({"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPStatusCode": 503}}, "PutObject"),
    redis.ConnectionError("refused"),
    redis.BusyLoadingError("Redis is loading the dataset in memory"),
    redis.exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'."),
    redis.ReadOnlyError("You can't write against a read only replica."),
    redis.exceptions.MasterDownError("Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
]
FAULTS = [
    ZeroDivisionError("division by zero"),
    FileNotFoundError(errno.ENOENT, "No such file", "/elsewhere"),
    OSError(errno.EACCES, "Permission denied", "/elsewhere"),
    MemoryError(),
    redis.ResponseError("wrong number of arguments for 'set' command"),
    CLIENT({"Error": {"Code": "NoSuchKey"}, "ResponseMetadata": {"HTTPStatusCode": 400}}, "PutObject"),
]


@pytest.fixture(autouse=True)
def media(settings: LazySettings) -> Path:
    """Create and give the folder of stored files."""
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("error", OUTAGES, ids=lambda error: f"{type(error).__name__}-{error}"[:50])
def test_an_outage_is_found_directly_and_as_the_cause_of_another_error(error: Exception) -> None:
    assert find_outage(error) is not None
    caused = BadRecord("cannot be read", where="a")
    caused.__cause__ = error
    assert find_outage(caused) is not None


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: f"{type(error).__name__}-{error}"[:50])
def test_an_error_of_the_job_is_no_outage(error: Exception) -> None:
    assert find_outage(error) is None


def test_a_media_folder_without_permission_is_an_outage(media: Path) -> None:
    assert find_outage(PermissionError(errno.EACCES, "Permission denied", str(media / "datasets"))) is not None
    assert find_outage(NotADirectoryError(errno.ENOTDIR, "Not a directory", str(media / "datasets"))) is not None


def test_a_missing_media_folder_is_an_outage(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "unmounted"
    assert find_outage(FileNotFoundError(errno.ENOENT, "No such file", "a")) is not None


def error_of_database(cause: BaseException, kind: type[Exception] = OperationalError) -> Exception:
    error = kind(str(cause))
    error.__cause__ = cause
    return error


def test_a_lost_database_connection_is_an_outage_and_a_wrong_statement_is_none() -> None:
    refused = psycopg.OperationalError("connection refused")
    assert find_outage(error_of_database(refused)) is not None
    assert find_outage(error_of_database(psycopg.errors.AdminShutdown("terminating"))) is not None
    assert find_outage(error_of_database(psycopg.errors.DeadlockDetected("deadlock"))) is not None
    assert find_outage(error_of_database(psycopg.errors.UndefinedTable("none"), ProgrammingError)) is None
    with sqlite3.connect(":memory:") as database, pytest.raises(sqlite3.OperationalError) as caught:
        database.execute("SELECT * FROM nothing")
    assert find_outage(error_of_database(caught.value)) is None


def test_an_outage_uses_no_attempt_and_its_short_pause_is_shown(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = begin(splits={"train": {"scenes": 5}})

    def raise_outage(*_: Any) -> None:
        raise botocore.exceptions.EndpointConnectionError(endpoint_url="http://s3.example.org")

    dataset_jobs.RUNNER.run(claim())
    pauses = []
    with monkeypatch.context() as patched:
        patched.setattr(Pictures, "store", raise_outage)
        for _ in range(8):
            assert dataset_jobs.work() == 0
            job = dataset.jobs.get(kind="images")
            assert (job.state, job.attempts) == ("waiting", 0) and job.not_before is not None
            pauses.append((job.not_before - timezone.now()).total_seconds())
            note = making_of(dataset).note
            assert note.startswith("Waiting for the store of files: Could not connect to the endpoint URL: ")
            assert note.endswith(f"It is tried again at {timezone.localtime(job.not_before):%H:%M:%S}.")
            end_pauses()
    assert pauses == pytest.approx([5, *[10] * 7], abs=2)
    assert max(pauses) + job_processes.POLL < 15  # so work goes on this soon after an outage of any length
    assert count("waited") == 8
    dataset_jobs.work()
    dataset.refresh_from_db()
    assert (dataset.state, dataset.error) == ("complete", "")


def test_a_paused_job_does_not_block_other_datasets(begin: Begin) -> None:
    begin("one", splits={"train": {"scenes": 5}})
    begin("two", splits={"train": {"scenes": 5}})
    Job.objects.filter(dataset__slug="one").update(not_before=from_now(60))
    assert claim().dataset.slug == "two"
    assert dataset_jobs.claim() is None


def test_a_lost_lease_is_counted(begin: Begin) -> None:
    begin()
    crash(old := claim())
    dataset_jobs.RUNNER.run(claim())
    dataset_jobs.RUNNER.run(old)
    assert count("lost") == 1


TASKS = {
    "datasets": "generation.tasks.work",
    "exports": "generation.tasks.export",
    "shortcut reports": "generation.tasks.report",
    "skipped-step reports": "generation.tasks.ablate",
    "submissions": "webapp.leaderboards.tasks.score",
    "trainings": "webapp.leaderboards.tasks.train",
}


def test_every_kind_of_job_is_retried_by_the_same_rules() -> None:
    assert {kind.name: kind.task for kind in runner.RUNNERS.values()} == TASKS


@pytest.mark.parametrize(("name", "task"), TASKS.items())
def test_each_task_wakes_the_processes_of_its_queue(name: str, task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from webapp.celery import app

    app.loader.import_default_modules()
    rung: list[str] = []
    monkeypatch.setattr(wakeups, "ring", rung.append)
    app.tasks[task]()
    assert rung == [runner.RUNNERS[name].queue]


def test_a_runner_claims_jobs_of_its_own_kind(begin: Begin) -> None:
    dataset = begin()
    claimed = dataset_jobs.RUNNER.claim()
    assert claimed is not None and (claimed.dataset_id, claimed.state) == (dataset.pk, "running")


# Being asked to stop


@pytest.fixture
def stop_requested(settings: LazySettings) -> Iterator[None]:
    """Request the process to stop, and clear the request afterwards."""
    settings.STOP_SECONDS = 50
    graceful_shutdown.ask()
    yield
    graceful_shutdown.forget()


def test_a_process_that_is_asked_to_stop_claims_no_job(begin: Begin, stop_requested: None) -> None:
    begin()
    assert dataset_jobs.claim() is None
    assert dataset_jobs.work() == 0


def test_a_seal_job_that_is_asked_to_stop_is_released_without_an_attempt(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = begin(splits={"train": {"scenes": 5}})
    while (job := claim()).kind != "seal":
        dataset_jobs.RUNNER.run(job)
    sealed = sealing.seal

    def stop_then_seal(*given: Any) -> Any:
        graceful_shutdown.ask()
        return sealed(*given)

    monkeypatch.setattr(sealing, "seal", stop_then_seal)
    try:
        assert dataset_jobs.RUNNER.run(job) is False
    finally:
        graceful_shutdown.forget()
    assert (row(job).state, row(job).attempts, row(job).crashes) == ("waiting", 0, 0)
    assert count("released") == 1
    monkeypatch.undo()
    dataset_jobs.work()
    dataset.refresh_from_db()


@pytest.mark.django_db(transaction=True)
def test_a_job_that_ignores_the_request_to_stop_is_released_in_time(
    begin: Begin, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin()
    job = claim()
    settings.STOP_SECONDS = 1
    monkeypatch.setattr(leases, "LOOKING", 0.05)
    with leases.hold(job) as lease:
        graceful_shutdown.ask()
        try:
            assert lease.lost.wait(20)
        finally:
            graceful_shutdown.forget()
    assert (row(job).state, row(job).attempts, row(job).crashes) == ("waiting", 0, 0)


@pytest.mark.django_db(transaction=True)
def test_the_end_of_a_run_is_written_once_the_database_is_back(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    begin()
    job = claim()
    back = threading.Event()
    write = leases.release_to_wait

    def raise_outage(*_: Any, **__: Any) -> None:
        raise error_of_database(psycopg.OperationalError("the server went away"))

    def fail_once_then_release(*given: Any, **more: Any) -> bool:
        if not back.is_set():
            back.set()
            raise_outage()
        return write(*given, **more)

    monkeypatch.setattr(leases, "release_to_wait", fail_once_then_release)
    monkeypatch.setattr(ChunkWriter, "write", raise_outage)
    dataset_jobs.RUNNER.run(job)
    assert (row(job).state, row(job).attempts, row(job).crashes, row(job).waits) == ("waiting", 0, 0, 1)
    assert row(job).message.startswith("Waiting for the database: the server went away.")
