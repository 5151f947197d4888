"""The disk fills up in the middle of a run: the run says so and waits, and goes on once there is space."""

import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import embedded
from tests.faults.stack import SPEC, Site
from tests.services import missing

BLOCK = 4096  # bytes
WAITING = "SELECT message FROM generation_job WHERE state = 'waiting' AND message LIKE 'Waiting for disk space: %'"
Undisturbed = Callable[[dict[str, Any]], str]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Give a folder that is a disk of 8 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=10k", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        missing(f"small disk that can be mounted ({done.stderr.strip()})", "be root, and allowed to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Return a file that takes all that was left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(BLOCK))
            except OSError:
                return ballast


def check_end(site: Site, undisturbed: Undisturbed) -> None:
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.check_stored_once()


def fill_in_mid_run(site: Site, name: str, disk: Path) -> Path:
    """Fill the disk at a random moment of a run, while its processes stand still."""
    moment = random.SystemRandom().randrange(1, 13)
    site.wait_until(lambda: site.jobs() >= moment, what=f"{moment} jobs")
    site.send(name, signal.SIGSTOP)
    ballast = fill(disk)
    site.send(name, signal.SIGCONT)
    return ballast


@pytest.mark.full
@pytest.mark.parametrize("reserve", ["0", "0.002"])
def test_the_disk_of_files_is_full(embedded_site: Site, disk: Path, undisturbed: Undisturbed, reserve: str) -> None:
    site = embedded_site
    (site.folder / "media").symlink_to(disk, target_is_directory=True)
    site.environment.update(FAULTS_PACE="0.02", DISK_RESERVE_GB=reserve)
    site.begin()
    site.start("work")
    ballast = fill_in_mid_run(site, "work", disk)
    site.wait_until(lambda: site.ask(WAITING), what="a job that says why it waits")
    assert site.state() == ("making", "")
    ballast.unlink()
    check_end(site, undisturbed)
    assert site.processes["work"].starts == 1


@pytest.mark.full
def test_the_disk_of_everything_is_full(migrated: Path, disk: Path, undisturbed: Undisturbed) -> None:
    with embedded(migrated, disk / "var") as site:
        site.environment.update(FAULTS_PACE="0.02", FAULTS_LEASE="3", FAULTS_HEARTBEAT="0.5")
        site.begin()
        site.start("generation")
        ballast = fill_in_mid_run(site, "generation", disk)

        def says_so() -> bool:
            """Return whether it stands at the job, or a command that wants to work says it: what the disk allows."""
            return bool(site.ask(WAITING)) or "is full" in site.manage("work").stderr

        site.wait_until(says_so, what="somebody to say that the disk is full")
        ballast.unlink()
        check_end(site, undisturbed)
        assert site.processes["generation"].starts == 1
