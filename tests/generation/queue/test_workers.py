"""Celery workers find jobs without messages, and record heartbeats."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from generation import tasks
from generation.making.progress import making_of
from generation.models import Dataset, Heartbeat, from_now
from generation.queue import leases, wakeups, workers
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
    worker = child("-m", "webapp.running.worker", "generation", "--processes", "2")
    wait_for(lambda: Dataset.objects.get(pk=dataset.pk).state == "complete")
    row = Heartbeat.objects.alive().get()
    assert (row.name, row.pid, row.queues) == (
        f"generation@{leases.host_name()}:{worker.pid}",
        worker.pid,
        "generation",
    )
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
def test_the_row_of_a_worker_that_was_killed_on_this_host_is_deleted() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    gone, other = f"default@{leases.host_name()}:{ended.pid}", f"default@elsewhere/pid:[1]:{ended.pid}"
    for name in (gone, other, "generation@here"):  # the last one is of an earlier release
        workers.beat(name=name, queues="default")
    alive = workers.Beating(queue="generation", processes=2)
    workers.beat(name=alive.name, queues="generation", processes=2)
    assert {row.name for row in Heartbeat.objects.all()} == {other, "generation@here", alive.name}


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_workers_of_a_queue_on_one_host_have_a_row_each(child: Child) -> None:
    two = [child("-m", "webapp.running.worker", "generation", "--processes", str(size)) for size in (1, 2)]
    wait_for(lambda: Heartbeat.objects.count() == 3)  # one is the row of the sweep
    rows = Heartbeat.objects.alive().values_list("pid", "processes")
    assert sorted(rows) == sorted((worker.pid, size) for worker, size in zip(two, (1, 2), strict=True))
    two[0].send_signal(signal.SIGTERM)
    assert two[0].wait(60) == 0
    assert [row.pid for row in Heartbeat.objects.alive()] == [two[1].pid]


@pytest.fixture
def in_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Make this process part of a worker for datasets, and give the end of a pipe for signals."""
    monkeypatch.setattr(wakeups, "_queue", "")
    monkeypatch.setattr(wakeups, "_pipe", (-1, -1))
    wakeups.open_pipe("generation")
    signals = os.pipe()
    yield signals[0]
    for end in (*wakeups._pipe, *signals):
        os.close(end)


def seconds_asleep(signals: int) -> float:
    begun = time.monotonic()
    wakeups.wait(0.5, signals=signals)
    return time.monotonic() - begun


def test_a_message_wakes_one_idle_process_however_often_it_came(in_worker: int) -> None:
    for _ in range(100_000):  # more than the pipe can hold
        wakeups.ring("generation")
    tasks.work()
    assert seconds_asleep(in_worker) < 0.4
    assert seconds_asleep(in_worker) >= 0.4
    assert (tasks.work.name, tasks.sweep.name) == ("generation.tasks.work", "generation.tasks.sweep")


def test_only_work_of_its_queue_wakes_a_worker(in_worker: int) -> None:
    assert not wakeups.ring("default")
    tasks.report()
    assert seconds_asleep(in_worker) >= 0.4
