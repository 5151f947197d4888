"""Folders as people have them: what systems leave in them, packed files, other capitals, a folder in a folder, links.

Each gives the same items as the clean folder, or is refused with the file's name.
"""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import find_reader
from generation.engine.reading.published_files import open_published
from generation.engine.worlds import READERS, get_world
from tests.worlds.clevr.formats import releases
from tests.worlds.counting import published

STORY = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
"""
NOISE = b"\0\x05\x16\x07\0\x02\0\0Mac OS X        "  # the start of a file that macOS keeps beside another


def babi(folder: Path) -> Path:
    """Write a small release of bAbI, and return its folder."""
    for split in ("train", "test"):
        (folder / "en").mkdir(parents=True, exist_ok=True)
        (folder / "en" / f"qa1_single-supporting-fact_{split}.txt").write_text(STORY)
    return folder


def grounding(folder: Path) -> Path:
    """Write a file of COCO-Grounding, and return its folder."""
    return published.write(folder / "coco-ground.json", published.grounding_records(6)).parent


def instances(folder: Path) -> Path:
    """Write a file of COCO's instances, and return its folder."""
    return published.write(folder / "instances_val2014.json", published.instances(20)).parent


CLEAN: dict[str, Callable[[Path], Path]] = {
    "babi": babi,
    "clevr": lambda folder: releases.release(folder, ("val", "test")),
    "coco-grounding": grounding,
    "coco-instances": instances,
    "howmany-qa": published.howmany,
    "tallyqa": lambda folder: published.tallyqa(folder, train=20, test=10),
}


