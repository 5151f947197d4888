"""The files of the storage: gone through in order, put back, and taken away again where a restore fails."""

import os
import shutil
from collections.abc import Iterator
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import IO

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from generation import files, thumbnails
from webapp.backups.archive import Digested, is_plain_name

MARK = ".restoring"  # holds the digest of the archive while its files are being put back
IN_MEMORY = 8 * 1024 * 1024  # bytes of a file on its way to a bucket


def names(folder: str = "") -> Iterator[str]:
    """Yield the names of all files, in order; drafts of files and what pages make for themselves are none."""
    try:
        folders, plain = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for name, is_folder in sorted([*((name, True) for name in folders), *((name, False) for name in plain)]):
        path = f"{folder}/{name}" if folder else name
        if not is_plain_name(path):
            continue
        if is_folder:
            yield from names(path)
        elif not path.endswith(thumbnails.ENDING):
            yield path


def is_empty() -> bool:
    """Return whether the storage has no file that a backup would take."""
    return next(names(), None) is None


def size_of(stream: IO[bytes]) -> int:
    """Return how many bytes an open file has."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    return size


def write(name: str, stream: Digested) -> None:
    """Store a file under exactly this name; `sync` makes sure that the disk has it."""
    path = files.local_path(name)
    if path is None:
        with SpooledTemporaryFile(max_size=IN_MEMORY) as whole:
            shutil.copyfileobj(stream, whole)
            whole.seek(0)
            default_storage.save(name, File(whole))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(files.draft_name(path.name))
    with draft.open("wb") as file:
        shutil.copyfileobj(stream, file)
    draft.chmod(settings.FILE_UPLOAD_PERMISSIONS or 0o644)
    draft.replace(path)


def sync() -> None:
    """Return when the disk has all that was written: once for all files takes a fraction of once for each."""
    os.sync()


def erase() -> None:
    """Delete everything."""
    for top in sorted({PurePosixPath(name).parts[0] for name in names()}):
        files.drop_folder(top)
        files.drop(top)


def mark(digest: str) -> None:
    """Note that the files of an archive are being put back."""
    files.put(MARK, digest.encode())


def is_marked(digest: str) -> bool:
    """Return whether a restore of this archive was interrupted here."""
    try:
        return files.get(MARK) == digest.encode()
    except FileNotFoundError:
        return False


def unmark() -> None:
    """Note that all files are back, or gone again."""
    files.drop(MARK)
