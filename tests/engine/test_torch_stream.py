"""The data loaders of PyTorch give the instances of the stream, and background processes share them without repeats.

PyTorch is large, and nothing in the project depends on it. `make torch` installs it separately and runs these tests.
"""

import json
import os
import subprocess
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from generation.engine import stream
from generation.engine.worlds import REGISTRY
from tests.skips import Unshared
from tests.webapp.commands import ROOT
from tests.webapp.test_docs import blocks
from tests.worlds import marbles

PYTHON = ROOT / ".venv-torch/bin/python"
SPEC: dict[str, Any] = marbles.PRESETS["marbles"]
SIZE = 4  # instances in a batch, as in torch_reader
COUNT = 48

pytestmark = [pytest.mark.slow, pytest.mark.full]
Instance = tuple[str, str, str]


@pytest.fixture(autouse=True)
def _marbles(monkeypatch: pytest.MonkeyPatch) -> None:
    if not PYTHON.exists():
        raise Unshared("no PyTorch: `make torch` installs it, and runs this")
    monkeypatch.setitem(REGISTRY, marbles.NAME, marbles.WHERE)


def load(processes: int, *, count: int = COUNT, shard: int = 0, shards: int = 1) -> list[Instance]:
    """Return the instances of a data loader with the given number of background processes, in its order."""
    numbers = map(str, (processes, count, shard, shards))
    command = [str(PYTHON), "-m", "tests.engine.torch_reader", json.dumps(SPEC), *numbers]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return [tuple(json.loads(line)) for line in ended.stdout.splitlines()]


def read_stream(*, count: int, shard: int, shards: int) -> list[Instance]:
    """Return the instances of the stream in its order."""
    batches = stream(SPEC, "train", SIZE, shard=shard, shards=shards)
    known, found = batches.vocabulary, []
    for batch in islice(batches, -(-count // SIZE)):
        for image, words, answer in zip(batch.images, batch.words, batch.answers, strict=True):
            found.append((known.decode(words), known.answers[answer], image.tobytes().hex()))
    return found


def interleave(processes: list[list[Instance]]) -> list[Instance]:
    """Return the instances of all processes: one batch of each process in turn."""
    starts = range(0, len(processes[0]), SIZE)
    return [one for at in starts for process in processes for one in process[at : at + SIZE]]


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_background_processes_share_the_stream(processes: int) -> None:
    each = [read_stream(count=COUNT // processes, shard=number, shards=processes) for number in range(processes)]
    assert load(processes) == interleave(each)


def test_without_background_processes_the_loader_gives_the_stream() -> None:
    assert load(0) == read_stream(count=COUNT, shard=0, shards=1)


def test_several_programs_share_the_stream() -> None:
    """The second of two programs with two processes each has the last two of four shards."""
    each = [read_stream(count=COUNT // 2, shard=number, shards=4) for number in (2, 3)]
    assert load(2, shard=1, shards=2) == interleave(each)


def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    [example] = [block for block in blocks("stream") if block.file == "loader.py"]
    tmp_path.joinpath("loader.py").write_text(example.body)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([PYTHON, "loader.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.stdout.count("(20, 3, 64, 96)") == 4, ended.stderr
