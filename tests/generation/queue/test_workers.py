"""Celery's processes: they find work by themselves, and say that they are alive."""

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
def test_a_worker_finds_work_without_any_message_and_beats(made: Dataset, begin: Begin, child: Child) -> None:
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
def test_a_worker_that_fell_silent_is_not_alive() -> None:
    workers.beat(name="one", queues="generation")
    workers.beat(name="two", queues="default")
    Heartbeat.objects.filter(name="two").update(seen=from_now(-100))
    assert [row.name for row in Heartbeat.objects.alive()] == ["one"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("queues", "alone"),
    [("default", True), ("regeneration", True), ("generation", False), ("default,generation", False)],
)
def test_a_dataset_waits_alone_unless_somebody_reads_its_queue(begin: Begin, queues: str, alone: bool) -> None:
    dataset = begin()
    workers.beat(name="one", queues=queues)
    assert making_of(dataset).is_alone == alone


@pytest.mark.django_db
def test_a_beat_is_one_row_a_worker_and_forgets_the_dead() -> None:
    workers.beat(name="one", queues="generation")
    Heartbeat.objects.update(seen=from_now(-2 * workers.FORGOTTEN))
    workers.beat(name="two", queues="generation")
    workers.beat(name="two", queues="generation")
    assert [row.name for row in Heartbeat.objects.all()] == ["two"]


@pytest.mark.django_db
def test_the_tasks_are_the_jobs_work(begin: Begin) -> None:
    dataset = begin()
    tasks.work()
    dataset.refresh_from_db()
    assert dataset.state == "complete"
    assert (tasks.work.name, tasks.sweep.name) == ("generation.tasks.work", "generation.tasks.sweep")
