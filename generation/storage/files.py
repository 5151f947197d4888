"""Files in storage, written whole or not at all: on this machine's disk or in an S3 bucket.

A folder can be packed into one zip file, whose bytes depend only on what is in the folder.
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

A_LONG_TIME_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment a zip file knows
PACKED = {".json", ".md", ".csv", ".txt", ".yaml", ".tsv", ".py", ".svg", ""}  # the others are compressed already
STEP = 1 << 20
MODE = 0o644 << 16


def write_zip(folder: Path, path: Path, *, top: str, check: Callable[[], None] = lambda: None) -> int:
    """Return the size of the zip file that was written of a folder, in bytes.

    Parameters
    ----------
    folder : Path
    path : Path
        Where the file is written; the disk has it afterwards.
    top : str
        The folder that unpacking it makes.
    check : callable
        Called now and then; what it raises stops the writing.
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
    """Delete a file or folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


GIB = 1024**3
PIECE = 1024**2
DRAFT_LIFE = 86400.0  # seconds after which nobody writes at a temporary file or folder any more
TEMPORARY = ("tmp*.upload*", "predictions-*", "horsesense-reading-*")  # of Django's uploads, and of reading
FULL = {errno.ENOSPC, errno.EDQUOT}
REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.EIO}
POSTGRESQL_FULL = "53100"


def local_path(name: str) -> Path | None:
    """Return where a stored file lies on this machine's disk, or None where the storage is elsewhere."""
    try:
        return Path(default_storage.path(name))
    except NotImplementedError:
        return None


class NoSpace(OSError):
    """Less of the disk is free than `DISK_RESERVE_GB`; jobs wait for space as they do when the disk is full."""


def check_reserve() -> None:
    """Raise `NoSpace` where too little of the disk is free; called before every write of a stored file."""
    shortage = disk_shortage()
    if shortage:
        raise NoSpace(errno.ENOSPC, shortage)


def put(name: str, content: bytes) -> None:
    """Store a file under exactly this name, whole or not at all; a file that is there already is replaced."""
    check_reserve()
    path = local_path(name)
    if path is None:
        default_storage.save(name, ContentFile(content))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def adopt(name: str, path: Path) -> None:
    """Store a file that lies on this machine's disk under a name, whole or not at all; it is gone from where it lay."""
    check_reserve()
    home = local_path(name)
    if home is None:
        with path.open("rb") as content:
            default_storage.save(name, File(content))
        path.unlink()
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    path.chmod(settings.FILE_UPLOAD_PERMISSIONS or 0o644)
    shutil.move(path, home)  # a rename where both are on one disk, as drafts are


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it: temporary name, fsync, rename."""
    draft = path.with_name(draft_name(path.name))
    try:
        write_synced(draft, content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def draft_name(name: str) -> str:
    """Return a name of its own for what is being written, by which `drop_abandoned` knows it again."""
    return f".{name}.{secrets.token_hex(4)}"


def drop_abandoned() -> int:
    """Return how many temporary files and folders were deleted: left behind by processes that were killed."""
    places = [place for place in (local_path(""), settings.VAR_DIR / "cache") if place is not None]
    return sum(drop_abandoned_below(place) for place in places) + _drop_old(_temporary_files())


def drop_abandoned_below(place: Path) -> int:
    return _drop_old(_drafts_below(place))


def _drop_old(paths: Iterator[Path]) -> int:
    """Return how many files and folders were deleted, at which nobody writes any more."""
    abandoned = [path for path in paths if _age(path) > DRAFT_LIFE]
    for path in abandoned:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(abandoned)


def _temporary_files() -> Iterator[Path]:
    """Yield what our processes keep in this machine's folder of temporary files while they receive and read files."""
    for pattern in TEMPORARY:
        for path in Path(tempfile.gettempdir()).glob(pattern):
            with suppress(OSError):
                if path.lstat().st_uid == os.getuid() and not path.is_symlink():
                    yield path


def old_folders(place: str) -> list[str]:
    """Return the folders of a folder of the storage at which nobody writes any more, by their names in the storage."""
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
    with suppress(FileNotFoundError):  # its writer has just finished
        return time.time() - path.stat().st_mtime
    return 0.0


def write_synced(path: Path, content: bytes) -> None:
    """Write a file and wait until the disk has it."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(settings.FILE_UPLOAD_PERMISSIONS or 0o644)


def get(name: str) -> bytes:
    with default_storage.open(name, "rb") as file:
        content: bytes = file.read()
    return content


def size(name: str) -> int:
    """Return how large a stored file is, in bytes."""
    path = local_path(name)
    return path.stat().st_size if path is not None else default_storage.size(name)


def size_below(folder: str) -> int:
    """Return how many bytes the files of a folder of the storage have, those of its own folders left out."""
    try:
        _, names = default_storage.listdir(folder)
    except FileNotFoundError:
        return 0
    return sum(size(f"{folder}/{name}") for name in names)


def sizes_below(folder: str) -> dict[str, int]:
    """Return how large each file below a folder of a bucket is, asked for by thousands; of our disk nothing."""
    if local_path(folder) is not None:
        return {}
    bucket: Any = default_storage
    return {found.key: found.size for found in bucket.bucket.objects.filter(Prefix=folder)}


def pieces(name: str) -> Iterator[bytes]:
    """Yield a stored file's content piece by piece: however large it is, little of it is in memory."""
    path = local_path(name)
    if path is None:  # its own way to read a file keeps all of it
        bucket: Any = default_storage
        yield from bucket.bucket.Object(name).get()["Body"].iter_chunks(PIECE)
        return
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


@contextmanager
def on_disk(name: str) -> Iterator[Path]:
    """Give the path of a stored file on this machine's disk; for a file of a bucket, the path of a temporary copy."""
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
    """Delete a stored file; nothing happens where there is none."""
    if name:
        default_storage.delete(name)


def drop_folder(name: str) -> None:
    """Delete what is left of a folder of the storage, with everything in it."""
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
    """Return how many GB are free on the disk of MEDIA_ROOT, or None where files are kept elsewhere."""
    path = local_path("")
    if path is None:
        return None
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free / GIB


def disk_shortage() -> str:
    """Return what to tell people when too little disk is free; empty while there is enough."""
    free = disk_free()
    if free is None or free >= settings.DISK_RESERVE_GB:
        return ""
    return (
        f"Waiting for disk space: expected {settings.DISK_RESERVE_GB:g} GB under MEDIA_ROOT, got {free:.1f}. "
        "Delete something, or change DISK_RESERVE_GB."
    )


def is_full(error: Exception) -> bool:
    """Return whether an error says that no space was left, be it for a file or for the database."""
    if isinstance(error, OSError):
        return error.errno in FULL
    cause = error.__cause__
    full = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return full or getattr(cause, "sqlstate", None) == POSTGRESQL_FULL


def in_words(error: Exception) -> str:
    """Return what to tell people about an error that nobody expected."""
    if isinstance(error, OSError) and error.errno in REFUSED:
        what = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{what}. Make MEDIA_ROOT a folder that can be written, then go on."
    return f"unexpected {type(error).__name__}: {error}. The log says more."
