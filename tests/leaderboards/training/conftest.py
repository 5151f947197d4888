"""Orders of trainings on a small dataset, with a toy as the method."""

import shutil
from collections.abc import Iterator

import pytest

from generation.engine.learners import METHODS
from generation.models import Dataset, Split
from generation.queue import leases
from generation.storage import disk_cache
from tests.leaderboards.training import toys
from webapp.leaderboards.training import example_folders, process, training_jobs
from webapp.leaderboards.training.orders import TrainingOrder
from webapp.models import User


@pytest.fixture(autouse=True)
def known_toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the toy known here and to the training process. Leases are not renewed: tests are in a transaction."""
    monkeypatch.setattr(leases, "RENEWAL", 86_400.0)
    monkeypatch.setattr(process, "PROGRAM", "tests.leaderboards.training.toy_process")
    monkeypatch.setitem(METHODS, toys.NAME, "")
    toys.register()
    yield
    shutil.rmtree(training_jobs.home(), ignore_errors=True)
    shutil.rmtree(disk_cache.folder() / example_folders.CACHE_FOLDER, ignore_errors=True)


@pytest.fixture
def train(scored: Dataset) -> Split:
    """Give the split from which methods learn."""
    return scored.splits.select_related("dataset", "parent", "reference").get(name="train")


@pytest.fixture
def order(member: User, train: Split, val: Split) -> TrainingOrder:
    """Give an order of the toy with three epochs."""
    return TrainingOrder(toys.NAME, member, train, val, (val,), size="mini", seed=5)
