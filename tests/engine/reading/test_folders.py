"""Folders of published files: what is left out, what is refused, and links."""

import os
from pathlib import Path

import pytest

from generation.engine.errors import BadRecord
from generation.engine.reading.folders import DEPTH, is_left_behind, list_files, walk

LEFT_BEHIND = (
    "._scenes.json",
    ".DS_Store",
    ".ipynb_checkpoints",
    ".git",
    "__MACOSX",
    "Thumbs.db",
    "thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
    "Desktop.ini",
    "@eaDir",
    "@__thumb",
    "@Recycle",
    "@Recently-Snapshot",
    "@tmp",
    "#recycle",
    "#snapshot",
    "~snapshot",
    ".snapshot",
    ".Trash-1000",
    ".Trashes",
    ".Spotlight-V100",
    "RECYCLER",
    "Recycled",
    "lost+found",
    "Network Trash Folder",
    "__pycache__",
    "node_modules",
    "$RECYCLE.BIN",
    "System Volume Information",
    "~$scenes.json",
    ".~lock.scenes.json#",
)
PARTS = (
    "a.json.part",
    "a.json.crdownload",
    "a.json.partial",
    "a.JSON.Part",
    "a.json.aria2",
    "a.download",
    "a.filepart",
)


def fill(folder: Path, *names: str) -> Path:
    """Write an empty file for each name, with its folders."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def names_in(folder: Path) -> list[str]:
    """Return the paths of all files that a walk finds."""
    return [str(path.relative_to(folder)) for place in walk(folder) for path in place.files]


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_what_systems_and_programs_leave_is_left_out(tmp_path: Path, name: str) -> None:
    fill(tmp_path, "scenes.json", name, f"deeper/{name}/scenes.json")
    assert is_left_behind(name)
    assert names_in(tmp_path) == ["scenes.json"]
    assert list_files(tmp_path) == [tmp_path / "scenes.json"]


@pytest.mark.parametrize("name", ["scenes.json", "a.scenes.json", "_scenes.json", "macosx", "thumbs.json", "part.json"])
def test_other_names_are_kept(tmp_path: Path, name: str) -> None:
    assert not is_left_behind(name)
    assert names_in(fill(tmp_path, name)) == [name]


@pytest.mark.parametrize("name", PARTS)
def test_the_part_of_a_download_is_refused(tmp_path: Path, name: str) -> None:
    fill(tmp_path, "scenes.json", f"deeper/{name}")
    with pytest.raises(BadRecord, match="got the part of a download") as it:
        names_in(tmp_path)
    assert it.value.where == str(tmp_path / "deeper" / name)


def test_a_link_is_followed_and_each_folder_is_listed_once(tmp_path: Path) -> None:
    fill(tmp_path, "own/a.json", "elsewhere/b.json")
    (tmp_path / "own" / "again").symlink_to(tmp_path / "own")
    (tmp_path / "own" / "first").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "own" / "second").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "own" / "file.json").symlink_to(tmp_path / "elsewhere" / "b.json")
    assert names_in(tmp_path / "own") == ["a.json", "file.json", "first/b.json"]


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scenes.json").symlink_to(tmp_path / "gone.json")
    with pytest.raises(BadRecord, match="got a link that leads nowhere"):
        names_in(tmp_path)


def test_folders_are_searched_to_a_depth_and_without_those_that_are_skipped(tmp_path: Path) -> None:
    deep = "/".join("abcdefgh"[: DEPTH + 1])
    fill(tmp_path, "a/b/in.json", f"{deep}/out.json", "skipped/c.json")
    assert names_in(tmp_path) == ["a/b/in.json", "skipped/c.json"]
    assert [str(one.path.name) for one in walk(tmp_path, skipped=("skipped",))][1:3] == ["a", "b"]


def test_files_that_a_user_hid_are_told_from_those_of_systems(tmp_path: Path) -> None:
    fill(tmp_path, "a.json", ".b.json", "._a.json", ".~lock.a.json#", ".git/c.json")
    [folder] = walk(tmp_path)
    assert ([path.name for path in folder.files], [path.name for path in folder.hidden]) == (["a.json"], [".b.json"])


def test_names_of_any_bytes_are_listed(tmp_path: Path) -> None:
    odd = os.fsdecode(b"caf\xe9.json")
    fill(tmp_path, odd, "a b\n.json", "行.json")
    assert sorted(path.name for path in list_files(tmp_path)) == sorted([odd, "a b\n.json", "行.json"])


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="Expected a folder that can be read"):
        list_files(tmp_path / "gone")
