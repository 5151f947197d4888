"""The disk fills up in the middle of a run: the run reports this, waits, and goes on when there is space again."""

import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import embedded
from tests.faults.disks import fill, small_disk
from tests.faults.stack import SPEC, Site

WAITING = "SELECT message FROM generation_job WHERE state = 'waiting' AND message LIKE 'Waiting for disk space: %'"
Undisturbed = Callable[[dict[str, Any]], str]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Give a folder that is a disk of 8 MB."""
    with small_disk(tmp_path / "disk", megabytes=8) as folder:
        yield folder


def check_end(site: Site, undisturbed: Undisturbed) -> None:
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.check_stored_once()


def fill_during_run(site: Site, name: str, disk: Path) -> Path:
    """Fill the disk at a random moment of a run, while its processes are stopped."""
    moment = random.SystemRandom().randrange(1, 13)
    site.wait_until(lambda: site.jobs() >= moment, what=f"{moment} jobs")
    site.send(name, signal.SIGSTOP)
    ballast = fill(disk)
    site.send(name, signal.SIGCONT)
    return ballast


@pytest.mark.full
@pytest.mark.parametrize("reserve", ["0", "0.002"])
def test_a_run_waits_while_the_disk_of_files_is_full(
    embedded_site: Site, disk: Path, undisturbed: Undisturbed, reserve: str
) -> None:
    site = embedded_site
    (site.folder / "media").symlink_to(disk, target_is_directory=True)
    site.environment.update(FAULTS_PACE="0.02", DISK_RESERVE_GB=reserve)
    site.begin()
    site.start("work")
    ballast = fill_during_run(site, "work", disk)
    site.wait_until(lambda: site.ask(WAITING), what="a job that says why it waits")
    assert site.state() == ("making", "")
    ballast.unlink()
    check_end(site, undisturbed)
    assert site.processes["work"].starts == 1


@pytest.mark.full
def test_a_run_waits_while_the_disk_of_files_and_database_is_full(
    migrated: Path, disk: Path, undisturbed: Undisturbed
) -> None:
    with embedded(migrated, disk / "var") as site:
        site.environment.update(FAULTS_PACE="0.02", FAULTS_LEASE="3", FAULTS_HEARTBEAT="0.5")
        site.begin()
        site.start("generation")
        ballast = fill_during_run(site, "generation", disk)

        def full_disk_is_reported() -> bool:
            """Return whether the row of a job or a new worker reports the full disk.

            The row cannot report it if the database is on the full disk.
            """
            return bool(site.ask(WAITING)) or "is full" in site.manage("work").stderr

        site.wait_until(full_disk_is_reported, what="somebody to say that the disk is full")
        ballast.unlink()
        check_end(site, undisturbed)
        assert site.processes["generation"].starts == 1
