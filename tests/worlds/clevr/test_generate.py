"""The command line makes the clevr-mini that the repository holds, whatever the number of processes."""

import json

import pytest

from tests.webapp.commands import manage
from tests.worlds.clevr.fingerprints import HELD


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "4"])
def test_any_number_of_processes_makes_the_held_dataset(site_environment: dict[str, str], workers: str) -> None:
    done = manage(
        "generate", "clevr-mini", "--no-images", "--workers", workers, environment=site_environment, seconds=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == json.loads(HELD.read_text())["datasets"]["clevr-mini"][""]
