"""Published files: plain or packed with gzip, and what a file is if no reader of the chosen format can read it."""

import gzip
import zlib
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from generation.engine.errors import BadRecord
from generation.engine.predictions.file_marks import describe_other
from generation.engine.reading.bounded_json import Guarded, Readable
from generation.engine.reading.folders import walk
from generation.engine.reading.json_stream import JsonText
from generation.engine.reading.other_sets import known_sets

GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
ARCHIVES = (".tar", ".tar.gz", ".tgz")
JSON = (".json", ".json.gz")
HEAD = 1 << 12  # bytes by which other files are known
MOST_FILES = 50  # files that are looked at to find out what they are


def is_json(path: Path) -> bool:
    """Return whether a file's name is that of JSON, plain or packed with gzip, in any capitals."""
    return path.name.lower().endswith(JSON)


def plain_name(name: str) -> str:
    """Return the name that a file has when it is unpacked, with its extension in small letters."""
    stem = name[: -len(".gz")] if name.lower().endswith(".gz") else name
    before, dot, extension = stem.rpartition(".")
    return before + dot + extension.lower()


def open_published(path: Path) -> BinaryIO:
    """Open a file, which may be packed with gzip; raise `BadRecord` if it cannot be read."""
    try:
        return unpacked(path.open("rb"), name=path.name)
    except OSError as error:
        raise BadRecord(f"Expected a file that can be read, got: {error.strerror}.", where=str(path)) from error


def unpacked(file: Any, *, name: str) -> BinaryIO:
    """Return a file whose bytes are unpacked if they are those of gzip; an archive stays as it is."""
    return cast("BinaryIO", file if name.lower().endswith(ARCHIVES) else _Unpacked(file, name=name))


class _Joined:
    """A file whose first bytes were already read."""

    def __init__(self, head: bytes, file: Readable) -> None:
        self.head, self.file = head, file

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        head, self.head = (self.head[:size], self.head[size:]) if 0 <= size < len(self.head) else (self.head, b"")
        return head + self.file.read(size if size < 0 else size - len(head))


class _Unpacked:
    """A file that is unpacked while it is read. An error names the file."""

    def __init__(self, file: Any, *, name: str) -> None:
        self.file, self.name = file, name
        self.plain: Any = None

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes; raise `BadRecord` if they cannot be unpacked."""
        if self.plain is None:
            head = self.file.read(len(GZIP))
            whole = _Joined(head, self.file)
            self.plain = gzip.GzipFile(fileobj=cast("BinaryIO", whole)) if head == GZIP else whole
        try:
            return cast("bytes", self.plain.read(size))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadRecord(
                "Expected a whole file of gzip, got a damaged one or a part of one. Get it anew.", where=self.name
            ) from error

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def explain(error: BadRecord, files: Iterable[tuple[str, Path]], *, format: str, label: str) -> BadRecord:
    """Return an error that says what a file is, if it is a well-known one that the format does not have; else `error`.

    Parameters
    ----------
    error : BadRecord
        Why the files were refused.
    files : iterable of (str, Path)
        The names of files and folders in messages, and their paths.
    format, label : str
        The chosen format: its name in commands, and its name for people.
    """
    looked = 0
    for name, path in files:
        with suppress(BadRecord, OSError):
            inner = [one for folder in walk(path) for one in folder.files if is_json(one)] if path.is_dir() else [path]
            for one in inner[: MOST_FILES - looked]:
                looked += 1
                if other := describe(one, format=format):
                    return BadRecord(f"Expected {label}, got {other}.", where=name if one == path else str(one))
    return error


def describe(path: Path, *, format: str) -> str:
    """Return what a file is, if it is well known and not of the format; otherwise an empty string."""
    with closing(open_published(path)) as file:
        head = b""
        while len(head) < HEAD and (piece := file.read(HEAD)):
            head += piece
        if head.startswith(ZIP):
            return "a zip archive: unpack it, and name the folder or a file"
        if head.startswith(GZIP):
            return ""
        if (other := describe_other(head)) is not None:
            return other[0]
        with suppress(ValueError, RecursionError):
            found = known_sets(JsonText(Guarded(_Joined(head, file))), file=path.name)
            if found and not any(format in one.formats for one in found):
                usable = " or ".join(found[0].formats)
                return found[0].label + (f": import the files as {usable}" if usable else ", which are not read here")
    return ""
