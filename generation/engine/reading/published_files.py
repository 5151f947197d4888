"""Published files: plain or packed with gzip, and what a file is if no reader of the chosen format can read it."""

import gzip
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from generation.engine.errors import BadRecord
from generation.engine.predictions.file_marks import REPACK, UTF_16, describe_other
from generation.engine.reading.bounded_json import Guarded, Readable
from generation.engine.reading.json_stream import JsonText
from generation.engine.reading.other_sets import OBJECT, PublishedSet, known_sets

GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
ARCHIVES = (".tar", ".tar.gz", ".tgz")
JSON = (".json", ".json.gz")
HEAD = 1 << 12  # bytes by which other files are known


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


def describe(path: Path, *, format: str, name: str = "") -> str:
    """Return what a file is if it cannot be one of the format, and what to do; otherwise an empty string.

    `name` is the file's usual name, if it has another one on this disk. `BadRecord` is raised if it cannot be read.
    """
    with closing(open_published(path)) as file:
        head = b""
        while len(head) < HEAD and (piece := file.read(HEAD)):
            head += piece
    if other := _describe_head(head, is_archive=path.name.lower().endswith(ARCHIVES)):
        return other
    found = sets_of(path, name=name)
    if found and found[0].formats and found[0].place == OBJECT:
        return (
            f"{found[0].label} as JSON lines: write one list, with [ and ] around the records and commas between them"
        )
    if not found or format in found[0].formats:
        return ""
    usable = " or ".join(found[0].formats)
    return found[0].label + (f": import the files as {usable}" if usable else ", which are not read here")


def sets_of(path: Path, *, name: str = "") -> list[PublishedSet]:
    """Return the well-known sets to which a file may belong, the likeliest first; none if it is not JSON."""
    with closing(open_published(path)) as file, suppress(ValueError, RecursionError):
        return known_sets(JsonText(Guarded(file)), file=name or path.name)
    return []


def _describe_head(head: bytes, *, is_archive: bool) -> str:
    """Return what a file with these first bytes is if no published file begins so."""
    if not head.strip():
        return "an empty file: download it again"
    if b"".join(head.split()) in (b"[]", b"{}"):
        return "a file without records: download it again"
    if not head.strip(b"\0"):
        return "a file of zero bytes alone: its download is not complete"
    if head.startswith(ZIP):
        return "a zip archive: unpack it"
    if is_archive:
        return ""
    if head.startswith(GZIP):
        return "a file that is packed twice with gzip: unpack it once"
    if head.startswith(UTF_16) or (b"\0" in head and not (head[::2].strip(b"\0") and head[1::2].strip(b"\0"))):
        return "UTF-16 text: save it as UTF-8"
    if (found := describe_other(head)) is not None:
        other, line = found
        name, _, advice = other.partition(": ")
        if other.endswith(REPACK) or "archive" in name:
            return f"{name}: unpack it"
        return other if line is not None or "save it" in advice else f"{name}: get the files as they were published"
    return (
        "a file of another kind, with zero bytes in it: get the files as they were published" if b"\0" in head else ""
    )