def files_in(folder: Path) -> list[Path]:
    """Return all files in a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def left_by_macos(folder: Path) -> None:
    """Add what macOS writes to disks of others: a file `._` beside each file and folder."""
    for path in [*files_in(folder), *(one for one in folder.rglob("*") if one.is_dir())]:
        path.with_name(f"._{path.name}").write_bytes(NOISE)
        (path.parent / ".DS_Store").write_bytes(NOISE)


def unpacked_on_macos(folder: Path) -> None:
    """Add the folder `__MACOSX` of an archive that macOS packed."""
    for path in files_in(folder):
        beside = folder / "__MACOSX" / folder.name / path.relative_to(folder).with_name(f"._{path.name}")
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(NOISE)
        shutil.copy(path, beside.with_name(path.name))


def left_by_windows(folder: Path) -> None:
    """Add what Windows and network disks keep in folders."""
    for place in {path.parent for path in files_in(folder)}:
        for name in ("Thumbs.db", "desktop.ini"):
            (place / name).write_bytes(NOISE)
    for path in files_in(folder):
        (path.parent / "@eaDir" / path.name).mkdir(parents=True, exist_ok=True)
        (path.parent / "@eaDir" / path.name / "SYNOPHOTO_THUMB_0001.jpg").write_bytes(NOISE)


def left_by_programs(folder: Path) -> None:
    """Add what editors, notebooks and version control keep in folders."""
    for path in files_in(folder):
        for name in (f".~lock.{path.name}#", f"~${path.name}", f".{path.name}.swp", f".git/{path.name}"):
            (path.parent / name).parent.mkdir(exist_ok=True)
            (path.parent / name).write_bytes(NOISE)
        (path.parent / ".ipynb_checkpoints").mkdir(exist_ok=True)
        shutil.copy(path, path.parent / ".ipynb_checkpoints" / path.name)


def packed(folder: Path) -> None:
    """Pack each file of text with gzip."""
    for path in [one for one in files_in(folder) if one.suffix in (".json", ".txt")]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def packed_in_secret(folder: Path) -> None:
    """Pack each file of text with gzip, under its old name, as some servers send it."""
    for path in [one for one in files_in(folder) if one.suffix in (".json", ".txt")]:
        path.write_bytes(gzip.compress(path.read_bytes()))


def in_capitals(folder: Path) -> None:
    """Write the extensions in capitals."""
    for path in files_in(folder):
        path.rename(path.with_suffix(path.suffix.upper()))


def deeper(folder: Path) -> None:
    """Move everything into a folder of the same name, as unpacking programs do."""
    inner = folder.with_name("aside")
    folder.rename(inner)
    folder.mkdir()
    inner.rename(folder / folder.name)


def linked(folder: Path) -> None:
    """Turn the files into links to files elsewhere, and add a link back to the folder."""
    elsewhere = folder.with_name("elsewhere")
    for path in files_in(folder):
        own = elsewhere / path.relative_to(folder)
        own.parent.mkdir(parents=True, exist_ok=True)
        path.rename(own)
        path.symlink_to(own)
    (folder / "zz-back").symlink_to(folder)


def with_mark(folder: Path) -> None:
    """Begin each file of text with a byte order mark."""
    for path in [one for one in files_in(folder) if one.suffix in (".json", ".txt")]:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


HABITS = (
    left_by_macos,
    unpacked_on_macos,
    left_by_windows,
    left_by_programs,
    packed,
    packed_in_secret,
    in_capitals,
    deeper,
    linked,
    with_mark,
)


def items_of(format_: str, folder: Path) -> dict[str, list[Any]]:
    """Return the items of each split that a reader finds in a folder."""
    reader = find_reader(format_)
    found = reader.find([folder])
    spec = get_world(reader.world).read_spec(reader.spec(found))
    return {
        split.name: [
            read.item for read in reader.read(split, spec=spec, opened=lambda name: open_published(Path(name)))
        ]
        for split in found.splits
    }


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.__name__)
@pytest.mark.parametrize("format_", sorted(READERS))
def test_a_folder_gives_the_items_of_a_clean_one(tmp_path: Path, format_: str, habit: Callable[[Path], None]) -> None:
    folder = CLEAN[format_](tmp_path / "theirs")
    expected = items_of(format_, folder)
    assert expected and all(expected.values())
    habit(folder)
    assert items_of(format_, folder) == expected


@pytest.mark.parametrize("format_", sorted(READERS))
def test_each_file_can_be_named_packed(tmp_path: Path, format_: str) -> None:
    folder = CLEAN[format_](tmp_path / "theirs")
    expected = items_of(format_, folder)
    packed(folder)
    reader = find_reader(format_)
    found = reader.find([path for path in files_in(folder) if path.suffix == ".gz"])
    assert [split.name for split in found.splits] == list(expected)


def test_pictures_alone_are_found_among_what_macos_leaves(tmp_path: Path) -> None:
    releases.draw(tmp_path / "val", "val", range(3))
    expected = items_of("clevr", tmp_path)
    left_by_macos(tmp_path)
    assert items_of("clevr", tmp_path) == expected
    assert [item.image_name for item in expected["val"]] == [releases.image_name("val", number) for number in range(3)]


@pytest.mark.parametrize("end", [".part", ".crdownload", ".aria2"])
@pytest.mark.parametrize("format_", sorted(READERS))
def test_the_part_of_a_download_is_named(tmp_path: Path, format_: str, end: str) -> None:
    folder = CLEAN[format_](tmp_path / "theirs")
    first = files_in(folder)[0]
    first.rename(first.with_name(first.name + end))
    with pytest.raises(BadRecord, match="Expected whole files, got the part of a download") as it:
        items_of(format_, folder)
    assert it.value.where == str(first) + end


@pytest.mark.parametrize("format_", sorted(READERS))
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, format_: str) -> None:
    folder = CLEAN[format_](tmp_path / "theirs")
    first = files_in(folder)[0]
    first.unlink()
    first.symlink_to(tmp_path / "gone")
    with pytest.raises(BadRecord, match="got a link that leads nowhere") as it:
        items_of(format_, folder)
    assert it.value.where == str(first)


@pytest.mark.parametrize("format_", sorted(set(READERS) - {"babi"}))
def test_a_file_that_is_there_twice_is_refused(tmp_path: Path, format_: str) -> None:
    folder = CLEAN[format_](tmp_path / "theirs")
    first = next(path for path in files_in(folder) if path.suffix == ".json")
    first.with_name(f"{first.name}.gz").write_bytes(gzip.compress(json.dumps(json.loads(first.read_text())).encode()))
    with pytest.raises(BadRecord, match="Expected one file with"):
        items_of(format_, folder)
