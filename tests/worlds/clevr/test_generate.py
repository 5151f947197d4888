"""The command generates the datasets with the stored fingerprints for any number of processes."""

import json

import pytest

from tests.proof import size
from tests.webapp.commands import manage
from tests.worlds.clevr.fingerprints import HELD, MINIS

CASES = [("clevr-mini", "1"), ("clevr-length-mini", "4"), *((name, "2") for name in MINIS), ("clevr-mini", "4")]


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize(("preset", "workers"), CASES[: size(len(CASES))])
def test_any_number_of_processes_generates_the_stored_dataset(
    site_environment: dict[str, str], preset: str, workers: str
) -> None:
    done = manage("generate", preset, "--no-images", "--workers", workers, environment=site_environment, seconds=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == json.loads(HELD.read_text())["datasets"][preset][""]
