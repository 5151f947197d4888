"""A small dataset, and contenders that answer its questions."""

import numpy as np
import pytest

from generation.models import Dataset, Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import SplitIndex
from tests.generation import small
from tests.generation.complete_datasets import shared
from tests.leaderboards.reading import grids
from webapp.leaderboards.entries import Contender

SPLITS = {
    "train": {"scenes": 4},
    "val": {"scenes": 24},
    "other": {"scenes": 8},
    "test": {"scenes": 8, "withheld": True},
}


kept = shared(lambda: small.made("read", with_images=False, splits=SPLITS))


@pytest.fixture
def shapes(kept: int, db: None) -> Dataset:
    """Give the public dataset; the answers of its split test are withheld."""
    return Dataset.objects.get(pk=kept)


@pytest.fixture
def val(shapes: Dataset) -> Split:
    """Give an open split."""
    return Split.objects.for_browse().get(dataset=shapes, name="val")


@pytest.fixture
def withheld(shapes: Dataset) -> Split:
    """Give a split whose answers are withheld."""
    return Split.objects.for_browse().get(dataset=shapes, name="test")


def noisy(index: SplitIndex, share: float, *, seed: int) -> np.ndarray:
    """Return the right answers, about this share of them replaced by random ones."""
    chance = np.random.default_rng(seed)
    truth = truth_of(index)
    return np.where(chance.random(index.n) < share, chance.integers(-1, len(index.answer_values), index.n), truth)


def contenders(index: SplitIndex) -> list[Contender]:
    """Return two methods, one of them with three runs."""
    return [
        Contender("m1", "Good", [noisy(index, 0.2, seed=seed) for seed in (1, 2, 3)]),
        Contender("m2", "Bad", [noisy(index, 0.7, seed=4)]),
    ]


key_of_towns = shared(lambda: grids.make_dataset("towns"))


@pytest.fixture
def towns(key_of_towns: int, db: None) -> Dataset:
    """Give a public dataset whose splits are those of a grid."""
    return Dataset.objects.get(pk=key_of_towns)
