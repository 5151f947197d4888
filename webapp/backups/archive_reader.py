"""Reads an archive in one pass, and checks its whole content against its own digests."""

import gzip
import io
import json
import os
import tarfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic import ValidationError

from generation.engine.errors import in_words
from webapp.backups.archive import (
    BLOCK,
    CONTENTS,
    FILES,
    FORMATS,
    HEADER,
    LIST,
    NAME_LENGTH,
    PART,
    SECRETS,
    SHA256,
    SHARING,
    BadArchive,
    Chain,
    Contents,
    DigestedStream,
    Header,
    OutsideFile,
    forget,
    is_plain_name,
    object_path,
)

JSON_BYTES = 16 * BLOCK  # the largest size of a JSON member, which is read as a whole
ROW_BYTES = 1024 * BLOCK  # the largest size of one row


class Unbroken(DigestedStream):
    """A stream of an archive that raises `BadArchive` if it can't be read."""

    def __init__(self, stream: IO[bytes], *, path: Path) -> None:
        super().__init__(stream)
        self.path = path

    def read(self, size: int = -1) -> bytes:
        with refuse(self.path):
            return super().read(size)


@contextmanager
def refuse(path: Path) -> Iterator[None]:
    """Raise `BadArchive` instead of the errors that occur when a missing or invalid archive is read."""
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as error:
        raise bad(path, "an archive that `manage.py backup` wrote", f"something else ({in_words(error)})") from error
    except FileNotFoundError as error:
        raise bad(path, "an archive that `manage.py backup` wrote", "no file") from error


def bad(path: Path, expected: str, got: str) -> BadArchive:
    return BadArchive(f"Expected {expected}, got {got}.", where=str(path))


class Member(NamedTuple):
    """A member of an archive: secrets, rows, a file, or a part of the list of files.

    Attributes
    ----------
    table : str
        The model whose rows the member contains; empty for secrets and files.
    file : str
        The name of the file in the storage; empty for secrets and tables.
    stream : DigestedStream
        The content; empty for a part of the list of files.
    listed : sequence of OutsideFile
        The files of a part of the list of files; their content is outside the archive.
    """

    table: str
    file: str
    size: int
    stream: DigestedStream
    listed: Sequence[OutsideFile] = ()


