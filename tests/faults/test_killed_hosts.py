"""Two hosts with separate folders share PostgreSQL, Redis and a bucket: they recover from every fault without help.

FAULTS_SEED, which the test prints, sets the disturbances: random at full size, always the same in smaller runs.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests import proof
from tests.faults.conftest import SETTINGS
from tests.faults.servers import RedisProcess
from tests.faults.stack import SPEC, Site
from tests.faults.test_kills import JOBS, chance
from tests.faults.test_refused_files import Store, s3, store  # noqa: F401 - fixtures
from tests.webapp.commands import environment_of

Undisturbed = Callable[[dict[str, Any]], str]
LEASE = 4.0  # seconds
DISTURBANCES = 23
ROLES = ("generation", "default", "beat")
CHILD, WORKER, HOST, PAUSE, OUTAGE, BROKER = "child", "worker", "host", "pause", "outage", "broker"
# At full size, each kind happens at least once. Smaller runs have one killed child, one dead host and one pause.
FEW = [CHILD, HOST, PAUSE]
MANY = [*5 * [CHILD], *5 * [WORKER], *4 * [HOST], *4 * [PAUSE], *3 * [OUTAGE], *2 * [BROKER]]


@pytest.fixture
def hosts(services_site: Site, tmp_path: Path) -> Iterator[list[Site]]:
    """Give two hosts, not started, that share the database, Redis and the bucket."""
    first = services_site
    folder = tmp_path / "second" / "var"
    folder.mkdir(parents=True)
    shared = {name: first.environment[name] for name in ("DATABASE_URL", "REDIS_URL")}
    assert first.bucket is not None
    environment = environment_of(folder, **SETTINGS, **shared, **first.bucket.environment, SECRET_KEY="s" * 50)
    second = Site(first.stack, folder, environment, database=first.database, bucket=first.bucket)
    first.environment["SECRET_KEY"] = "s" * 50
    for number, host in enumerate((first, second)):
        # A host cannot see the processes of another host: it notices their death only when their leases end.
        host.environment.update(FAULTS_HOST=f"host-{number}", FAULTS_LEASE=str(LEASE), FAULTS_HEARTBEAT="0.5")
        host.environment.update(FAULTS_PACE="0.03", FAULTS_WAIT="0.3", FAULTS_PAUSE="1", AWS_MAX_ATTEMPTS="1")
    yield [first, second]
    second.end()


def disturbances(draw: random.Random) -> list[str]:
    """Return the disturbances in random order."""
    found = list(MANY if proof.SHARE == 1 else FEW)
    draw.shuffle(found)
    assert proof.SHARE < 1 or len(found) == DISTURBANCES
    return found


class Harm:
    """Does harm to the hosts and to the services that they share."""

    def __init__(self, hosts: list[Site], bucket: Store, broker: RedisProcess, draw: random.Random) -> None:
        self.hosts, self.bucket, self.broker, self.draw = hosts, bucket, broker, draw

    def do(self, what: str) -> None:
        """Do one disturbance to a random host or to a shared service."""
        host = self.draw.choice(self.hosts)
        {
            CHILD: lambda: self._kill_child(host),
            WORKER: lambda: host.kill("generation"),
            HOST: lambda: [host.kill(role) for role in ROLES],
            PAUSE: lambda: self._pause(host),
            OUTAGE: self._take_store_away,
            BROKER: self._restart_broker,
        }[what]()

    def _kill_child(self, host: Site) -> None:
        children = sorted(host.children("generation"))
        if children:
            with suppress(ProcessLookupError):
                os.kill(self.draw.choice(children), signal.SIGKILL)

    def _pause(self, host: Site) -> None:
        """Stop a worker for longer than its leases last, then continue it."""
        host.send("generation", signal.SIGSTOP)
        self.wait(LEASE * 1.5)
        host.send("generation", signal.SIGCONT)

    def _take_store_away(self) -> None:
        self.bucket.stop()
        self.wait(3)
        self.bucket.start()

    def _restart_broker(self) -> None:
        self.broker.kill()
        self.wait(proof.size(40, least=3))
        self.broker.start()

    def wait_for_jobs(self, count: int) -> None:
        """Wait until `count` jobs are done, so that disturbances are spread over the whole making of the dataset."""
        first, second = self.hosts

        def are_done() -> bool:
            second.revive()
            return first.jobs() >= count or first.state().state != "making"

        first.wait_until(are_done, what=f"{count} jobs")

    def wait(self, seconds: float) -> None:
        """Wait, and restart processes meanwhile, as docker does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for host in self.hosts:
                host.revive()
            time.sleep(0.05)


@pytest.mark.full
def test_two_hosts_recover_from_kills_pauses_and_outages_without_help(
    hosts: list[Site],
    store: Store,  # noqa: F811
    redis_process: RedisProcess,
    undisturbed: Undisturbed,
) -> None:
    first, second = hosts
    draw = chance("two hosts")
    first.begin(SPEC)
    for host in hosts:
        host.start(*ROLES)
    harm = Harm(hosts, store, redis_process, draw)
    planned = disturbances(draw)
    for number, what in enumerate(planned):
        harm.wait_for_jobs(JOBS * number // len(planned) + 1)
        sys.stdout.write(f"{number} {what}, {first.jobs()} jobs done\n")
        harm.do(what)
        harm.wait(draw.uniform(0, 1))
        assert first.state().state in ("making", "complete"), first.state()

    def has_ended() -> bool:
        second.revive()
        return first.state().state != "making"

    first.wait_until(has_ended, what="the end")
    assert first.state() == ("complete", "")
    assert first.fingerprint() == undisturbed(SPEC)
    for host in hosts:
        host.stop()
    first.check_stored_once()


def test_the_beat_process_of_a_new_host_makes_its_folder(services_site: Site) -> None:
    """If database, broker and key are elsewhere, VAR_DIR does not exist before the first start."""
    services_site.environment["SECRET_KEY"] = "s" * 50
    assert not services_site.folder.exists()
    services_site.start("beat", kept=False)
    log = services_site.processes["beat"].log
    services_site.wait_until(lambda: "nothing left to do" in log.read_text(), what="the clock's only message")
    assert services_site.folder.exists() and not services_site.processes["beat"].has_ended, services_site.report()
