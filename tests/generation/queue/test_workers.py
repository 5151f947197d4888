"""Celery workers find jobs without messages, and record heartbeats."""

import signal
import time
from collections.abc import Callable

import pytest

from generation import tasks
from generation.making.progress import making_of
from generation.models import Dataset, Heartbeat, from_now
from generation.queue import workers
from tests.generation.conftest import Child

Begin = Callable[..., Dataset]


def wait_for(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "waited 60 s in vain"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_finds_jobs_without_a_message_and_records_heartbeats(
    made: Dataset, begin: Begin, child: Child
) -> None:
    dataset = begin("again")
    options = ["--concurrency", "2", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    worker = child(
        "-m", "celery", "--app", "webapp", "worker", "--queues", "generation", "--hostname", "generation@here", *options
    )
    wait_for(lambda: Dataset.objects.get(pk=dataset.pk).state == "complete")
    row = Heartbeat.objects.alive().get()
    assert (row.name, row.pid, row.queues) == ("generation@here", worker.pid, "generation")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert Dataset.objects.get(pk=dataset.pk).fingerprint == made.fingerprint
    assert not Heartbeat.objects.alive().exists()


@pytest.mark.django_db
def test_a_worker_without_recent_heartbeat_is_not_alive() -> None:
    workers.beat(name="one", queues="generation")
    workers.beat(name="two", queues="default")
    Heartbeat.objects.filter(name="two").update(seen=from_now(-100))
    assert [row.name for row in Heartbeat.objects.alive()] == ["one"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("queues", "alone"),
    [("default", True), ("regeneration", True), ("generation", False), ("default,generation", False)],
)
def test_a_dataset_is_alone_unless_a_worker_reads_its_queue(begin: Begin, queues: str, alone: bool) -> None:
    dataset = begin()
    workers.beat(name="one", queues=queues)
    assert making_of(dataset).is_alone == alone


@pytest.mark.django_db
def test_each_worker_has_one_heartbeat_row_and_old_rows_are_deleted() -> None:
    workers.beat(name="one", queues="generation")
    Heartbeat.objects.update(seen=from_now(-2 * workers.FORGOTTEN))
    workers.beat(name="two", queues="generation")
    workers.beat(name="two", queues="generation")
    assert [row.name for row in Heartbeat.objects.all()] == ["two"]


@pytest.mark.django_db
def test_the_task_runs_all_jobs_of_a_dataset(begin: Begin) -> None:
    dataset = begin()
    tasks.work()
    dataset.refresh_from_db()
    assert dataset.state == "complete"
    assert (tasks.work.name, tasks.sweep.name) == ("generation.tasks.work", "generation.tasks.sweep")
