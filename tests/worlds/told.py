"""Datasets of the small world of stories, which a fixture registers."""

from generation.making import dataset_jobs
from generation.models import Dataset
from tests.generation.complete_datasets import finish
from tests.worlds import baskets

SECRET = "0f" * 16
SPLITS = {"train": {"scenes": 4}, "val": {"scenes": 3}, "test": {"scenes": 2, "withheld": True}}


def made(slug: str = "tales") -> Dataset:
    """Return a complete public dataset. The answers of its test split are withheld."""
    spec = {"world": baskets.NAME, "title": "Tales", "splits": SPLITS}
    return finish(dataset_jobs.start(spec, slug=slug, visibility="public", secrets={"test": SECRET}))
