"""Complete datasets, and fixtures for one that all tests of a module share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import Any

import pytest
from pytest_django.plugin import DjangoDbBlocker

from generation.engine.worlds import REGISTRY
from generation.making import dataset_jobs
from generation.models import Dataset


def finish(dataset: Dataset) -> Dataset:
    """Run the jobs of a dataset, and return it complete."""
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset


@contextmanager
def registered(world: ModuleType) -> Iterator[None]:
    """Register a world of the tests, which a module names and has, within this context."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(REGISTRY, world.NAME, world.WHERE)
        yield


def shared(make: Callable[[], Dataset], *, world: ModuleType | None = None, **options: Any) -> Any:
    """Return a fixture with the key of a dataset for all tests of a module; the changes of each test are rolled back.

    The `world` is registered as long as the dataset exists. The `options` are those of the fixture.
    """

    @pytest.fixture(scope="module", **options)
    def key(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
        with nullcontext() if world is None else registered(world):
            with django_db_blocker.unblock():
                made = make().pk
            yield made
            with django_db_blocker.unblock():
                Dataset.objects.filter(pk=made).delete()

    return key
