"""A folder of backups that share their files: a file that has not changed since the latest backup is not read again.

::

    site-20261122-030000-123456.tar  a backup: tables, secrets, and a list of files with their SHA-256
    objects/<two digits>/<SHA-256>   the content of a file, stored once for all backups that list it

A file counts as unchanged if the latest backup lists it with the same name, size and version (see
`stored_files.StoredFile`), and its object still has this size.
"""

import fcntl
import gzip
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from webapp.backups import stored_files
from webapp.backups.archive import BLOCK, OBJECTS, SHARING, BadArchive, Contents, OutsideFile, Writer, object_path
from webapp.backups.archive_reader import ArchiveReader
from webapp.backups.parallel_files import in_order
from webapp.backups.writing import SILENT, BackupProgress, NotWritten, draft_of, write_archive

STEM = "site-"
LOCK = ".lock"
DRAFTS = "*.part"
PART = 20_000  # files in one part of the list


class BackupFiles(NamedTuple):
    path: Path
    contents: Contents
    read: int  # how many files were read for it


def write_into(
    folder: Path, *, stem: str = STEM, keep: int | None = None, pictures: bool = True, progress: BackupProgress = SILENT
) -> BackupFiles:
    """Write a backup into a folder and return it; the file appears there only when it is complete.

    Parameters
    ----------
    folder : Path
        Created if it is missing.
    stem : str
        The beginning of the file's name.
    keep : int, optional
        How many backups with this stem to keep; older ones are deleted after the new one is complete.
    pictures : bool
        Whether to write the pictures that this program can draw again.
    progress : BackupProgress

    Raises
    ------
    NotWritten
        If another process is writing into the folder. Errors of the disk and the database are not caught.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone_in(folder):
        _drop_drafts(folder)
        path = folder / f"{stem}{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.tar"
        files = BackupFolder(folder)
        with draft_of(path) as file:
            contents = write_archive(file, files=files, pictures=pictures, progress=progress)
            stored_files.sync()  # sync the objects to disk before the backup that lists them gets its name
        if keep is not None:
            drop_old(folder, stem=stem, keep=keep)
        return BackupFiles(path, contents, files.read)


def drop_old(folder: Path, *, stem: str, keep: int) -> None:
    """Delete all backups with this stem but the latest ones, and the objects that no backup in the folder lists."""
    for old in _backups(folder, stem)[:-keep]:
        old.unlink(missing_ok=True)
    listed: set[str] = set()
    try:
        for path in folder.glob("*.tar"):
            listed.update(file.digest for file in _listed_in(path))
    except (BadArchive, OSError):  # an unreadable backup may need any object, so nothing is deleted
        return
    for found in (folder / OBJECTS).glob("*/*"):
        if found.name not in listed:
            found.unlink(missing_ok=True)


class BackupFolder:
    """Stores the files of a backup in the folder `objects`; it reads only the files that are new or changed.

    Attributes
    ----------
    read : int
        The number of files that were read.
    """

    format = SHARING

    def __init__(self, folder: Path) -> None:
        self.folder, self.read = folder, 0

    def write(
        self, writer: Writer, entries: Iterator[stored_files.StoredFile], *, note: Callable[[int], object]
    ) -> None:
        """Store the files, several at the same time, and write their list."""
        part: list[OutsideFile] = []
        number = 0
        for file in in_order(self._jobs(entries)):
            if file is None:  # the file was deleted in the meantime; a restore draws the picture again
                continue
            part.append(file)
            note(file.size)
            if len(part) == PART:
                writer.add_list(number, _compressed(part), listed=part)
                number, part = number + 1, []
        if part:
            writer.add_list(number, _compressed(part), listed=part)

    def _jobs(self, entries: Iterator[stored_files.StoredFile]) -> Iterator[Callable[[], OutsideFile | None]]:
        last = Last(self.folder)
        for entry in entries:
            known = last.find(entry)
            if known is None:
                self.read += 1
                yield partial(_keep, self.folder, entry, stored_files.reader(entry.name))
            else:
                yield partial(_same, known)


class Last:
    """The file list of the folder's latest backup; it is read together with the storage, in the same order.

    Archives from before a migration are in the same folder, and have no list.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        backups = sorted(_backups(folder, ""), key=lambda path: path.stat().st_mtime)
        latest = next((path for path in reversed(backups) if _has_list(path)), None)
        self.rest = _listed_in(latest) if latest else iter(())
        self.next: OutsideFile | None = None
        self._step()

    def find(self, entry: stored_files.StoredFile) -> OutsideFile | None:
        """Return the latest backup's entry for a file if the file is unchanged and its object exists, else None."""
        place = entry.name.split("/")
        while self.next is not None and self.next.name.split("/") < place:
            self._step()
        found = self.next
        if found is None or found[:3] != tuple(entry):
            return None
        with suppress(FileNotFoundError):
            return found if object_path(self.folder, found.digest).stat().st_size == found.size else None
        return None

    def _step(self) -> None:
        try:
            self.next = next(self.rest, None)
        except (BadArchive, OSError):  # the rest of a damaged list is not used; `find` checks the earlier entries
            self.next = None


def _listed_in(path: Path) -> Iterator[OutsideFile]:
    for part in ArchiveReader(path).parts():
        yield from part.listed


def _has_list(path: Path) -> bool:
    try:
        return ArchiveReader(path).header.format == SHARING
    except (BadArchive, OSError):
        return False


def _same(file: OutsideFile) -> OutsideFile:
    return file


def _keep(folder: Path, entry: stored_files.StoredFile, job: Callable[[], IO[bytes] | None]) -> OutsideFile | None:
    """Store a file's content as an object and return its entry; return None if the file was deleted in the meantime."""
    stream = job()
    if stream is None:
        return None
    draft = folder / OBJECTS / f"{secrets.token_hex(8)}.part"
    draft.parent.mkdir(mode=0o700, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    try:
        with stream, os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            while block := stream.read(BLOCK):
                digest.update(block)
                size += file.write(block)
        path = object_path(folder, digest.hexdigest())
        path.parent.mkdir(mode=0o700, exist_ok=True)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return OutsideFile(entry.name, size, entry.version, digest.hexdigest())


def _compressed(part: list[OutsideFile]) -> bytes:
    return gzip.compress("".join(json.dumps(file) + "\n" for file in part).encode(), mtime=0)


def _backups(folder: Path, stem: str) -> list[Path]:
    return sorted(path for path in folder.glob(f"{stem}*.tar"))


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    with os.fdopen(os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600), "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise NotWritten(
                "Expected no other backup to be written here, but one is. Wait until it is done.", where=str(folder)
            ) from error
        yield


def _drop_drafts(folder: Path) -> None:
    for left in [*folder.glob(f".{DRAFTS}"), *folder.glob(f"{OBJECTS}/{DRAFTS}")]:
        left.unlink(missing_ok=True)
