"""Files in storage, written completely or not at all, on this machine's disk or in an S3 bucket.

A folder can be packed into a zip file, whose bytes depend only on the folder's content.
"""

import errno
import os
import re
import secrets
import shutil
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage

A_LONG_TIME_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can store
PACKED = {".json", ".md", ".csv", ".txt", ".yaml", ".tsv", ".py", ".svg", ""}  # other files are already compressed
STEP = 1 << 20
MODE = 0o644 << 16


def write_zip(folder: Path, path: Path, *, top: str, check: Callable[[], None] = lambda: None) -> int:
    """Write a zip file of a folder, and return its size in bytes.

    Parameters
    ----------
    folder : Path
    path : Path
        The path of the zip file. It is on the disk when the function returns.
    top : str
        The top folder in the zip file.
    check : callable
        Called from time to time. An exception stops the writing.
    """
    with path.open("wb") as file:
        with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
            for source in sorted(entry for entry in folder.rglob("*") if entry.is_file()):
                _add(archive, source, f"{top}/{source.relative_to(folder).as_posix()}", check=check)
        file.flush()
        os.fsync(file.fileno())
    return path.stat().st_size


def _add(archive: zipfile.ZipFile, source: Path, name: str, *, check: Callable[[], None]) -> None:
    entry = zipfile.ZipInfo(name, A_LONG_TIME_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED if source.suffix in PACKED else zipfile.ZIP_STORED
    entry.external_attr, entry.file_size = MODE, source.stat().st_size
    with source.open("rb") as content, archive.open(entry, "w") as packed:
        while part := content.read(STEP):
            check()
            packed.write(part)


def drop_entry(path: Path) -> None:
    """Delete a file or folder, if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


GIB = 1024**3
PIECE = 1024**2
DRAFT_LIFE = 86400.0  # seconds after which a temporary file or folder is abandoned
TEMPORARY = ("tmp*.upload*", "predictions-*", "horsesense-reading-*")  # of Django's uploads, and of reading predictions
DRAFTED = ("cache", "findings", "trainings")  # folders of VAR_DIR in which files have drafts
FULL = {errno.ENOSPC, errno.EDQUOT}
REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.EIO}
POSTGRESQL_FULL = "53100"


def local_path(name: str) -> Path | None:
    """Return the path of a stored file on this machine's disk, or None if the storage is elsewhere."""
    try:
        return Path(default_storage.path(name))
    except NotImplementedError:
        return None


class NoSpace(OSError):
    """The disk has less free space than `DISK_RESERVE_GB`. Jobs then wait, as for a full disk."""


def check_reserve() -> None:
    shortage = disk_shortage()
    if shortage:
        raise NoSpace(errno.ENOSPC, shortage)


def check_room(folder: Path, size: int) -> None:
    """Raise `NoSpace` unless `size` more bytes in a folder of this machine leave `DISK_RESERVE_GB` free."""
    free = shutil.disk_usage(folder).free / GIB
    needed = settings.DISK_RESERVE_GB + size / GIB
    if free < needed:
        raise NoSpace(
            errno.ENOSPC, f"expected {needed:.1f} GB under {folder}, got {free:.1f}. Delete something, or change "
            "DISK_RESERVE_GB",
        )  # fmt: skip


def put(name: str, content: bytes) -> None:
    """Store a file under exactly this name, completely or not at all. An existing file is replaced."""
    check_reserve()
    path = local_path(name)
    if path is None:
        default_storage.save(name, ContentFile(content))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def adopt(name: str, path: Path) -> None:
    """Move a file of this machine's disk into the storage, completely or not at all."""
    check_reserve()
    home = local_path(name)
    if home is None:
        with path.open("rb") as content:
            default_storage.save(name, File(content))
        path.unlink()
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    path.chmod(settings.FILE_UPLOAD_PERMISSIONS or 0o644)
    shutil.move(path, home)  # a rename if both are on one disk, as drafts are


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that no process sees a part of it: temporary name, fsync, rename."""
    draft = path.with_name(draft_name(path.name))
    try:
        write_synced(draft, content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def draft_name(name: str) -> str:
    return f".{name}.{secrets.token_hex(4)}"


def drafts_of(path: Path) -> list[Path]:
    name = re.escape(path.name)
    return [one for one in path.parent.glob(".*") if re.fullmatch(rf"\.{name}\.[0-9a-f]{{8}}", one.name)]


def drop_abandoned() -> int:
    # Processes that are killed leave temporary files and folders in the storage.
    place = local_path("")
    return 0 if place is None else drop_abandoned_below(place)


def drop_abandoned_here() -> int:
    # They also leave them in VAR_DIR, and in the folder for temporary files of this machine.
    places = (Path(settings.VAR_DIR, name) for name in DRAFTED)
    return sum(drop_abandoned_below(place) for place in places) + _drop_old(_temporary_files())


def drop_abandoned_below(place: Path) -> int:
    return _drop_old(_drafts_below(place))


def _drop_old(paths: Iterator[Path]) -> int:
    """Delete abandoned files and folders; return their number."""
    abandoned = [path for path in paths if _age(path) > DRAFT_LIFE]
    for path in abandoned:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(abandoned)


def _temporary_files() -> Iterator[Path]:
    """Yield our temporary files on this machine, which are used to receive and read files."""
    for pattern in TEMPORARY:
        for path in Path(tempfile.gettempdir()).glob(pattern):
            with suppress(OSError):
                if path.lstat().st_uid == os.getuid() and not path.is_symlink():
                    yield path


def old_folders(place: str) -> list[str]:
    """Return the abandoned folders in a folder of the storage, by their names in the storage."""
    path = local_path(place)
    if path is not None:
        return [f"{place}/{one.name}" for one in sorted(path.glob("*/")) if _age(one) > DRAFT_LIFE]
    found = []
    for folder in default_storage.listdir(place)[0]:
        name = f"{place}/{folder}"
        times = [default_storage.get_modified_time(f"{name}/{file}") for file in default_storage.listdir(name)[1]]
        if times and time.time() - max(times).timestamp() > DRAFT_LIFE:
            found.append(name)
    return found


def _drafts_below(place: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(place):
        yield from (Path(folder, name) for name in [*folders, *names] if re.fullmatch(r"\..+\.[0-9a-f]{8}", name))


def _age(path: Path) -> float:
    with suppress(FileNotFoundError):  # the file is finished and was renamed
        return time.time() - path.stat().st_mtime
    return 0.0


def write_synced(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(settings.FILE_UPLOAD_PERMISSIONS or 0o644)


def get(name: str) -> bytes:
    with default_storage.open(name, "rb") as file:
        content: bytes = file.read()
    return content


def part(name: str, start: int, stop: int) -> bytes:
    """Return the bytes of a stored file from one place to another, without reading the others."""
    path = local_path(name)
    if path is None:
        bucket: Any = default_storage
        content: bytes = bucket.bucket.Object(name).get(Range=f"bytes={start}-{stop - 1}")["Body"].read()
        return content
    with path.open("rb") as file:
        file.seek(start)
        return file.read(stop - start)


def size(name: str) -> int:
    path = local_path(name)
    return path.stat().st_size if path is not None else default_storage.size(name)


def size_below(folder: str) -> int:
    """Return the bytes of all files in a folder of the storage, without subfolders."""
    try:
        _, names = default_storage.listdir(folder)
    except FileNotFoundError:
        return 0
    return sum(size(f"{folder}/{name}") for name in names)


def sizes_below(folder: str) -> dict[str, int]:
    """Return the size of each file below a folder of a bucket, with few requests; empty for a local disk."""
    if local_path(folder) is not None:
        return {}
    bucket: Any = default_storage
    return {found.key: found.size for found in bucket.bucket.objects.filter(Prefix=folder)}


def pieces(name: str) -> Iterator[bytes]:
    """Yield a stored file's content in pieces, so that large files need little memory."""
    path = local_path(name)
    if path is None:  # the storage's own way of reading keeps the whole file in memory
        bucket: Any = default_storage
        yield from bucket.bucket.Object(name).get()["Body"].iter_chunks(PIECE)
        return
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


@contextmanager
def on_disk(name: str) -> Iterator[Path]:
    """Yield the path of a stored file on this machine's disk; for a bucket, the path of a temporary copy."""
    path = local_path(name)
    if path is not None:
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="horsesense-reading-") as copy:
        for piece in pieces(name):
            copy.write(piece)
        copy.flush()
        yield Path(copy.name)


