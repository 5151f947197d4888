"""Hostile files of less than 1 MB: each is read or refused with one message, in limited time and memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proof import SHARE

ROOT = Path(__file__).parents[3]
REFUSALS = ("BadSpec", "BadPlatformFile", "BadRecipe")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float, int]]:
    """Give for each file the message, seconds of processor time, and most megabytes so far, all in one process."""
    environment = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path_factory.mktemp("var"))}
    command = [sys.executable, "-m", "tests.generation.hostile_specs", *([] if SHARE == 1 else ["briefly"])]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    answer: dict[str, tuple[str, float, int]] = json.loads(done.stdout)
    assert len(answer) == (30 if SHARE == 1 else 7)
    return answer


def test_each_file_is_read_or_refused_with_one_message(found: dict[str, tuple[str, float, int]]) -> None:
    for name, (ended, _, _) in found.items():
        assert not ended or ended.startswith(REFUSALS), (name, ended[:300])
        assert len(ended) < 5000, name


def test_no_file_takes_ten_seconds_or_500_megabytes(found: dict[str, tuple[str, float, int]]) -> None:
    for name, (_, seconds, megabytes) in found.items():
        assert seconds < 10, name
        assert megabytes < 500, name


def test_nested_brackets_of_a_wording_are_refused_with_their_place(found: dict[str, tuple[str, float, int]]) -> None:
    ended = found["a wording of brackets"][0]
    assert "mine.json, family 0, text 0: Expected at most 20 brackets inside one another" in ended
