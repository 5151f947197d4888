"""The dataset of the studies whose results are tested; it is made once for each file of tests."""

import pytest

from generation.making import dataset_jobs
from generation.models import Dataset
from tests.generation import fake_world
from tests.generation.complete_datasets import finish, shared
from tests.generation.conftest import spec_of

rows = shared(lambda: finish(dataset_jobs.start(spec_of(), slug="rows", secrets={"test": "0f" * 16})), world=fake_world)


@pytest.fixture
def made(rows: int, db: None) -> Dataset:
    """Give a complete dataset of the fake world."""
    return Dataset.objects.get(pk=rows)
