"""The broker loses its messages. Messages are only hints, therefore the run still ends."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
import redis

from tests.faults.servers import RedisProcess
from tests.faults.stack import SPEC, Site
from tests.proof import size

HURRIED = {"FAULTS_PACE": "0.02", "FAULTS_HEARTBEAT": "0.5", "FAULTS_SLICE": "0.3"}  # many messages, and short jobs
JOBS = 27  # of SPEC: 12 of items, 12 of images, 3 of seals
Undisturbed = Callable[[dict[str, Any]], str]
WAKE = "from generation.making import dataset_jobs as jobs; jobs.RUNNER.wake()"


def moments() -> list[int]:
    """Return the numbers of finished jobs at which messages get lost."""
    return sorted(random.Random().sample(range(1, JOBS - 3), size(20, least=2)))


def check_end(site: Site, undisturbed: Undisturbed) -> None:
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    assert all(process.starts == 1 for process in site.processes.values()), site.report()
    site.check_stored_once()


@pytest.mark.full
def test_a_run_ends_although_the_brokers_file_is_deleted(embedded_site: Site, undisturbed: Undisturbed) -> None:
    site = embedded_site
    broker = site.folder / "broker.sqlite3"

    def message_was_delivered() -> bool:
        with closing(sqlite3.connect(f"file:{broker}?mode=ro", uri=True)) as file:
            return file.execute("SELECT count(*) FROM kombu_message WHERE NOT visible").fetchone() != (0,)

    site.environment.update(HURRIED)
    site.begin()
    site.start("generation")
    for number, moment in enumerate(moments()):
        site.wait_until(lambda moment=moment: site.jobs() >= moment, what=f"{moment} jobs")
        for suffix in ("",) if number % 2 else ("", "-wal", "-shm"):
            broker.with_name(broker.name + suffix).unlink(missing_ok=True)
    check_end(site, undisturbed)
    broker.unlink(missing_ok=True)

    def wake_and_check() -> bool:
        site.python(WAKE)  # another process makes a new file; the worker that already waits must see this file
        return message_was_delivered()

    site.wait_until(wake_and_check, what="a message in the new file to be taken")  # one of many, as one may be lost


@pytest.mark.full
def test_a_run_ends_although_redis_loses_all_messages(
    services_site: Site, redis_process: RedisProcess, undisturbed: Undisturbed
) -> None:
    site = services_site
    site.environment.update(HURRIED)
    site.begin()
    site.start("generation")
    with redis.from_url(redis_process.url) as client:
        for moment in moments():
            site.wait_until(lambda moment=moment: site.jobs() >= moment, what=f"{moment} jobs")
            client.flushall()
    check_end(site, undisturbed)
