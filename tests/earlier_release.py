"""The backup of a site that commit 39e7cc8 made with its own commands, and that commit's own program.

The site has four datasets of engine 2 (`shapes` with pictures, a withheld split and a question set; `stories`;
`captions`; `half`, which is not complete), an open study and a closed one with a published baseline, a suite, two
published methods with two submissions each, and the accounts `admin`, `mira` and `rosa`.
"""

import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.webapp.commands import ROOT

COMMIT = "39e7cc8f78fa01333992f62b124db7cf5c6202f9"
ARCHIVE = Path(__file__).parent / "webapp" / "backups" / "archives" / "39e7cc8.tar.xz"


def unpack_archive(folder: Path) -> Path:
    """Write the backup into a folder as the command `backup` of commit 39e7cc8 wrote it, and return its path."""
    path = folder / "39e7cc8.tar"
    with lzma.open(ARCHIVE) as packed, path.open("wb") as file:
        shutil.copyfileobj(packed, file)
    return path


def unpack_program(folder: Path) -> Path:
    """Write the program of the commit into a folder, and return it; skip the test without git or the commit."""
    folder.mkdir()
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", COMMIT]
    try:
        packed = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no commit {COMMIT} ({error}): clone the repository with its history")
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=packed.stdout, check=True)
    return folder
