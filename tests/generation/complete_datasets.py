"""Complete datasets: made, made once and stored again, or shared by all tests of a module."""

import shutil
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest
from django.apps import apps
from django.db import models, transaction
from pytest_django.plugin import DjangoDbBlocker

from generation.browsing import pictures
from generation.engine.worlds import REGISTRY
from generation.making import dataset_jobs
from generation.models import Dataset
from generation.storage import files


def finish(dataset: Dataset) -> Dataset:
    """Run the jobs of a dataset, and return it complete."""
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset


def stored_again(make: Callable[[], Dataset], *, key: Hashable = None) -> Dataset:
    """Return the dataset that `make` makes. It runs once in a process; later calls store the same rows and files again.

    Calls with the same `key` give the same dataset; without one, calls with the same function. If there are other
    datasets already, it is made, because they may have the same keys. It is also made if files are kept in a bucket.
    """
    if Dataset.objects.exists() or files.local_path("") is None:
        return make()
    key = key or make
    if key not in _COPIES:
        before = {table: set(table._base_manager.values_list("pk", flat=True)) for table in _tables()}
        dataset = make()
        _COPIES[key] = _Copy(dataset, before)
        return dataset
    return _COPIES[key].store()


class _Copy:
    """The files of a dataset, and the rows that were not there before."""

    def __init__(self, dataset: Dataset, before: dict[type[models.Model], set[Any]]) -> None:
        self.pk = dataset.pk
        self.rows = [list(table._base_manager.exclude(pk__in=before[table])) for table in _tables()]
        digests = dataset.splits.for_browse().values_list("index_digest", flat=True)
        self.names = [f"datasets/{self.pk}", *(f"index/{digest}" for digest in digests)]
        self.folder = TemporaryDirectory()
        for name in self.names:
            if _path(name).exists():
                shutil.copytree(_path(name), Path(self.folder.name, name))

    def store(self) -> Dataset:
        with transaction.atomic():
            for rows in filter(None, self.rows):
                # Measurements of earlier datasets may be there.
                type(rows[0])._base_manager.bulk_create(rows, ignore_conflicts=True)
        for name in self.names:
            shutil.rmtree(_path(name), ignore_errors=True)
            if Path(self.folder.name, name).exists():
                shutil.copytree(Path(self.folder.name, name), _path(name))
        pictures._seen.cache_clear()  # it is kept by the names of files, which are the same again
        return Dataset.objects.get(pk=self.pk)


_COPIES: dict[Hashable, _Copy] = {}


def _tables() -> Iterator[type[models.Model]]:
    return apps.get_app_config("generation").get_models()


def _path(name: str) -> Path:
    path = files.local_path(name)
    assert path is not None
    return path


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
