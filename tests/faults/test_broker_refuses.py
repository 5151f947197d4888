"""The broker answers, but refuses messages: Redis is full, loads its data or is a replica, or a disk is read-only."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import redis

from tests.faults.disks import small_disk
from tests.faults.servers import RedisProcess, free_port
from tests.faults.stack import Site
from tests.faults.test_broker_away import begin_and_wait

FULL, LOADING, REPLICA = "full", "loading", "replica"
MOST_BEGINS = 2  # lines of a worker with one process that does jobs: one of it, one of the listener
# Each state is entered and left by commands of Redis, in the process that sends the messages.
SEND = """
import redis
from generation.making.dataset_jobs import RUNNER
from generation.queue import outages
outages.FLICKER = 0
with redis.from_url(given["url"]) as client:
    for begin, end in given["states"]:
        client.execute_command(*begin)
        for _ in range(3):
            RUNNER.wake()
        client.execute_command(*end)
        for _ in range(3):
            RUNNER.wake()
    print(client.llen("generation"))
"""
SEND_WITH_DISK = """
import subprocess
from generation.making.dataset_jobs import RUNNER
from webapp.running.housekeeping import drop_delivered_messages, prepare_broker
RUNNER.wake()
for command in given:
    subprocess.run(command, check=True)
    prepare_broker()
    drop_delivered_messages()
    for _ in range(3):
        RUNNER.wake()
"""


def states() -> dict[str, tuple[list[str], list[str]]]:
    """Return the commands by which Redis begins and ends to refuse messages."""
    set_memory = ["CONFIG", "SET", "maxmemory"]
    return {
        FULL: ([*set_memory, "1"], [*set_memory, "0"]),
        REPLICA: (["REPLICAOF", "127.0.0.1", str(free_port())], ["REPLICAOF", "NO", "ONE"]),
    }


def is_loading(client: redis.Redis) -> bool:
    try:
        return not client.ping()
    except redis.BusyLoadingError:
        return True
    except redis.ConnectionError:  # it does not listen yet
        return False


@contextmanager
def refusing(server: RedisProcess, kind: str) -> Iterator[None]:
    """Let Redis refuse messages: without memory for more, as a read-only replica, or while it loads its data."""
    with redis.from_url(server.url) as client:
        if kind != LOADING:
            begin, end = states()[kind]
            client.execute_command(*begin)
            yield
            client.execute_command(*end)
            return
        with client.pipeline(transaction=False) as commands:
            for number in range(100_000):
                commands.set(f"key-{number}", "x")
            commands.execute()
        server.kill()
        server.start("--key-load-delay", "500", wait=False)  # microseconds: it loads for 50 s
        end = time.monotonic() + 20
        while not is_loading(client):
            assert time.monotonic() < end, "Redis does not load its data"
            time.sleep(0.05)
        yield
        server.kill()
        server.start()


@contextmanager
def read_only(disk: Path) -> Iterator[None]:
    """Make a disk read-only as soon as no process writes to it."""

    def mount(option: str) -> bool:
        return subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], capture_output=True).returncode == 0

    while not mount("ro"):
        time.sleep(0.02)
    yield
    assert mount("rw")


@pytest.fixture
def broker_disk(embedded_site: Site, tmp_path: Path) -> Iterator[Path]:
    """Give a disk on which the embedded site has its broker's file alone."""
    with small_disk(tmp_path / "disk", megabytes=4) as disk:
        (embedded_site.folder / "broker.sqlite3").symlink_to(disk / "broker.sqlite3")
        yield disk


def check_lines(lines: list[str], what: str, *, count: int) -> None:
    """Check that lines of a log tell the begin and the end of so many outages, and nothing else."""
    assert len(lines) == 2 * count, lines
    assert all(f"Waiting for {what}: " in line for line in lines[::2]), lines
    assert all(f"No longer waiting for {what}, after" in line for line in lines[1::2]), lines


@pytest.mark.full
def test_a_process_whose_messages_redis_refuses_logs_one_line_and_one_at_the_end(
    services_site: Site, redis_process: RedisProcess
) -> None:
    given = {"url": redis_process.url, "states": list(states().values())}
    sent, log = services_site.python_and_log(SEND, given)
    assert sent.split()[-1] == "6"
    check_lines(log.splitlines(), "Redis", count=2)


def test_a_process_that_cannot_write_the_broker_file_logs_one_line_and_one_at_the_end(
    embedded_site: Site, broker_disk: Path
) -> None:
    given = [["mount", "-o", f"remount,{option}", str(broker_disk)] for option in ("ro", "rw")]
    _, log = embedded_site.python_and_log(SEND_WITH_DISK, given)
    check_lines(log.splitlines(), "the file of the broker", count=1)


def check_work(site: Site, refuse: Callable[[], AbstractContextManager[None]], what: str) -> None:
    """Check that work is done while messages are refused, also by a worker that starts then, and what the log says."""
    site.environment["GENERATION_PROCESSES"] = "1"
    site.start("generation")
    site.wait_for_workers()
    with refuse():
        begin_and_wait(site, "meanwhile")
        time.sleep(5)
    begin_and_wait(site, "afterwards")
    log = site.processes["generation"].log
    site.wait_until(lambda: "No longer waiting" in log.read_text(), what="the end of the outage in the log")
    lines = [line for line in log.read_text().splitlines() if " INFO " not in line]
    assert sum(f"Waiting for {what}" in line for line in lines) <= MOST_BEGINS, lines
    assert all(f"aiting for {what}" in line for line in lines), lines
    site.stop("generation")
    with refuse():
        site.start("generation")
        begin_and_wait(site, "started")
        assert site.processes["generation"].starts == 1


@pytest.mark.full
@pytest.mark.parametrize("kind", [FULL, LOADING, REPLICA])
def test_work_goes_on_while_redis_refuses_messages(services_site: Site, redis_process: RedisProcess, kind: str) -> None:
    check_work(services_site, lambda: refusing(redis_process, kind), "Redis")


@pytest.mark.full
def test_work_goes_on_while_the_broker_file_cannot_be_written(embedded_site: Site, broker_disk: Path) -> None:
    check_work(embedded_site, lambda: read_only(broker_disk), "the file of the broker")
