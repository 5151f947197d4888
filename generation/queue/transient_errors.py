"""Outages: errors that a job does not cause, because storage, disk, database or network are unavailable for a time."""

import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError

from generation.storage import files

AWAY = {
    errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT, errno.EHOSTUNREACH,
    errno.EHOSTDOWN, errno.ENETUNREACH, errno.ENETDOWN, errno.ENETRESET, errno.ENOTCONN,
}  # fmt: skip
BROKEN = {errno.EROFS, errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO}  # errors of a disk, for any file
PLACES = {errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, errno.EISDIR}  # only for files in folders of the site
LITE = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL,
}  # fmt: skip
# PostgreSQL's classes of errors: connection, transaction rollback (deadlock), insufficient resources, operator
# intervention, system error. Then single errors: read-only transaction, timeout of an idle transaction, lock not
# available.
STATES = ("08", "40", "53", "57", "58", "25006", "25P03", "55P03")
REFUSALS = {"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "NoSuchBucket", "SlowDown"}
NOT_FOUND = {"404", "NoSuchKey", "NotFound"}


WAITING = "Waiting for"
GOES_ON = "Once that is mended, it goes on by itself."


class Outage(NamedTuple):
    """The thing that is unavailable, and the error that shows it."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{WAITING} {self.what}: {self.why.rstrip('.')}. {GOES_ON}"


def describe_stop(message: str) -> str:
    # For a command that ends, and does not wait: nothing goes on by itself.
    return message.removesuffix(GOES_ON).rstrip().replace(WAITING, "Stopped, because it had to wait for", 1)


def find_outage(error: BaseException) -> Outage | None:
    """Return the outage that caused an error; None if the job itself caused it."""
    for one in _causes(error):
        found = _outage(one)
        if found is not None:
            return found
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and then its causes, the latest first."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)


def _outage(error: BaseException) -> Outage | None:
    if isinstance(error, Exception) and files.is_full(error):
        return Outage("disk space", _disk_words(error))
    if isinstance(error, DatabaseError):
        return Outage("the database", _words(error)) if _is_database_away(error) else None
    if _is_redis_away(error):
        return Outage("Redis", _words(error))
    # This comes before OSError, because some of these errors are also an OSError.
    if type(error).__module__.startswith(("botocore.", "urllib3.", "boto3.", "s3transfer.")):
        return Outage("the store of files", _words(error)) if _is_store_away(error) else None
    if isinstance(error, OSError):
        return _os_outage(error)
    return None


def _words(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _disk_words(error: Exception) -> str:
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename}" if error.filename else error.strerror


def _is_redis_away(error: BaseException) -> bool:
    """Return whether Redis cannot be reached, loads its data, is full, or is a read-only replica."""
    from redis import exceptions  # most processes need no Redis, and loading it takes them 30 ms

    refusals = (exceptions.OutOfMemoryError, exceptions.ReadOnlyError, exceptions.MasterDownError)
    return isinstance(error, (exceptions.ConnectionError, exceptions.TimeoutError, *refusals))


def _is_database_away(error: BaseException) -> bool:
    """Return whether the database was unavailable. A wrong statement is an error in this program instead."""
    cause: Any = error.__cause__
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in LITE
    if isinstance(cause, sqlite3.Error):
        return False
    state = getattr(cause, "sqlstate", None)
    return isinstance(error, OperationalError | InterfaceError) if state is None else str(state).startswith(STATES)


def _os_outage(error: OSError) -> Outage | None:
    if isinstance(error, ConnectionError | TimeoutError) or error.errno in AWAY:
        return Outage("the network", _words(error))
    if error.errno in BROKEN or (error.errno in PLACES and _is_ours(error.filename)):
        return Outage("the store of files", files.in_words(error))
    if isinstance(error, FileNotFoundError) and not _is_store_there():
        return Outage("the store of files", _words(error))
    return None


def _is_ours(name: object) -> bool:
    """Return whether a path is in a folder in which the site stores files."""
    if not isinstance(name, str | bytes | Path):
        return False
    path = Path(name.decode() if isinstance(name, bytes) else name)
    return any(path.is_relative_to(place) for place in (settings.MEDIA_ROOT, settings.VAR_DIR))


def _is_store_there() -> bool:
    """Return whether the folder or bucket of the storage exists, after one file was not found."""
    if files.local_path("") is not None:
        return Path(settings.MEDIA_ROOT).is_dir()
    storage: Any = default_storage
    try:
        storage.bucket.meta.client.head_bucket(Bucket=storage.bucket.name)
    except Exception:
        return False
    return True


def _is_store_away(error: BaseException) -> bool:
    """Return whether an S3 service could not be reached, lacks the site's bucket, or would refuse any request."""
    response: dict[str, Any] | None = getattr(error, "response", None)
    if not isinstance(response, dict):
        return type(error).__name__ != "ParamValidationError"
    code = str(response.get("Error", {}).get("Code", ""))
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code in NOT_FOUND:
        return not _is_store_there()
    return code in REFUSALS or status in (401, 403, 408, 429) or status >= 500
