"""The disk cache of a machine: its size is limited, and nothing that a process has open is removed."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from generation.models import Dataset
from generation.storage import disk_cache, files, split_index
from generation.storage.split_index import SplitIndex, open_digest
from webapp.running.housekeeping import tidy_up

MEGABYTE = 1_000_000


@pytest.fixture(autouse=True)
def cache_folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.VAR_DIR, settings.CACHE_GB = tmp_path, 3.5 * MEGABYTE / files.GIB
    return tmp_path / "cache"


def make_index_copy(folder: Path, name: str, *, age: float, size: int = MEGABYTE) -> Path:
    """Create a folder like the cached copy of an index that was last used `age` seconds ago."""
    place = folder / name
    (place / "part").mkdir(parents=True)
    (place / "part" / "codes.npy").write_bytes(bytes(size))
    (place / "manifest.json").write_text("{}")
    os.utime(place / "manifest.json", (time.time() - age,) * 2)
    return place


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_least_recently_used_files_are_removed_until_the_rest_fits(cache_folder: Path) -> None:
    for number in range(6):
        make_index_copy(cache_folder, f"digest{number}", age=100 - number)
    (cache_folder / "questions").mkdir()
    old = cache_folder / "questions" / "old.jsonl.gz"
    old.write_bytes(bytes(1000))
    os.utime(old, (time.time() - 1000,) * 2)
    assert disk_cache.make_room() == 4
    assert names(cache_folder) == {"questions", "digest3", "digest4", "digest5"}
    assert not old.exists()
    assert disk_cache.make_room() == 0


@pytest.mark.django_db
def test_housekeeping_makes_room_in_the_cache(cache_folder: Path) -> None:
    for number in range(6):
        make_index_copy(cache_folder, f"digest{number}", age=100 - number)
    tidy_up()
    assert names(cache_folder) == {"digest3", "digest4", "digest5"}


def test_the_index_used_last_stays_even_if_it_exceeds_the_limit(cache_folder: Path) -> None:
    make_index_copy(cache_folder, "small", age=5)
    make_index_copy(cache_folder, "large", age=1, size=9 * MEGABYTE)
    assert disk_cache.make_room() == 1
    assert names(cache_folder) == {"large"}


def test_an_index_stays_while_another_process_has_it_open(cache_folder: Path) -> None:
    for number in range(4):
        make_index_copy(cache_folder, f"digest{number}", age=100 - number, size=2 * MEGABYTE)
    program = "import fcntl,sys,time; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_SH); print(1, flush=True)"
    other = subprocess.Popen(
        [sys.executable, "-c", f"{program}; time.sleep(600)", str(cache_folder / "digest0" / "manifest.json")],
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == b"1\n"
        disk_cache.make_room()
        assert names(cache_folder) == {"digest0", "digest3"}
    finally:
        other.kill()
        other.wait()
    disk_cache.make_room()
    assert names(cache_folder) == {"digest3"}


def test_incomplete_folders_of_killed_processes_are_removed_after_a_day(cache_folder: Path) -> None:
    half_fetched, half_removed = cache_folder / "digest", cache_folder / ".digest.0123abcd"
    for place in (half_fetched, half_removed):
        place.mkdir(parents=True)
        (place / "codes.npy").write_bytes(bytes(9 * MEGABYTE))
    make_index_copy(cache_folder, "last", age=-100_000)
    disk_cache.make_room()
    assert names(cache_folder) == {"digest", ".digest.0123abcd", "last"}
    for place in (half_fetched, half_removed):
        os.utime(place, (time.time() - 90_000,) * 2)
    disk_cache.make_room()
    assert names(cache_folder) == {"last"}


@pytest.mark.django_db
def test_an_open_index_works_after_its_removal_and_is_fetched_again_later(
    made: Dataset, monkeypatch: pytest.MonkeyPatch, settings: LazySettings, cache_folder: Path
) -> None:
    splits = list(made.splits.order_by("ordinal"))
    expected = {split.name: _counts(SplitIndex.open(split)) for split in splits}
    monkeypatch.setattr(files, "local_path", lambda name: None)
    monkeypatch.setattr(split_index, "MAPPED", 1)
    settings.CACHE_GB = 0
    open_digest.cache_clear()
    opened = {split.name: SplitIndex.open(split) for split in splits}
    assert len(names(cache_folder)) == len(splits)  # all indexes are open
    disk_cache.make_room()
    assert len(names(cache_folder)) == len(splits)
    assert {name: _counts(found) for name, found in opened.items()} == expected
    open_digest.cache_clear()
    train_index = opened.pop("train")
    opened.clear()
    disk_cache.make_room()
    assert (
        len(names(cache_folder) & {split.index_digest for split in splits}) <= 2
    )  # the open index and the index that was used last
    shutil.rmtree(cache_folder)  # as an operator may do
    assert _counts(train_index) == expected["train"]
    assert {split.name: _counts(SplitIndex.open(split)) for split in splits} == expected
    open_digest.cache_clear()


def _counts(found: SplitIndex) -> dict[str, Any]:
    return {name: column.tolist() for name, column in found.counts({}).items()}
