"""Networks: what holds without PyTorch, and the programs that check them with it.

PyTorch is large, and nothing in the project depends on it. `make torch` installs it separately and runs the programs.
"""

import subprocess
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import BadTraining, NoTorch
from generation.engine.learners import METHODS, NETWORKS, find_learner
from generation.engine.learners.networks.encoders import halve
from generation.engine.learners.networks.picture_learner import batches_by_item
from generation.engine.learners.networks.torch_learner import TorchLearner
from tests.engine.learners import made_examples
from tests.engine.learners.conformance import SilentReporter, refuses_bad_settings
from tests.skips import Unshared
from tests.webapp.commands import ROOT

PYTHON = ROOT / ".venv-torch/bin/python"
PROGRAMS = "tests.engine.learners"


def run(program: str, *names: str) -> str:
    """Return what a program of the Python with PyTorch prints; fail if it fails."""
    if not PYTHON.exists():
        raise Unshared("no PyTorch: `make torch` installs it, and runs this")
    command = [str(PYTHON), "-m", f"{PROGRAMS}.{program}", *names]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_does_what_every_learner_does(name: str) -> None:
    assert run("networks_conformance", name).startswith(f"{name}: all checks hold")


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("program", ["networks_twins", "counting_twins"])
def test_parts_of_networks_agree_with_their_slow_twins(program: str) -> None:
    lines = run(program).splitlines()
    assert lines and all(": agrees" in line for line in lines)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_described_without_torch(name: str) -> None:
    kind = find_learner(name)
    assert issubclass(kind, TorchLearner)
    assert kind.name == name and kind.label and kind.source
    assert kind.read_config({}, size="mini") != kind.read_config({})


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_refuses_bad_settings_without_torch(name: str) -> None:
    refuses_bad_settings(find_learner(name), made_examples.pictures(1), {})


def test_labels_of_methods_are_unique() -> None:
    counted = Counter(find_learner(name).label for name in METHODS)
    assert [label for label, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("wrong", [[], [0], [9000], ["many"], [8] * 9])
def test_wrong_sizes_of_layers_are_refused_by_name(wrong: list[object]) -> None:
    with pytest.raises(BadTraining, match="channels"):
        find_learner("cnn-lstm").read_config({"channels": wrong})


def test_a_training_without_torch_says_how_to_install_it() -> None:
    kind = find_learner("cnn-lstm")
    examples = made_examples.pictures(4)
    with pytest.raises(NoTorch, match="make torch"):
        kind(kind.read_config({}), seed=1).fit(examples, examples, report=SilentReporter())


def test_counter_refuses_to_learn_from_one_example() -> None:
    kind = find_learner("counter")
    kind.check_training(made_examples.counts(2), made_examples.counts(1))
    with pytest.raises(BadTraining, match="at least 2 training examples for Counter, got 1"):
        kind.check_training(made_examples.counts(1), made_examples.counts(2))


@given(
    items=st.lists(st.integers(0, 6), max_size=40),
    size=st.integers(1, 9),
    together=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_batches_have_each_row_once_and_keep_questions_about_a_picture_together(
    items: list[int], size: int, together: int, seed: int
) -> None:
    chance = np.random.Generator(np.random.PCG64(seed))
    batches = list(batches_by_item(np.array(items, np.int64), size, together=together, chance=chance))
    assert all(len(batch) == size for batch in batches[:-1])
    if batches and size > 1:
        assert len(batches[-1]) <= size + 1
        assert len(batches[-1]) > 1 or len(items) == 1
    order = [int(row) for batch in batches for row in batch]
    assert sorted(order) == list(range(len(items)))
    assert least_runs(items, together) >= count_runs([items[row] for row in order], together)


def least_runs(items: list[int], together: int) -> int:
    """Return how many groups of `together` rows the items make."""
    return sum(-(-count // together) for count in Counter(items).values())


def count_runs(ordered: list[int], together: int) -> int:
    """Return how many stretches of equal items there are, of which each has at most `together`."""
    runs, within = 0, 0
    for at, item in enumerate(ordered):
        within = within + 1 if at and item == ordered[at - 1] and within < together else 1
        runs += within == 1
    return runs


def test_rows_of_different_pictures_are_mixed() -> None:
    chance = np.random.Generator(np.random.PCG64(1))
    [order] = batches_by_item(np.repeat(np.arange(50), 2), 100, together=1, chance=chance)
    assert np.sum(np.diff(order // 2) == 0) < 10


@pytest.mark.parametrize(("size", "times", "left"), [(64, 3, 8), (65, 1, 33), (65, 3, 9), (1, 4, 1), (96, 0, 96)])
def test_a_layer_of_stride_two_halves_a_side_and_rounds_up(size: int, times: int, left: int) -> None:
    slow = size
    for _ in range(times):
        slow = -(-slow // 2)
    assert halve(size, times) == slow == left
