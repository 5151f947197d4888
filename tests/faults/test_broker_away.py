"""The broker goes away while workers are busy or idle. Work goes on meanwhile, and messages count again afterwards."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.faults.servers import BlackHole, PostgresCluster, RedisProcess
from tests.faults.stack import SPEC, Site

SMALL = {**SPEC, "scenes_per_chunk": 30, "splits": {"train": {"scenes": 30}}}
SOON = 15.0  # seconds within which work must go on
STOPPED, KILLED, PAUSED, SILENT = "stopped", "killed", "paused", "silent"
KINDS = (STOPPED, KILLED, PAUSED, SILENT)


@contextmanager
def away(server: RedisProcess, kind: str) -> Iterator[None]:
    """Take Redis away: stopped, killed, paused, or replaced by a server that never answers."""
    assert server.process is not None
    if kind == PAUSED:
        server.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            server.process.send_signal(signal.SIGCONT)
        return
    if kind == STOPPED:
        server.process.terminate()
        server.process.wait()
    else:
        server.kill()
    if kind == SILENT:
        with BlackHole(server.port):
            yield
    else:
        yield
    server.start()


def begin_and_wait(site: Site, slug: str) -> None:
    """Begin a dataset and wait until it is complete, which must be soon."""
    site.begin(SMALL, slug=slug, images=False)
    assert site.wait_for_end(slug, seconds=SOON) == ("complete", "")


def test_workers_go_on_stop_and_start_while_redis_is_silent_and_when_it_is_back(
    services_site: Site, redis_process: RedisProcess
) -> None:
    site = services_site
    site.environment.update(FAULTS_PACE="0.05")
    site.begin({**SPEC, "splits": {"train": {"scenes": 600}}}, images=False)
    site.start("generation")
    site.wait_until(lambda: site.jobs() > 0, what="the first job")
    with away(redis_process, SILENT):
        begin_and_wait(site, "meanwhile")
        begun = time.monotonic()
        site.stop("generation")
        assert time.monotonic() - begun < 10
        site.start("generation")
        heartbeat = "SELECT 1 FROM generation_heartbeat WHERE queues = 'generation'"
        site.wait_until(lambda: site.ask(heartbeat), what="the worker to start")
        begin_and_wait(site, "started")
    begin_and_wait(site, "afterwards")
    assert site.processes["generation"].starts == 1


@pytest.mark.full
@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
@pytest.mark.parametrize("seconds", [3, 40, 180])
@pytest.mark.parametrize("kind", KINDS)
def test_work_goes_on_during_and_after_an_outage_of_the_broker(
    services_site: Site, redis_process: RedisProcess, kind: str, seconds: float, busy: bool
) -> None:
    site = services_site
    site.environment.update(FAULTS_PACE="0.05")
    site.start("generation")
    site.wait_for_workers()
    if busy:
        site.begin({**SPEC, "splits": {"train": {"scenes": 400 + 90 * int(seconds)}}}, images=False)
        site.wait_until(lambda: site.jobs() > 0, what="the first job")
    before = site.jobs()
    begun = time.monotonic()
    with away(redis_process, kind):
        if busy:
            site.wait_until(lambda: site.jobs() > before + 2, what="jobs to be done meanwhile", seconds=SOON)
        else:
            begin_and_wait(site, "meanwhile")
        time.sleep(max(0.0, seconds - (time.monotonic() - begun)))
    done = site.jobs()
    if busy:
        site.wait_until(lambda: site.jobs() > done, what="jobs to be done afterwards", seconds=SOON)
    begin_and_wait(site, "afterwards")
    assert site.processes["generation"].starts == 1


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_two_hosts_work_while_the_broker_is_away(services_site: Site, redis_process: RedisProcess, kind: str) -> None:
    first = services_site
    first.environment.update(SECRET_KEY="s" * 50, FAULTS_PACE="0.05")
    folder = first.folder.with_name("second")
    more = {"VAR_DIR": str(folder), "FAULTS_HOST": "second"}
    second = Site("services", folder, first.environment | more, database=first.database, bucket=first.bucket)
    first.environment["FAULTS_HOST"] = "first"
    try:
        first.begin({**SPEC, "splits": {"train": {"scenes": 9000}}}, images=False)
        for host in (first, second):
            host.start("generation")
        done = "SELECT DISTINCT split_part(worker, ':', 1) FROM generation_job WHERE state = 'done' AND finished > %s"

        def wait_for_both() -> None:
            [(now,)] = first.ask("SELECT now()")
            both = {("first",), ("second",)}
            first.wait_until(lambda: set(first.ask(done, now)) == both, what="jobs on both hosts", seconds=60)

        wait_for_both()
        with away(redis_process, kind):
            time.sleep(20)
            wait_for_both()
            time.sleep(20)
        wait_for_both()
        begin_and_wait(first, "afterwards")
        assert first.processes["generation"].starts == second.processes["generation"].starts == 1
    finally:
        second.end()


ROLES = ("web", "generation", "default", "beat")
MOST_LINES = {"web": 12, "generation": 12, "default": 14, "beat": 4}  # two for each outage in each of its processes


def new_lines(site: Site, seen: dict[str, int]) -> dict[str, list[str]]:
    """Return the lines that each process has logged since the last call."""
    found = {}
    for role in ROLES:
        lines = site.processes[role].log.read_text().splitlines()
        found[role], seen[role] = lines[seen.get(role, 0) :], len(lines)
    return found


@pytest.mark.full
def test_an_outage_writes_a_few_lines(
    stoppable_site: Site, cluster: PostgresCluster, redis_process: RedisProcess
) -> None:
    site = stoppable_site
    site.environment.update(FAULTS_PACE="0.05", FAULTS_LEASE="6", FAULTS_HEARTBEAT="1", FAULTS_WAIT="2")
    site.begin({**SPEC, "splits": {"train": {"scenes": 9000}}}, images=False)
    site.start(*ROLES)
    site.wait_for_web("/datasets/")
    site.wait_until(lambda: site.jobs() > 2, what="the first jobs")
    time.sleep(3)
    seen: dict[str, int] = {}
    new_lines(site, seen)

    def visit(seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for path in ("/", "/datasets/", "/health/", "/health/ready/"):
                site.get(path)

    with away(redis_process, STOPPED):
        visit(20)
    visit(12)
    of_redis = new_lines(site, seen)
    cluster.stop()
    visit(20)
    cluster.start()
    done = site.jobs()
    site.wait_until(lambda: site.jobs() > done + 1, what="more jobs", seconds=60)
    visit(5)
    of_database = new_lines(site, seen)
    for what, lines in (("Redis", of_redis), ("the database", of_database)):
        for role, written in lines.items():
            text = "\n".join(written)
            assert len(written) <= MOST_LINES[role] and "Traceback" not in text, f"{role}, {what}:\n{text}"
        for role in ("generation", "default", "web"):
            assert any(f"No longer waiting for {what}, after" in line for line in lines[role]), (
                role,
                what,
                lines[role],
            )
