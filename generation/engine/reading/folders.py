"""Folders of published files: what they contain, without what operating systems and programs leave there."""

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from generation.engine.errors import BadRecord

DEPTH = 4  # folders within the folder that was named
LEFT_BY_SYSTEMS = frozenset(
    (
        "__macosx",
        "@eadir",
        "@__thumb",
        "@recycle",
        "@recently-snapshot",
        "@tmp",
        "#recycle",
        "#snapshot",
        "~snapshot",
        "recycler",
        "recycled",
        "$recycle.bin",
        "lost+found",
        "network trash folder",
        "temporary items",
        "__pycache__",
        "node_modules",
        "system volume information",
        "thumbs.db",
        "ehthumbs.db",
        "desktop.ini",
        "icon\r",
    )
)
HIDDEN = re.compile(r"\.[^._~]")  # not `._scenes.json`, which macOS writes, nor `.~lock.scenes.json#`
LEFT_OPEN = ("~$", "~lock.")  # the starts of names of files that a program has open
UNFINISHED = (".part", ".partial", ".crdownload", ".download", ".filepart", ".aria2", ".!ut", ".opdownload")


class Folder(NamedTuple):
    """A folder, and the files in it, by name. Of the files that are left out, `hidden` has those that users hide."""

    path: Path
    files: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()


def is_left_behind(name: str) -> bool:
    """Return whether a name is one that systems and programs leave in folders, such as `._scenes.json` of macOS."""
    return name.startswith((".", *LEFT_OPEN)) or name.lower() in LEFT_BY_SYSTEMS


def list_files(folder: Path) -> list[Path]:
    """Return the files in a folder, by name; raise `BadRecord` if it cannot be read or has a part of a download."""
    return list(_list(folder)[0].files)


def walk(folder: Path, *, skipped: Collection[str] = ()) -> Iterator[Folder]:
    """Yield a folder and the folders within it, by name, each once even if links lead to it several times.

    Parameters
    ----------
    folder : Path
    skipped : collection of str
        The names of folders that are left out.

    Raises
    ------
    BadRecord
        If a folder cannot be read, a link leads nowhere, or a file is the part of a download.
    """
    yield from _walk(folder, depth=DEPTH, skipped=skipped, met=set())


def _walk(folder: Path, *, depth: int, skipped: Collection[str], met: set[str]) -> Iterator[Folder]:
    place = os.path.realpath(folder)
    if place in met:
        return
    met.add(place)
    listed, folders = _list(folder)
    yield listed
    if depth:
        for inner in folders:
            if inner.name not in skipped:
                yield from _walk(inner, depth=depth - 1, skipped=skipped, met=met)


def _list(folder: Path) -> tuple[Folder, list[Path]]:
    """Return a folder with its files, and the folders in it."""
    files, folders, hidden = [], [], []
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda one: one.name)
        for entry in found:
            path = folder / entry.name
            if is_left_behind(entry.name):
                if HIDDEN.match(entry.name) and entry.is_file():
                    hidden.append(path)
            elif entry.is_dir():
                folders.append(path)
            elif entry.is_file():
                files.append(path)
            elif entry.is_symlink():
                raise BadRecord(
                    "Expected a link to a file or a folder, got a link that leads nowhere. Get the file, or remove "
                    "the link.",
                    where=str(path),
                )
    except OSError as error:
        raise BadRecord(f"Expected a folder that can be read, got: {error.strerror}.", where=str(folder)) from error
    for path in files:
        if path.name.lower().endswith(UNFINISHED):
            raise BadRecord(
                "Expected whole files, got the part of a download. Finish the download, or remove the part.",
                where=str(path),
            )
    return Folder(folder, tuple(files), tuple(hidden)), folders
