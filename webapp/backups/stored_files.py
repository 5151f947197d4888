"""Lists the files of the storage in order, reads and writes them, and deletes them again if a restore fails."""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple

from django.conf import settings
from django.core.files.storage import default_storage

from generation.storage import files, pictures
from webapp.backups.archive import DigestedStream, is_plain_name

MARK = ".restoring"  # this file contains the digest of the archive while the archive is being restored
IN_MEMORY = 1024 * 1024  # bytes: larger files are buffered on disk while they are sent to or read from a bucket
DELETED_AT_ONCE = 1000  # the most files that one request to a bucket can delete


class StoredFile(NamedTuple):
    """A file of the storage.

    Attributes
    ----------
    version : str
        A text that changes with the content: the ETag in a bucket, or the time of the last change on disk.
    """

    name: str
    size: int
    version: str


def entries(folder: str = "") -> Iterator[StoredFile]:
    """Yield all files in order, except hidden files such as drafts, and thumbnails."""
    folders, plain = _listed(folder)
    found: list[tuple[str, StoredFile | None]] = [*plain.items(), *((name, None) for name in folders)]
    for name, entry in sorted(found, key=lambda pair: pair[0]):
        path = f"{folder}/{name}" if folder else name
        if not is_plain_name(path):
            continue
        if entry is None:
            yield from entries(path)
        elif not path.endswith(pictures.ENDING):
            yield entry


def names() -> Iterator[str]:
    return (entry.name for entry in entries())


def _listed(folder: str) -> tuple[list[str], dict[str, StoredFile]]:
    """Return the names of a folder's subfolders, and its files by name."""
    path = files.local_path(folder)
    if path is None:
        return _listed_in_bucket(f"{folder}/" if folder else "")
    folders, plain = [], {}
    try:
        found = list(os.scandir(path))
    except FileNotFoundError:
        return [], {}
    for item in found:
        try:
            if item.is_dir():
                folders.append(item.name)
                continue
            state = item.stat()
        except FileNotFoundError:  # the file was deleted in the meantime
            continue
        name = f"{folder}/{item.name}" if folder else item.name
        plain[item.name] = StoredFile(name, state.st_size, str(state.st_mtime_ns))
    return folders, plain


def _listed_in_bucket(prefix: str) -> tuple[list[str], dict[str, StoredFile]]:
    bucket: Any = default_storage
    pages = _client().get_paginator("list_objects_v2").paginate(Bucket=bucket.bucket_name, Delimiter="/", Prefix=prefix)
    folders, plain = [], {}
    for page in pages:
        folders += [found["Prefix"][len(prefix) : -1] for found in page.get("CommonPrefixes", ())]
        for found in page.get("Contents", ()):
            name = found["Key"][len(prefix) :]
            plain[name] = StoredFile(found["Key"], found["Size"], found["ETag"])
    return folders, plain


def _client() -> Any:
    # The client is thread-safe, but must be created in the caller's thread.
    bucket: Any = default_storage
    return bucket.connection.meta.client


def is_empty() -> bool:
    return next(names(), None) is None


def size_of(stream: IO[bytes]) -> int:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    return size


def reader(name: str) -> Callable[[], IO[bytes] | None]:
    """Return a job that opens a file of the storage; the job returns None if the file does not exist any more.

    A job for a file in a bucket first downloads the whole file.
    """
    path = files.local_path(name)
    if path is not None:
        return partial(_opened, path)
    return partial(_fetched, name, _client())


def _opened(path: Path) -> IO[bytes] | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def _fetched(name: str, client: Any) -> IO[bytes] | None:
    bucket: Any = default_storage
    whole: Any = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # the caller closes it
    try:
        body = client.get_object(Bucket=bucket.bucket_name, Key=name)["Body"]
    except client.exceptions.NoSuchKey:
        return None
    with body:
        shutil.copyfileobj(body, whole)
    whole.seek(0)
    return whole


def write(name: str, stream: DigestedStream) -> Callable[[], object]:
    """Read a whole stream and return a job that stores its content under exactly this name.

    On a local disk, the file is stored before this function returns, and the job does nothing. `sync` then ensures that
    the file is really on the disk.
    """
    path = files.local_path(name)
    if path is None:
        whole: Any = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # `_upload` closes it
        shutil.copyfileobj(stream, whole)
        whole.seek(0)
        return partial(_upload, name, whole, _client())
    files.check_reserve()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(files.draft_name(path.name))
    with draft.open("wb") as file:
        shutil.copyfileobj(stream, file)
    draft.chmod(settings.FILE_UPLOAD_PERMISSIONS or 0o644)
    draft.replace(path)
    return _nothing


def _upload(name: str, whole: IO[bytes], client: Any) -> None:
    bucket: Any = default_storage
    with whole:
        parameters = bucket._get_write_parameters(name)
        client.upload_fileobj(whole, bucket.bucket_name, name, ExtraArgs=parameters, Config=bucket.transfer_config)


def _nothing() -> None:
    """Do nothing: `write` has already stored the file on the local disk."""


def sync() -> None:
    os.sync()


def erase() -> None:
    """Delete all files of the storage."""
    if files.local_path("") is None:
        _erase_bucket()
        return
    for top in sorted({PurePosixPath(name).parts[0] for name in names()}):
        files.drop_folder(top)
        files.drop(top)


def _erase_bucket() -> None:
    bucket: Any = default_storage
    left: list[dict[str, str]] = []
    for name in names():
        left.append({"Key": name})
        if len(left) == DELETED_AT_ONCE:
            _client().delete_objects(Bucket=bucket.bucket_name, Delete={"Objects": left, "Quiet": True})
            left = []
    if left:
        _client().delete_objects(Bucket=bucket.bucket_name, Delete={"Objects": left, "Quiet": True})


def mark(digest: str) -> None:
    files.put(MARK, digest.encode())


def is_marked(digest: str) -> bool:
    """Return whether a restore of the archive with this digest was interrupted in this storage."""
    try:
        return files.get(MARK) == digest.encode()
    except FileNotFoundError:
        return False


def unmark() -> None:
    files.drop(MARK)