def drop(name: str) -> None:
    if name:
        default_storage.delete(name)


def drop_folder(name: str) -> None:
    """Delete a folder of the storage with everything in it."""
    path = local_path(name)
    if path is not None:
        shutil.rmtree(path, ignore_errors=True)
        return
    folders, files = default_storage.listdir(name)
    for file in files:
        default_storage.delete(f"{name}/{file}")
    for folder in folders:
        drop_folder(f"{name}/{folder}")


def disk_free() -> float | None:
    """Return how many GB of MEDIA_ROOT's disk are free, or None if files are stored elsewhere."""
    path = local_path("")
    if path is None:
        return None
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free / GIB


def disk_shortage() -> str:
    """Return a message for users if too little disk space is free; otherwise an empty text."""
    free = disk_free()
    if free is None or free >= settings.DISK_RESERVE_GB:
        return ""
    return (
        f"Waiting for disk space: expected {settings.DISK_RESERVE_GB:g} GB under MEDIA_ROOT, got {free:.1f}. "
        "Delete something, or change DISK_RESERVE_GB."
    )


def is_full(error: Exception) -> bool:
    """Return whether an error means that no space was left for a file or for the database."""
    if isinstance(error, OSError):
        return error.errno in FULL
    cause = error.__cause__
    full = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return full or getattr(cause, "sqlstate", None) == POSTGRESQL_FULL


def in_words(error: Exception) -> str:
    """Return a message for users about an unexpected error."""
    if isinstance(error, OSError) and error.errno in REFUSED:
        what = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{what}. Make MEDIA_ROOT a folder that can be written, then go on."
    return f"unexpected {type(error).__name__}: {error}. The log says more."
