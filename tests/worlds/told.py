"""Datasets of the small world of stories, whose registration is for a fixture: `tests.worlds.told.registered`."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from generation.engine.worlds import REGISTRY
from generation.making import dataset_jobs
from generation.models import Dataset
from tests.worlds import baskets

SECRET = "0f" * 16
SPLITS = {"train": {"scenes": 4}, "val": {"scenes": 3}, "test": {"scenes": 2, "withheld": True}}


@contextmanager
def registered() -> Iterator[None]:
    """Register the world within this context."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(REGISTRY, baskets.NAME, baskets.WHERE)
        yield


def made(slug: str = "tales") -> Dataset:
    """Return a complete public dataset. The answers of its test split are withheld."""
    spec = {"world": baskets.NAME, "title": "Tales", "splits": SPLITS}
    dataset = dataset_jobs.start(spec, slug=slug, visibility="public", secrets={"test": SECRET})
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset
