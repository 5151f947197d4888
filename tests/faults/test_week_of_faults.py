"""A week of faults: a site in use goes through every fault, and nobody touches it.

Nothing is lost, and every page and all work are back within 15 seconds of each fault. The walk at full size begins with
an upgrade of the data of commit 39e7cc8, and has Redis gone for 3 minutes, PostgreSQL gone for 1 minute, 200 slow
readers and 50 people. The small one begins with an empty site, and has 3 seconds, 20 readers and 5 people.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.earlier_release import unpack_archive
from tests.faults.conftest import SETTINGS
from tests.faults.disks import fill, small_disk
from tests.faults.servers import PostgresCluster, RedisProcess
from tests.faults.slow_sockets import slow_sockets
from tests.faults.stack import Site
from tests.faults.week import ROLES, SPEC, Week
from tests.webapp.commands import ROOT, environment_of

SOON = 15.0  # seconds within which everything must be back
ADDRESSES = 50


class Size(NamedTuple):
    """The size of a walk; the times are in seconds."""

    redis: float
    database: float
    readers: int
    reading: float
    disk: float
    people: int
    thinking: tuple[float, float]
    epochs: int
    one_by_one: bool  # whether each process is killed alone
    has_earlier_data: (
        bool  # whether the site begins with the data of an earlier release, which takes a minute to upgrade
    )


SMALL = Size(3, 3, 20, 2, 2, 5, (0.3, 1.0), 200, False, False)
FULL = Size(180, 60, 200, 30, 30, 50, (5.0, 15.0), 3000, True, True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Give the disk of the files."""
    with small_disk(tmp_path / "disk", megabytes=48) as folder:
        yield folder


@pytest.fixture
def hosts(cluster: PostgresCluster, redis_process: RedisProcess, disk: Path, tmp_path: Path) -> Iterator[list[Site]]:
    """Give two hosts, not started, that share an empty PostgreSQL, a Redis and the disk of the files."""
    made = []
    for number in range(2):
        folder = tmp_path / f"host-{number}" / "var"
        folder.mkdir(parents=True)
        (folder / "media").symlink_to(disk, target_is_directory=True)
        shared = {"DATABASE_URL": cluster.url, "REDIS_URL": redis_process.url, "SECRET_KEY": "s" * 50}
        environment = environment_of(folder, **SETTINGS, **shared, FAULTS_HOST=f"host-{number}", TRAINING_THREADS="1")
        environment |= {"DJANGO_SETTINGS_MODULE": "tests.faults.download_settings", "FAULTS_PACE": "0.02"}
        environment |= {"GENERATION_PROCESSES": "1"}
        made.append(Site("services", folder, environment, database=cluster.url))
    yield made
    for host in made:
        host.end()


def upgrade_from_earlier_release(site: Site, folder: Path) -> None:
    """Fill the empty database and the disk with the data of an earlier release, and upgrade them."""
    steps = [f"fill={unpack_archive(folder)}", "upgrade"]
    command = [sys.executable, str(ROOT / "tests/webapp/backups/earlier_site.py"), *steps]
    done = subprocess.run(command, cwd=ROOT, env=site.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Faults:
    """The faults of the walk, in order. Each one ends before its function returns."""

    def __init__(self, week: Week, size: Size, *, cluster: PostgresCluster, redis: RedisProcess, disk: Path) -> None:
        self.week, self.size, self.cluster, self.redis, self.disk = week, size, cluster, redis, disk
        self.took: dict[str, float] = {}  # seconds until everything is back, for each fault

    def all(self) -> dict[str, Callable[[], None]]:
        return {
            "Redis is gone": self.redis_is_gone,
            "PostgreSQL is gone": self.postgresql_is_gone,
            "slow readers": self.slow_readers,
            **{
                f"kill -9 of {' and '.join(names)} on host {host}": self.kill(host, names)
                for host, names in self.kills()
            },
            "the disk is full": self.disk_is_full,
        }

    def kills(self) -> list[tuple[int, tuple[str, ...]]]:
        alone = [(0, (role,)) for role in ("web", "beat", *ROLES)] + [(1, (role,)) for role in ROLES]
        return alone if self.size.one_by_one else [(0, ("web",)), (0, ("beat", *ROLES)), (1, ROLES)]

    def measure(self, name: str) -> None:
        self.took[name] = self.week.seconds_until_back()
        sys.stdout.write(f"{self.took[name]:6.1f} s until everything is back: {name}\n")

    def redis_is_gone(self) -> None:
        self.redis.kill()
        assert self.week.order_dataset(), "without Redis, no dataset can be ordered"
        self.week.live(self.size.redis)
        self.redis.start()

    def postgresql_is_gone(self) -> None:
        self.cluster.stop(mode="immediate")
        assert not self.week.order_dataset()
        self.week.live(self.size.database)
        self.cluster.start()

    def slow_readers(self) -> None:
        with slow_sockets(self.week.first.port, addresses=ADDRESSES, count=self.size.readers):
            self.measure("while readers are slow")
            self.week.live(self.size.reading)

    def kill(self, host: int, names: tuple[str, ...]) -> Callable[[], None]:
        def kill_now() -> None:
            for name in names:
                self.week.hosts[host].kill(name)

        return kill_now

    def disk_is_full(self) -> None:
        ballast = fill(self.disk)
        assert not self.week.order_dataset(), "a dataset was ordered that does not fit on the disk"
        self.week.live(self.size.disk)
        ballast.unlink()


@pytest.mark.full  # each fault has smaller tests of its own
@pytest.mark.parametrize("size", [SMALL, FULL], ids=["small", "full"])
def test_a_site_in_use_goes_through_every_fault_and_loses_nothing(
    hosts: list[Site],
    cluster: PostgresCluster,
    redis_process: RedisProcess,
    disk: Path,
    migrated_postgres_url: str,
    undisturbed: Callable[[dict[str, Any]], str],
    tmp_path: Path,
    size: Size,
) -> None:
    if size.has_earlier_data:
        upgrade_from_earlier_release(hosts[0], tmp_path)
    else:
        cluster.copy_from(migrated_postgres_url)
    week = Week(hosts)
    week.begin(people=size.people, thinking=size.thinking, epochs=size.epochs)
    faults = Faults(week, size, cluster=cluster, redis=redis_process, disk=disk)
    for name, happen in faults.all().items():
        assert week.order_dataset()
        week.order_training()
        happen()
        faults.measure(name)
    week.check_nothing_is_lost(undisturbed(SPEC))
    # In the small walk, the machine also runs other tests, so the time that it needs to start processes is added.
    limit = SOON if size is FULL else SOON + week.start_seconds
    assert {name: seconds for name, seconds in faults.took.items() if seconds > limit} == {}
