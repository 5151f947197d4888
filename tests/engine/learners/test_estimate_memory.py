"""Estimates of the memory of trainings, compared with the memory that processes used.

`make torch` installs PyTorch and runs the tests of networks.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import NoTorch
from generation.engine.learners import CLASSICAL, NETWORKS, find_learner
from generation.engine.learners.base import PROCESS_BYTES, DataShape, SizeName
from tests.engine.learners.test_networks import PYTHON
from tests.proof import sample
from tests.skips import Unshared
from tests.webapp.commands import ROOT

MIB, GIB = 2**20, 2**30
FACTOR = 2.0  # an estimate is at least half of the memory that was used, and at most twice as much
SMALL = DataShape(
    questions=1000, words=200, answers=30, kinds=5, pictures=500, kind_words=100, texts=500, lines=3000, phrases=5000,
    question_words=20, line_words=8, story_lines=10, regions=8, example_bytes=2000,
)  # fmt: skip
Trial = tuple[str, int, dict[str, Any]]
SMALL_TRIALS: dict[str, Trial] = {
    "n-grams": ("n-grams", 400, {}),
    "nearest-question": ("nearest-question", 400, {}),
    "bag-of-words": ("bag-of-words", 400, {"epochs": 1}),
    "structured-svm": ("structured-svm", 400, {"epochs": 1}),
    "memn2n": ("memn2n", 400, {"epochs": 1, "embedding": 300, "starts": 1, "joint": True}),
    "memnn": ("memnn", 400, {"epochs": 1, "phrase": 3, "embedding": 300}),
}
LARGE_TRIALS: tuple[Trial, ...] = (
    ("n-grams", 20_000, {}),
    ("nearest-question", 20_000, {}),
    ("bag-of-words", 2000, {"epochs": 1, "batch": 100_000}),
    ("structured-svm", 4000, {"epochs": 1, "joint": True}),
    ("memn2n", 4000, {"epochs": 1}),
    ("memnn", 4000, {"epochs": 1, "phrase": 3, "nonlinear": True, "adaptive": True, "joint": True}),
    ("memn2n", 1000, {"epochs": 1, "batch": 100_000, "embedding": 1000, "memory": 300}),
)
NETWORK_TRIALS: tuple[Trial, ...] = (
    ("lstm", 64, {"epochs": 1}),
    ("lstm", 512, {"epochs": 1, "batch": 512}),
    ("story-lstm", 256, {"epochs": 1, "batch": 256, "units": 200}),
    ("cnn-lstm", 16, {"epochs": 1, "batch": 16}),
    ("cnn-lstm-mcb", 64, {"epochs": 1, "batch": 64, "sketch": 4000}),
    ("relation-network", 32, {"epochs": 1, "batch": 32}),
    ("film", 16, {"epochs": 1, "batch": 16, "units": 512}),
    ("predicate-boxes", 128, {"epochs": 1}),
    ("i-only", 8, {"epochs": 1, "batch": 8}),
    ("rcn", 8, {"epochs": 1, "batch": 8, "features": 512, "pair": 256}),
    ("scn", 64, {"epochs": 1, "batch": 64, "features": 512}),
)


def check_estimate(python: str, trial: Trial, folder: Path) -> None:
    """Check that the estimate of a training is near the largest resident memory of its process."""
    name, n, settings = trial
    program = [python, "-m", "tests.engine.learners.memory_trial", name, str(n), json.dumps(settings), str(folder)]
    done = subprocess.run(program, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    sys.stderr.write(f"{trial}: used {found['used'] / MIB:.0f} MiB, estimate {found['estimate'] / MIB:.0f} MiB\n")
    assert found["used"] / FACTOR <= found["estimate"] <= found["used"] * FACTOR


@pytest.mark.parametrize("trial", sample([pytest.param(SMALL_TRIALS[name]) for name in CLASSICAL], gate=2), ids=str)
def test_the_estimate_is_near_the_memory_of_a_small_training(trial: Trial, tmp_path: Path) -> None:
    check_estimate(sys.executable, trial, tmp_path)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("trial", LARGE_TRIALS, ids=str)
def test_the_estimate_is_near_the_memory_of_a_large_training(trial: Trial, tmp_path: Path) -> None:
    check_estimate(sys.executable, trial, tmp_path)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("trial", NETWORK_TRIALS, ids=str)
def test_the_estimate_is_near_the_memory_of_a_network(trial: Trial, tmp_path: Path) -> None:
    if not PYTHON.exists():
        raise Unshared("no PyTorch: `make torch` installs it, and runs this")
    check_estimate(str(PYTHON), trial, tmp_path)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("name", NETWORKS)
def test_each_network_is_estimated_for_a_batch_that_is_far_too_large(name: str) -> None:
    if not PYTHON.exists():
        raise Unshared("no PyTorch: `make torch` installs it, and runs this")
    shape = SMALL._replace(questions=100_000, pictures=50_000)
    order = {"method": name, "config": {"batch": 100_000}, "device": "cpu", "shape": shape._asdict()}
    program = [str(PYTHON), "-m", "generation.engine.learners.memory_process"]
    done = subprocess.run(program, input=json.dumps(order), capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bytes"] > 4 * GIB


@pytest.mark.parametrize("name", CLASSICAL)
@pytest.mark.parametrize("size", ["mini", "paper"])
def test_a_small_training_needs_less_than_four_gigabytes(name: str, size: SizeName) -> None:
    learner = find_learner(name)
    assert PROCESS_BYTES < learner.estimate_memory(learner.read_config({}, size=size), SMALL) < 4 * GIB


def test_few_different_phrases_need_little_memory() -> None:
    learner = find_learner("n-grams")
    few, many = (
        learner.estimate_memory(learner.read_config({}), SMALL._replace(phrases=phrases)) for phrases in (500, 5000)
    )
    assert few < 200 * MIB and many > few + 400 * MIB


@pytest.mark.parametrize("field", ["other_questions", "other_pictures"])
def test_the_other_splits_are_counted(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = find_learner("cnn-lstm")
    monkeypatch.setattr(learner, "working_memory", lambda *_: 0)
    config = learner.read_config({"height": 100, "width": 200})
    more = learner.estimate_memory(config, SMALL._replace(**{field: 1000})) - learner.estimate_memory(config, SMALL)
    assert more == 1000 * {"other_questions": SMALL.example_bytes, "other_pictures": 3 * 100 * 200}[field]


def test_a_network_is_not_estimated_without_torch() -> None:
    learner = find_learner("lstm")
    with pytest.raises(NoTorch, match="make torch"):
        learner.estimate_memory(learner.read_config({}), SMALL)
