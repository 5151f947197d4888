"""A small disk that a test can fill."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services import missing

BLOCK = 4096  # bytes


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[Path]:
    """Give a new folder that is a disk of this size."""
    folder.mkdir()
    options = f"size={megabytes}m,nr_inodes=10k"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        missing(f"small disk that can be mounted ({done.stderr.strip()})", "be root, and allowed to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Fill the disk with a file and return its path."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(BLOCK))
            except OSError:
                return ballast
