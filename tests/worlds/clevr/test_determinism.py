"""The same spec gives the same dataset in every process, order, processor and release."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generation.engine import ENGINE_VERSION
from tests.worlds.clevr.fingerprints import DATASETS, HELD, MINIS, current, dispatched
from tests.worlds.fingerprints import of_splits

ROOT = Path(__file__).resolve().parents[3]
ADVICE = (
    "The engine gives another clevr-mini. If it was not meant to: find out why. If it was: raise ENGINE_VERSION in "
    "generation/engine/__init__.py, run `python -m tests.worlds.clevr.fingerprints`, and commit both with the reason."
)


def stored_fingerprints() -> dict[str, Any]:
    """Return the fingerprints that the repository stores."""
    return json.loads(HELD.read_text())  # type: ignore[no-any-return]


def fingerprints_of_clevr_mini() -> dict[str, Any]:
    """Return the stored fingerprints of clevr-mini. The other presets are checked in `test_rules`."""
    return {name: stored_fingerprints()["datasets"][name] for name in DATASETS}


# At least one split of each dataset; of the preset, all.
SMALL_SPLITS = {
    "clevr-mini": ("train", "val", "test"),
    "clevr-mini, batches of 8": ("val",),
    "clevr-mini, degeneracy clevr": ("val",),
    "demo": ("test",),
}


def fingerprints_by_process(*options: str, **environment: str) -> dict[str, Any]:
    """Return the fingerprints and the processor features of a separate process."""
    command = [sys.executable, "-m", "tests.worlds.clevr.fingerprints", "--print", *options]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_the_stored_fingerprints_have_this_engine_version():
    assert stored_fingerprints()["engine_version"] == ENGINE_VERSION, (
        "ENGINE_VERSION was raised: run `python -m tests.worlds.clevr.fingerprints` and commit fingerprints.json."
    )
    assert set(stored_fingerprints()["datasets"]) == {*DATASETS, *MINIS}


@pytest.mark.parametrize("name", DATASETS)
def test_fingerprints_of_small_splits_equal_the_stored_ones(name: str):
    stored = fingerprints_of_clevr_mini()[name]
    found = of_splits("clevr", DATASETS[name], SMALL_SPLITS[name])
    assert found == {split: stored[split] for split in SMALL_SPLITS[name]}, ADVICE


@pytest.mark.full
def test_fingerprints_equal_the_stored_ones():
    assert current()["datasets"] == fingerprints_of_clevr_mini(), ADVICE


def test_datasets_differ():
    assert len({splits[""] for splits in stored_fingerprints()["datasets"].values()}) == len(
        stored_fingerprints()["datasets"]
    )


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize(("seed", "options"), [("0", ()), ("4242", ("--backwards",))])
def test_another_process_gives_the_same_datasets(seed: str, options: tuple[str, ...]):
    """Another seed changes the order of Python's sets, and the option reverses the order of chunks."""
    assert fingerprints_by_process(*options, PYTHONHASHSEED=seed)["datasets"] == fingerprints_of_clevr_mini(), ADVICE


@pytest.mark.full
@pytest.mark.slow
def test_a_processor_with_fewer_features_gives_the_same_datasets(tmp_path: Path):
    """NumPy runs without special code, numba compiles for any processor of this family, and nothing is cached."""
    made = fingerprints_by_process(
        NPY_DISABLE_CPU_FEATURES=" ".join(dispatched()),
        NUMBA_CPU_NAME="generic",
        NUMBA_CPU_FEATURES="",
        NUMBA_CACHE_DIR=str(tmp_path),
    )
    assert made["dispatched"] == []
    assert made["datasets"] == fingerprints_of_clevr_mini(), ADVICE
