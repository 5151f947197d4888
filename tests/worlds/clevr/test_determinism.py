"""The same spec gives the same dataset: in every process, in any order, on any processor, in every release."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generation.engine import ENGINE_VERSION
from tests.worlds.clevr.fingerprints import DATASETS, HELD, MINIS, current, dispatched

ROOT = Path(__file__).resolve().parents[3]
ADVICE = (
    "The engine gives another clevr-mini. If it was not meant to: find out why. If it was: raise ENGINE_VERSION in "
    "generation/engine/__init__.py, run `python -m tests.worlds.clevr.fingerprints`, and commit both with the reason."
)


def held() -> dict[str, Any]:
    """Return the fingerprints that the repository holds."""
    return json.loads(HELD.read_text())  # type: ignore[no-any-return]


def of_clevr_mini() -> dict[str, Any]:
    """Return those of clevr-mini; the other presets are held where they are made, in test_rules."""
    return {name: held()["datasets"][name] for name in DATASETS}


def made_apart(*options: str, **environment: str) -> dict[str, Any]:
    """Return the fingerprints, and the dispatched features, of a process of its own."""
    command = [sys.executable, "-m", "tests.worlds.clevr.fingerprints", "--print", *options]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_held_fingerprints_are_of_this_engine_version():
    assert held()["engine_version"] == ENGINE_VERSION, (
        "ENGINE_VERSION was raised: run `python -m tests.worlds.clevr.fingerprints` and commit fingerprints.json."
    )
    assert set(held()["datasets"]) == {*DATASETS, *MINIS}


def test_datasets_are_those_held_in_the_repository():
    assert current()["datasets"] == of_clevr_mini(), ADVICE


def test_datasets_differ():
    assert len({splits[""] for splits in held()["datasets"].values()}) == len(held()["datasets"])


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize(("seed", "options"), [("0", ()), ("4242", ("--backwards",))])
def test_another_process_gives_the_same(seed: str, options: tuple[str, ...]):
    """Another order of Python's sets; chunks in another order."""
    assert made_apart(*options, PYTHONHASHSEED=seed)["datasets"] == of_clevr_mini(), ADVICE


@pytest.mark.full
@pytest.mark.slow
def test_a_plainer_processor_gives_the_same(tmp_path: Path):
    """NumPy without its dispatched code, numba for any processor of this family, all compiled anew."""
    made = made_apart(
        NPY_DISABLE_CPU_FEATURES=" ".join(dispatched()),
        NUMBA_CPU_NAME="generic",
        NUMBA_CPU_FEATURES="",
        NUMBA_CACHE_DIR=str(tmp_path),
    )
    assert made["dispatched"] == []
    assert made["datasets"] == of_clevr_mini(), ADVICE
