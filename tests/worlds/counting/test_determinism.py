"""The same spec gives the same scenes and questions: in every order, in every process and in every release."""

import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.worlds.counting.fingerprints import DATASETS, HELD, current
from tests.worlds.counting.made import make_items, sized
from tests.worlds.fingerprints import of_splits

ROOT = Path(__file__).resolve().parents[3]
ADVICE = (
    "The engine gives other scenes or questions. If it was not meant to: find out why. If it was: raise "
    "ENGINE_VERSION in generation/engine/__init__.py, run `python -m tests.worlds.counting.fingerprints`, and commit "
    "both with the reason."
)


@pytest.mark.parametrize(("name", "split"), zip(DATASETS, ("val", "train"), strict=True))
def test_the_fingerprint_of_a_small_split_is_the_held_one(name: str, split: str) -> None:
    held = json.loads(HELD.read_text())["datasets"][name]
    assert of_splits("counting", DATASETS[name], [split]) == {split: held[split]}, ADVICE


@pytest.mark.full
def test_fingerprints_are_those_held() -> None:
    assert current() == json.loads(HELD.read_text()), ADVICE


@pytest.mark.full
def test_fingerprints_are_the_same_when_chunks_and_splits_are_made_backwards() -> None:
    assert current(backwards=True) == json.loads(HELD.read_text())


@pytest.mark.full
def test_fingerprints_are_the_same_in_another_process() -> None:
    command = [sys.executable, "-m", "tests.worlds.counting.fingerprints", "--print"]
    environment = {**os.environ, "PYTHONHASHSEED": "3"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(HELD.read_text())


@pytest.mark.parametrize(("shorter", "longer"), [(20, 90), pytest.param(85, 160, marks=pytest.mark.full)])
def test_a_shorter_split_is_the_beginning_of_a_longer_one(shorter: int, longer: int) -> None:
    """A chunk has 77 scenes. So the last chunk of the shorter split is not full, and that of the longer one is."""
    short, long = (
        [question for item in islice(make_items(sized(scenes)), shorter) for question in item.questions]
        for scenes in (shorter, longer)
    )
    assert len(short) >= shorter
    assert long == short


def test_a_secret_changes_the_order_of_answers() -> None:
    plain, secret = (
        [item.questions[0].answer for item in islice(make_items(sized(77), secret=one), 20)] for one in (b"", bytes(16))
    )
    assert plain != secret
