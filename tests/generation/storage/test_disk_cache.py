"""What a machine keeps for itself: bounded by size, and never taken away from somebody who has it open."""

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
def own_folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.VAR_DIR, settings.CACHE_GB = tmp_path, 3.5 * MEGABYTE / files.GIB
    return tmp_path / "cache"


def copy_of_index(folder: Path, name: str, *, age: float, size: int = MEGABYTE) -> Path:
    """Make what looks like the copy of an index, last used so many seconds ago."""
    place = folder / name
    (place / "part").mkdir(parents=True)
    (place / "part" / "codes.npy").write_bytes(bytes(size))
    (place / "manifest.json").write_text("{}")
    os.utime(place / "manifest.json", (time.time() - age,) * 2)
    return place


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_was_used_longest_ago_is_removed_and_no_more_than_has_to_be(own_folder: Path) -> None:
    for number in range(6):
        copy_of_index(own_folder, f"digest{number}", age=100 - number)
    (own_folder / "questions").mkdir()
    old = own_folder / "questions" / "old.jsonl.gz"
    old.write_bytes(bytes(1000))
    os.utime(old, (time.time() - 1000,) * 2)
    assert disk_cache.make_room() == 4
    assert names(own_folder) == {"questions", "digest3", "digest4", "digest5"}
    assert not old.exists()
    assert disk_cache.make_room() == 0


@pytest.mark.django_db
def test_housekeeping_makes_room_too(own_folder: Path) -> None:
    for number in range(6):
        copy_of_index(own_folder, f"digest{number}", age=100 - number)
    tidy_up()
    assert names(own_folder) == {"digest3", "digest4", "digest5"}


def test_one_that_is_larger_than_all_room_stays_while_it_is_the_last_one_used(own_folder: Path) -> None:
    copy_of_index(own_folder, "small", age=5)
    copy_of_index(own_folder, "large", age=1, size=9 * MEGABYTE)
    assert disk_cache.make_room() == 1
    assert names(own_folder) == {"large"}


def test_one_that_another_process_has_open_stays_until_that_process_ends(own_folder: Path) -> None:
    for number in range(4):
        copy_of_index(own_folder, f"digest{number}", age=100 - number, size=2 * MEGABYTE)
    program = "import fcntl,sys,time; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_SH); print(1, flush=True)"
    other = subprocess.Popen(
        [sys.executable, "-c", f"{program}; time.sleep(600)", str(own_folder / "digest0" / "manifest.json")],
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == b"1\n"
        disk_cache.make_room()
        assert names(own_folder) == {"digest0", "digest3"}
    finally:
        other.kill()
        other.wait()
    disk_cache.make_room()
    assert names(own_folder) == {"digest3"}


def test_what_a_killed_process_left_behind_is_dropped_after_a_day(own_folder: Path) -> None:
    half_fetched, half_removed = own_folder / "digest", own_folder / ".digest.0123abcd"
    for place in (half_fetched, half_removed):
        place.mkdir(parents=True)
        (place / "codes.npy").write_bytes(bytes(9 * MEGABYTE))
    copy_of_index(own_folder, "last", age=-100_000)
    disk_cache.make_room()
    assert names(own_folder) == {"digest", ".digest.0123abcd", "last"}
    for place in (half_fetched, half_removed):
        os.utime(place, (time.time() - 90_000,) * 2)
    disk_cache.make_room()
    assert names(own_folder) == {"last"}


@pytest.mark.django_db
def test_an_open_index_answers_whatever_is_removed_and_is_fetched_again_when_it_is_gone(
    made: Dataset, monkeypatch: pytest.MonkeyPatch, settings: LazySettings, own_folder: Path
) -> None:
    splits = list(made.splits.order_by("ordinal"))
    expected = {split.name: _counts(SplitIndex.open(split)) for split in splits}
    monkeypatch.setattr(files, "local_path", lambda name: None)
    monkeypatch.setattr(split_index, "MAPPED", 1)
    settings.CACHE_GB = 0
    open_digest.cache_clear()
    opened = {split.name: SplitIndex.open(split) for split in splits}
    assert len(names(own_folder)) == len(splits)  # all of them are open
    disk_cache.make_room()
    assert len(names(own_folder)) == len(splits)
    assert {name: _counts(found) for name, found in opened.items()} == expected
    open_digest.cache_clear()
    one = opened.pop("train")
    opened.clear()
    disk_cache.make_room()
    assert len(names(own_folder) & {split.index_digest for split in splits}) <= 2  # the open one, and the last one used
    shutil.rmtree(own_folder)  # whatever an operator does
    assert _counts(one) == expected["train"]
    assert {split.name: _counts(SplitIndex.open(split)) for split in splits} == expected
    open_digest.cache_clear()


def _counts(found: SplitIndex) -> dict[str, Any]:
    return {name: column.tolist() for name, column in found.counts({}).items()}