class ArchiveReader:
    """An archive file; each call of `members` reads it from the first byte to the last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.contents: Contents | None = None
        with self._opened() as tar:
            info = self._next(tar)
            if info is None or info.name != HEADER:
                raise self._bad(f"its first member to be {HEADER}", "none" if info is None else repr(info.name))
            self.header = self._header(self._json(self._stream(tar, info), info.size, name=HEADER))

    def verify(self, *, show: Any = lambda size: None) -> Contents:
        """Read and check the whole archive, and return its contents; raise `BadArchive` if it is damaged."""
        rows: Counter[str] = Counter()
        for member in self.members():
            if member.table:
                rows[member.table] += self._lines(member)
                show(member.size)
            while block := member.stream.read(BLOCK):
                show(len(block))
        assert self.contents is not None
        if any(rows[table] != count for table, count in self.contents.rows.items()):
            raise self._bad("as many rows as were written", "more or fewer: it is damaged or was changed")
        return self.contents

    def _lines(self, member: Member) -> int:
        """Return the number of lines in a part of a table."""
        found = 0
        with refuse(self.path), gzip.open(member.stream) as lines:  # type: ignore[call-overload]  # it only reads
            while block := lines.read(BLOCK):
                found += block.count(b"\n")
        return found

    def members(self) -> Iterator[Member]:
        """Yield secrets, rows and files in order; raise `BadArchive` if an error is found, at the latest at the end."""
        for member in self.parts():
            if member.listed:
                yield from self._outside(member.listed)
            else:
                yield member

    def _outside(self, listed: Sequence[OutsideFile]) -> Iterator[Member]:
        """Yield the files whose content is outside the archive, and check this content."""
        for file in listed:
            path = object_path(self.path.parent, file.digest)
            expected = f"{path}, the content of {file.name},"
            try:
                opened = path.open("rb")
            except FileNotFoundError as error:
                raise self._bad(expected, "no file: copy the whole folder of the backup") from error
            with opened:
                stream = Unbroken(opened, path=self.path)
                yield Member("", file.name, file.size, stream)
                while stream.read(BLOCK):
                    pass
                if opened.tell() != file.size or stream.hash.hexdigest() != file.digest:
                    raise self._bad(f"{expected} as it was written", "something else: it is damaged or was changed")

    def parts(self) -> Iterator[Member]:
        """Yield secrets, rows, files and lists of files in order, without the content outside the archive."""
        chain, order = Chain(), _Order(self.header)
        files = file_bytes = 0
        with self._opened() as tar:
            while (info := self._next(tar)) is not None:
                name, stream = info.name, self._stream(tar, info)
                if not order.allows(name):
                    raise self._bad("members in their order", repr(name[:NAME_LENGTH]))
                if name == CONTENTS:
                    read = Contents(
                        digest=chain.hexdigest(),
                        members=chain.members,
                        rows=dict.fromkeys(order.seen, 0),
                        files=files,
                        file_bytes=file_bytes,
                    )
                    self._check(self._json(stream, info.size, name=name), read)
                    self._check_end(info)
                    return
                if LIST.fullmatch(name):
                    listed = self._list(stream)
                    files, file_bytes = files + len(listed), file_bytes + sum(file.size for file in listed)
                    order.check_names(listed, bad=self._bad)
                    yield Member("", "", 0, DigestedStream(io.BytesIO()), listed)
                elif name != HEADER:
                    table = PART.fullmatch(name)
                    file = name.removeprefix(FILES) if name.startswith(FILES) else ""
                    files, file_bytes = files + bool(file), file_bytes + info.size * bool(file)
                    yield Member(table[1] if table else "", file, info.size, stream)
                while stream.read(BLOCK):
                    pass
                chain.add(name, info.size, stream.hash.hexdigest())
        raise self._bad(f"{CONTENTS} at its end", "none: it is cut off")

    def read_json(self, member: Member) -> Any:
        return self._json(member.stream, member.size, name=SECRETS)

    def read_rows(self, member: Member) -> Iterator[list[Any]]:
        with refuse(self.path), gzip.open(member.stream) as lines:  # type: ignore[call-overload]  # it only reads
            while line := lines.readline(ROW_BYTES):
                yield self._row(line, table=member.table)

    def _list(self, stream: DigestedStream) -> list[OutsideFile]:
        with refuse(self.path), gzip.open(stream) as lines:  # type: ignore[call-overload]  # it only reads
            return [self._listed(line) for line in iter(partial(lines.readline, ROW_BYTES), b"")]

    def _listed(self, line: bytes) -> OutsideFile:
        try:
            name, size, version, digest = json.loads(line)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._bad("name, size, version and SHA-256 of a file", f"{line[:40]!r}") from error
        fits = isinstance(name, str) and isinstance(version, str) and isinstance(digest, str) and type(size) is int
        if not (fits and is_plain_name(name) and size >= 0 and SHA256.fullmatch(digest)):
            raise self._bad("name, size, version and SHA-256 of a file", f"{line[:40]!r}")
        return OutsideFile(name, size, version, digest)

    def _row(self, line: bytes, *, table: str) -> list[Any]:
        width = len(self.header.tables[table])
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._bad(f"rows of {table} as JSON", f"{line[:40]!r}") from error
        if not isinstance(row, list) or len(row) != width:
            raise self._bad(f"lists of {width} values in {table}", f"{line[:40]!r}")
        return row

    def _check(self, found: Any, read: Contents) -> None:
        """Raise `BadArchive` unless the content that was read is the content that the archive states.

        The numbers of rows are not checked here.
        """
        try:
            contents = Contents.model_validate(found)
        except ValidationError as error:
            raise self._bad(f"{CONTENTS} to say what is in it", _first(error)) from error
        written = contents.model_copy(update={"rows": dict.fromkeys(contents.rows, 0)})
        if written != read or set(read.rows) != set(self.header.tables):
            raise self._bad("what was written", "something else: it is damaged or was changed")
        if self.contents not in (None, contents):
            raise self._bad("the archive that was checked", "another one: it was changed meanwhile")
        self.contents = contents

    def _check_end(self, last: tarfile.TarInfo) -> None:
        """Raise `BadArchive` unless the file ends with the zeros that the tar format requires after the last member."""
        start = last.offset_data + -(-last.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
        end = -(-(start + 2 * tarfile.BLOCKSIZE) // tarfile.RECORDSIZE) * tarfile.RECORDSIZE
        with self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(start)
            rest = file.read(end - start)
        if size != end or rest.strip(b"\0"):
            raise self._bad(
                f"{end:,} bytes, with zeros alone after {CONTENTS}",
                f"{size:,} bytes, or others there: something was appended, or the end was cut off",
            )

    def _header(self, found: Any) -> Header:
        number = found.get("format") if isinstance(found, dict) else None
        if number not in FORMATS:
            release = f" by release {found['release']}" if isinstance(found, dict) and "release" in found else ""
            raise self._bad(
                f"an archive of format {' or '.join(map(str, FORMATS))}", f"format {number!r}, written{release}"
            )
        try:
            return Header.model_validate(found)
        except ValidationError as error:
            raise self._bad(f"{HEADER} to say who wrote it", _first(error)) from error

    def _json(self, stream: DigestedStream, size: int, *, name: str) -> Any:
        if size > JSON_BYTES:
            raise self._bad(f"{name} of {JSON_BYTES:,} bytes at most", f"{size:,}")
        try:
            return json.loads(stream.read())
        except (ValueError, RecursionError) as error:
            raise self._bad(f"{name} as JSON", "something else") from error

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        with refuse(self.path), tarfile.open(self.path, mode="r:") as tar:
            yield tar

    def _stream(self, tar: tarfile.TarFile, info: tarfile.TarInfo) -> DigestedStream:
        stream = tar.extractfile(info)
        assert stream is not None  # it is a plain file
        return Unbroken(stream, path=self.path)

    def _next(self, tar: tarfile.TarFile) -> tarfile.TarInfo | None:
        """Return the next member, which must be a plain file; delete earlier members from memory."""
        info = tar.next()
        forget(tar)
        if info is not None and (not info.isreg() or info.issparse()):
            raise self._bad("plain files alone", f"{info.name[:NAME_LENGTH]!r}, which is none")
        return info

    def _bad(self, expected: str, got: str) -> BadArchive:
        return bad(self.path, expected, got)


class _Order:
    """Checks the order of members: the place of each member must come after the place of the previous one."""

    def __init__(self, header: Header) -> None:
        self.shares = header.format == SHARING
        self.last_name: tuple[str, ...] = ()
        self.tables = {label: number for number, label in enumerate(header.tables)}
        self.last: tuple[Any, ...] = ()
        self.seen: set[str] = set()

    def allows(self, name: str) -> bool:
        """Return whether this member may be the next one; if so, remember it as the last member."""
        place = self._place(name)
        if place is None or place <= self.last or not self._follows(place):
            return False
        self.last = place
        return True

    def _place(self, name: str) -> tuple[Any, ...] | None:
        if name in (HEADER, SECRETS, CONTENTS):
            return ({HEADER: 0, SECRETS: 1, CONTENTS: 4}[name],)
        if (part := PART.fullmatch(name)) is not None:
            self.seen.add(part[1])
            return (2, self.tables[part[1]], int(part[2])) if part[1] in self.tables else None
        if self.shares and (part := LIST.fullmatch(name)) is not None:
            return (3, int(part[1]))
        if not self.shares and name.startswith(FILES) and is_plain_name(name.removeprefix(FILES)):
            return (3, *name.removeprefix(FILES).split("/"))
        return None

    def check_names(self, listed: Sequence[OutsideFile], *, bad: Callable[[str, str], BadArchive]) -> None:
        """Raise the error that `bad` creates unless each file name comes after the previous one."""
        for file in listed:
            place = tuple(file.name.split("/"))
            if place <= self.last_name:
                raise bad("files in their order", repr(file.name))
            self.last_name = place

    def _follows(self, place: tuple[Any, ...]) -> bool:
        """Return whether no part of a table or of the list of files is missing before this place."""
        if place[0] == 3 and self.shares:
            return bool(place[1] == (self.last[1] + 1 if self.last[0] == 3 else 0))
        if place[0] != 2:
            return True
        same_table = self.last[:2] == place[:2]
        return bool(place[2] == (self.last[2] + 1 if same_table else 0))


def _first(error: ValidationError) -> str:
    found = error.errors()[0]
    return f"{'.'.join(str(part) for part in found['loc']) or 'nothing'}: {found['msg']}"
