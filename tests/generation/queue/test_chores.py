"""Chores: one process does each when it is due, for the site or on each machine, without messages."""

import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import F
from django.utils import timezone

from generation.models import Heartbeat, from_now
from generation.queue import chores, leases
from generation.queue.chores import Chore
from tests.generation.conftest import Child
from webapp.running import beat, housekeeping


@pytest.fixture
def times() -> list[float]:
    return []


def on(host: str, chore: Chore, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(leases, "host_name", lambda: host)
    return chore.do_if_due()


@pytest.mark.django_db
def test_a_chore_of_the_site_is_done_once_an_hour(times: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    chore = Chore(name="sweeping", act=lambda: times.append(1))
    assert [on(host, chore, monkeypatch) for host in ("one", "two", "one")] == [True, False, False]
    Heartbeat.objects.filter(name="sweeping").update(seen=from_now(-3700))
    assert [on(host, chore, monkeypatch) for host in ("two", "one")] == [True, False]
    assert len(times) == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_new", [True, False])
def test_of_processes_that_look_at_the_same_time_one_does_the_chore(times: list[float], is_new: bool) -> None:
    chore = Chore(name="sweeping", act=lambda: times.append(1))
    if not is_new:
        Heartbeat.objects.create(name="sweeping", host="gone", pid=1, queues="", seen=from_now(-3700))
    barrier = threading.Barrier(6)

    def look(_: int) -> bool:
        try:
            barrier.wait()
            return chore.do_if_due()
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(look, range(6))) == len(times) == 1


@pytest.mark.django_db
def test_each_machine_does_its_own_chore(times: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    chore = Chore(name="sweeping", act=lambda: times.append(1), on_each_machine=True)
    assert [on(host, chore, monkeypatch) for host in ("one", "two", "one", "two")] == [True, True, False, False]


@pytest.mark.django_db
def test_a_chore_that_went_wrong_is_due_again_after_ten_minutes(times: list[float]) -> None:
    def break_off() -> None:
        times.append(1)
        raise OSError("no store")

    chore = Chore(name="sweeping", act=break_off)
    assert not chore.do_if_due() and not chore.do_if_due()
    assert len(times) == 1
    for seconds in (590, 20):
        Heartbeat.objects.update(seen=F("seen") - timedelta(seconds=seconds))
        assert not chore.do_if_due()
    assert len(times) == 2
    assert not Heartbeat.objects.alive().exists()  # the row is no background process


def test_a_process_looks_a_minute_after_its_start_and_then_every_minute(
    times: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chores, "CHORES", {"sweeping": Chore(name="sweeping", act=lambda: None)})
    monkeypatch.setattr(Chore, "do_if_due", lambda chore: times.append(1))
    now = time.monotonic()
    monkeypatch.setattr(chores.time, "monotonic", lambda: now + 90 * len(clock))
    clock: list[int] = []
    rounds = chores.Rounds("default")
    rounds.go()
    assert not times
    for _ in range(2):
        clock.append(1)
        rounds.go()
        rounds.go()
    assert len(times) == 2


def test_housekeeping_is_two_chores() -> None:
    found = {chore.act: chore.on_each_machine for chore in chores.CHORES.values()}
    assert found == {housekeeping.tidy_site: False, housekeeping.tidy_machine: True}


WORKER = """
import django; django.setup()
from generation.queue import chores
chores.LOOK = 0.2
from webapp.running import worker
worker.run({queue!r}, processes=1)
"""


NOBODY = {"REDIS_URL": "redis://127.0.0.1:1"}


def add_old_session() -> None:
    old = timezone.now() - timedelta(days=1)
    Session.objects.create(session_key="old", session_data="", expire_date=old)


def wait_for(true: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "waited 60 s in vain"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_process_for_short_jobs_tidies_the_site_without_messages(child: Child) -> None:
    add_old_session()
    child("-c", WORKER.format(queue="default"), environment=NOBODY)
    wait_for(lambda: not Session.objects.exists())
    assert Heartbeat.objects.filter(name="housekeeping of the site").count() == 1


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_process_for_datasets_tidies_its_machine_without_messages(child: Child) -> None:
    add_old_session()
    child("-c", WORKER.format(queue="generation"), environment=NOBODY)
    wait_for(lambda: Heartbeat.objects.filter(name=f"housekeeping@{leases.host_name()}").exists())
    assert Session.objects.exists()


@pytest.mark.slow
def test_the_process_beat_says_once_that_it_has_nothing_to_do(child: Child) -> None:
    process = child("-m", "webapp.running.beat", stderr=subprocess.PIPE)
    assert process.stderr is not None
    with process.stderr as log:
        assert log.readline().decode().strip() == beat.MESSAGE
        process.terminate()
        assert process.wait(20) == 0
        assert log.read() == b""
