"""The same spec gives the same stories and questions in every process and every release."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.worlds.babi.fingerprints import HELD, current

ROOT = Path(__file__).resolve().parents[3]
ADVICE = (
    "The engine gives other stories or questions. If it was not meant to: find out why. If it was: raise "
    "ENGINE_VERSION in generation/engine/__init__.py, run `python -m tests.worlds.babi.fingerprints`, and commit "
    "both with the reason."
)


def test_fingerprints_equal_the_stored_ones() -> None:
    assert current() == json.loads(HELD.read_text()), ADVICE


@pytest.mark.full
@pytest.mark.parametrize("environment", [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "LANG": "C"}])
def test_fingerprints_are_the_same_in_a_separate_process(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "tests.worlds.babi.fingerprints", "--print"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(HELD.read_text())
