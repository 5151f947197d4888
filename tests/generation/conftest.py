"""Fixtures: the fake world and its datasets, and child processes on the test's database."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from generation.engine import worlds
from generation.making import dataset_jobs, import_sandbox
from generation.models import Dataset
from tests.generation import fake_world
from tests.generation.complete_datasets import finish, stored_again

Child = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the fake world."""
    monkeypatch.setitem(worlds.REGISTRY, fake_world.NAME, fake_world.WHERE)


def spec_of(**changes: Any) -> dict[str, Any]:
    """Return the fake world's preset with some parameters changed."""
    return {**fake_world.PRESET, **changes}


@pytest.fixture
def begin(db: None) -> Callable[..., Dataset]:
    """Give a function that begins a dataset and leaves its jobs waiting."""

    def begin_dataset(slug: str = "rows", **changes: Any) -> Dataset:
        options = {key: changes.pop(key) for key in ("images", "owner", "visibility", "secrets") if key in changes}
        if "splits" not in changes:
            options.setdefault("secrets", {"test": "0f" * 16})
        return dataset_jobs.start(spec_of(**changes), slug=slug, **options)

    return begin_dataset


def make_rows() -> Dataset:
    return finish(dataset_jobs.start(spec_of(), slug="rows", secrets={"test": "0f" * 16}))


@pytest.fixture
def made(db: None) -> Dataset:
    """Give a complete dataset of the fake world."""
    return stored_again(make_rows)


def child_environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that works on this test's database."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.generation.child_settings",
        "HORSESENSE_TEST_DATABASE": str(connection.settings_dict["NAME"]),
        **more,
    }


@pytest.fixture
def child(transactional_db: None) -> Iterator[Child]:
    """Give a function that starts a Python process on this test's database; kill those that still run afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*command: str, environment: dict[str, str] | None = None, **options: Any) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, *command], env=child_environment(**(environment or {})), cwd=settings.BASE_DIR, **options
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


MANAGE = str(Path(settings.BASE_DIR, "manage.py"))


Measured = Callable[[], list[tuple[int, float]]]


@pytest.fixture
def measured(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Measured:
    """Give a function that returns the notes of children that read imports: peak megabytes and processor seconds."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setattr(import_sandbox, "CHILD", "tests.generation.measured")
    monkeypatch.setenv("HOME", str(home))

    def look() -> list[tuple[int, float]]:
        lines = [line.split() for line in (home / "measured").read_text().splitlines()]
        return [(int(megabytes), float(seconds)) for megabytes, seconds in lines]

    return look
