"""Reads uploaded files, plain or packed with gzip or zip: one piece at a time, at most `LARGEST` bytes of text.

Nothing is unpacked to the disk, so names and links in an archive have no effect.
"""

import codecs
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import SEEK_END, BytesIO
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipExtFile, ZipFile, ZipInfo

from generation.engine.errors import in_words
from generation.engine.predictions.file_marks import AS_TABLE, NUMPY, PARQUET, PICKLE, UTF_16, UTF_32, describe_other

LARGEST = 1 << 30  # bytes of text in one file
LEAST_ROOM = 8 << 20  # bytes of text that every file may have
EACH_ROOM = 1000  # further bytes for each question
BOXED_ROOM = 10_000  # the same, if predictions may have boxes
RATIO = 20  # further bytes for each packed byte
PIECE = 1 << 18  # bytes read at a time
PACKED_PIECE = 1 << 14  # bytes of gzip read at a time: few, because the end of each gzip member copies the rest of them
HEAD = 1 << 16  # bytes from which the format of a file is recognised
WIDE = 8  # characters that show that a text is UTF-16
MOST_FILES = 1000  # files in a zip
DIRECTORY = 1 << 20  # bytes of a zip's list of files
END = struct.Struct("<4s4H2LH")  # the record at the end of a zip
LARGEST_TABLE = 1 << 27  # bytes of a packed workbook or Parquet file
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
WORKBOOK = "xl/workbook.xml"
CONTENTS = {
    "[Content_Types].xml": f"an Office document: {AS_TABLE}",
    "META-INF/manifest.xml": f"a document of LibreOffice: {AS_TABLE}",
    "data.pkl": PICKLE,
    ".npy": NUMPY,
}  # ends of names in a zip that show what it is


class UnreadableFile(Exception):
    """A file can't be read. `line` is the number of the wrong line or other `unit`; None if there is no number."""

    def __init__(self, reason: str, *, line: int | None = None, unit: str = "line") -> None:
        super().__init__(reason)
        self.reason, self.line, self.unit = reason, line, unit


class PackedFile(NamedTuple):
    """A file in a zip. If one folder contains all files of the zip, the name leaves it out."""

    name: str
    info: ZipInfo


class Pieces:
    """The bytes of a file, including its head, which was already read."""

    def __init__(self, file: BinaryIO, head: bytes) -> None:
        self.file, self.rest = file, head
        self.taken = 0

    def read(self, size: int) -> bytes:
        """Return about `size` bytes; no bytes at the end of the file."""
        rest, self.rest = self.rest, b""
        with readable():
            found = rest + self.file.read(size)
        self.taken += len(found)
        return found


class GzipReader:
    """Unpacks a gzip file, one gzip member after the other."""

    def __init__(self, file: Pieces) -> None:
        self.file = file
        self.inflater = zlib.decompressobj(wbits=31)
        self.waiting = b""

    @property
    def taken(self) -> int:
        """Return the number of packed bytes that were read."""
        return self.file.taken

    def read(self, size: int) -> bytes:
        """Return `size` bytes; fewer or no bytes at the end."""
        pieces, missing = [], size
        while missing and (piece := self._piece(missing)):
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        while True:
            if self.inflater.eof and not self._goes_on():
                return b""
            with readable():
                found = self.inflater.decompress(self.waiting, size)
            self.waiting = self.inflater.unconsumed_tail
            if found:
                return found
            if not self.inflater.eof and not self.waiting:
                self.waiting = self.file.read(PACKED_PIECE)
                if not self.waiting:
                    raise UnreadableFile("expected a complete gzip file, got one that is cut off")

    def _goes_on(self) -> bool:
        """Start the next gzip member and return whether there is one; zero bytes at the end are not a member."""
        rest = self.inflater.unused_data.lstrip(b"\0")
        while not rest and (piece := self.file.read(PACKED_PIECE)):
            rest = piece.lstrip(b"\0")
        if rest:
            self.inflater, self.waiting = zlib.decompressobj(wbits=31), rest
        return bool(rest)


class TextReader:
    """A reader of text as UTF-8. Text of UTF-16 has to begin with the mark of this encoding.

    It refuses other encodings, NUL bytes and too many bytes, and names the line.

    Parameters
    ----------
    file : Pieces or GzipReader
    most : callable
        Returns the largest number of bytes of text for a number of packed bytes.
    what : str
        The expected content, for messages.
    packed : int or None
        The number of packed bytes in a zip; None to use the number of bytes that `file` has read so far.
    """

    def __init__(
        self, file: "Pieces | GzipReader", *, most: Callable[[int], int], what: str, packed: int | None = None
    ) -> None:
        self.file, self.most, self.what, self.packed = file, most, what, packed
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.from_utf_16: codecs.IncrementalDecoder | None = None
        self.size, self.line = 0, 1
        self.head = self.rest = b""
        while len(self.head) < HEAD and (piece := self.read(HEAD)):
            self.head += piece
        self.rest = self.head

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes; no bytes at the end."""
        if self.rest:
            piece, self.rest = self.rest[:size], self.rest[size:]
            return piece
        piece = self.file.read(min(size, PIECE) if size > 0 else PIECE)
        if not self.size:
            self._begin(piece)
        self.size += len(piece)
        if self.from_utf_16 is not None:
            piece = self._as_utf_8(piece, min(size, PIECE) if size > 0 else PIECE)
        self._check(piece)
        return piece

    def _begin(self, piece: bytes) -> None:
        """Check the first bytes: a mark of UTF-16 decides the encoding, and marks of other files are refused."""
        if piece.startswith(UTF_16) and not piece.startswith(UTF_32):
            self.from_utf_16 = codecs.getincrementaldecoder("utf-16")()
        else:
            check_mark(piece, self.what)

    def _as_utf_8(self, piece: bytes, size: int) -> bytes:
        """Return UTF-16 as UTF-8; read more if the bytes end within a character."""
        assert self.from_utf_16 is not None
        try:
            while not (text := self.from_utf_16.decode(piece, final=not piece)) and piece:
                piece = self.file.read(size)
                self.size += len(piece)
            return text.encode()
        except UnicodeError as error:
            reason = "expected text, got a broken file of UTF-16: save the file as UTF-8"
            raise UnreadableFile(reason, line=self.line) from error

    def _check(self, piece: bytes) -> None:
        taken = self.file.taken if self.packed is None else self.packed
        most = self.most(taken)
        if self.size > most:
            reason = f"expected at most {most >> 20:,} MB of text, got more"
            if most < LARGEST:
                reason += f" in {taken:,} packed bytes: compress it less"
            raise UnreadableFile(reason, line=self.line)
        if b"\0" in piece:
            line = self.line + piece.count(b"\n", 0, piece.index(b"\0"))
            what = "UTF-16 text without its mark" if is_wide(piece) else "a NUL byte"
            raise UnreadableFile(f"expected text, got {what}: save the file as UTF-8", line=line)
        try:
            self.decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            line, byte = self.line + error.object.count(b"\n", 0, error.start), error.object[error.start]
            reason = f"expected UTF-8 text, got the byte 0x{byte:02x}: save the file as UTF-8"
            raise UnreadableFile(reason, line=line) from error
        self.line += piece.count(b"\n")


def is_wide(head: bytes) -> bool:
    """Return whether a text looks like UTF-16: each second byte of its beginning is zero, and no other one."""
    halves = [head[at : 2 * WIDE : 2] for at in (0, 1)]
    return sorted(half.count(0) for half in halves) == [0, WIDE]


def check_mark(head: bytes, what: str) -> None:
    """Raise `UnreadableFile` if the first bytes of a file show that it is something else; the message names it."""
    found = describe_other(head)
    if found is not None:
        other, line = found
        raise UnreadableFile(f"expected {what}, got {other}", line=line)


@contextmanager
def readable() -> Iterator[None]:
    """Turn the errors that archives raise when they are read into `UnreadableFile`."""
    try:
        yield
    except (zlib.error, BadZipFile, EOFError) as error:
        raise UnreadableFile(
            f"expected a whole archive, got a broken one ({in_words(error)}): pack it again"
        ) from error
    except (NotImplementedError, RuntimeError, struct.error, OverflowError, ValueError) as error:
        raise UnreadableFile(f"expected an archive that can be read, got one that can't ({in_words(error)})") from error


def room(n: int, packed: int, *, has_boxes: bool) -> int:
    """Return the largest number of bytes of text for `n` questions and a number of packed bytes."""
    return min(LARGEST, LEAST_ROOM + (BOXED_ROOM if has_boxes else EACH_ROOM) * n + RATIO * packed)


def unpack(file: BinaryIO, *, most: Callable[[int], int], what: str = "predictions") -> tuple[TextReader, str]:
    """Return the text of a file, and its packing ("", "gzip" or "zip"); raise `UnreadableFile`.

    `most` returns the largest number of bytes of text for a number of packed bytes; `what` is the expected content.
    """
    with readable():
        head = file.read(len(ZIP[0]))
    if head.startswith(GZIP):
        return TextReader(GzipReader(Pieces(file, head)), most=most, what=what), "gzip"
    if not head.startswith(ZIP):
        return TextReader(Pieces(file, head), most=most, what=what), ""
    if isinstance(file, ZipExtFile):
        raise UnreadableFile(f"expected a file of {what} in the zip, got another zip")
    archive, found = packed_files(file)
    if len(found) != 1:
        names = ", ".join(one.name[:60] for one in found[:5]) or "none"
        raise UnreadableFile(f"expected one file in the zip, got {len(found)} ({names})")
    inner = open_member(archive, found[0].info)
    with readable():
        head = inner.read(len(GZIP))
    pieces, packed = Pieces(inner, head), found[0].info.compress_size
    text = TextReader(GzipReader(pieces) if head == GZIP else pieces, most=most, what=what, packed=packed)
    return text, "zip"


def packed_files(file: BinaryIO) -> tuple[ZipFile, list[PackedFile]]:
    """Return a zip and its files, without hidden files and those that macOS adds; raise `UnreadableFile`."""
    archive = open_archive(file)
    infos = [info for info in archive.infolist() if not _is_folder(info) and not _is_hidden(info.filename)]
    names = {info.filename for info in infos}
    for end, other in CONTENTS.items():
        if any(name.endswith(end) for name in names):
            raise UnreadableFile(f"expected predictions, got {other}")
    for info in infos:
        check_entry(info)
    paths = [PurePosixPath(info.filename).parts for info in infos]
    folders = {parts[:1] for parts in paths}
    skipped = 1 if len(folders) == 1 and all(len(parts) > 1 for parts in paths) else 0
    return archive, [PackedFile("/".join(parts[skipped:]), info) for parts, info in zip(paths, infos, strict=True)]


def open_archive(file: BinaryIO) -> ZipFile:
    """Open a zip whose list of files is not too long; raise `UnreadableFile`."""
    _check_directory(file)
    with readable():
        return ZipFile(file)


def open_table(file: BinaryIO, *, most: Callable[[int], int]) -> tuple[BinaryIO, str] | None:
    """Return the workbook or Parquet file that a file is or contains, and its packing; None for other files.

    The position of `file` does not change. A packed one is read into memory, at most `most` bytes of it.
    """
    at = file.tell()
    try:
        with readable():
            return _table_in(file, file.read(len(PARQUET)), most)
    finally:
        file.seek(at)


def _table_in(file: BinaryIO, head: bytes, most: Callable[[int], int]) -> tuple[BinaryIO, str] | None:
    if head == PARQUET:
        return file, ""
    if head.startswith(GZIP):
        inner = GzipReader(Pieces(file, head))
        return _in_memory(inner, inner.read(len(PARQUET)), most, "gzip")
    if not head.startswith(ZIP):
        return None
    if isinstance(file, ZipExtFile):
        return _in_memory(Pieces(file, b""), head, most, "")
    if is_workbook(file):
        return file, ""
    archive, found = packed_files(file)
    if len(found) != 1:
        return None
    with open_member(archive, found[0].info) as member:
        return _in_memory(Pieces(member, b""), member.read(len(PARQUET)), most, "zip")


def _in_memory(
    source: "Pieces | GzipReader", head: bytes, most: Callable[[int], int], packing: str
) -> tuple[BinaryIO, str] | None:
    """Return a packed workbook or Parquet file that begins with `head`; None for other files."""
    if head != PARQUET and not head.startswith(ZIP):
        return None
    content = BytesIO(head)
    content.seek(0, SEEK_END)
    while piece := source.read(PIECE):
        content.write(piece)
        if content.tell() > min(most(source.taken), LARGEST_TABLE):
            raise UnreadableFile("expected a smaller file, got one that unpacks to too many bytes")
    content.seek(0)
    return (content, packing) if head == PARQUET or is_workbook(content) else None


def is_workbook(file: BinaryIO) -> bool:
    """Return whether a zip is a workbook of Excel."""
    try:
        return WORKBOOK in open_archive(file).namelist()
    except UnreadableFile:
        return False


def open_member(archive: ZipFile, info: ZipInfo) -> BinaryIO:
    """Open a file of a zip for reading; raise `UnreadableFile`."""
    with readable():
        return archive.open(info)  # type: ignore[return-value]


def _is_folder(info: ZipInfo) -> bool:
    """Return whether an entry is a folder. `ZipInfo.is_dir` fails for an empty name, which a damaged zip may have."""
    return info.filename.endswith("/")


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part == "__MACOSX" or (part.startswith(".") and part != "..") for part in parts)


def check_entry(info: ZipInfo) -> None:
    """Raise `UnreadableFile` if a file of a zip is a link, has an odd name or a password, or is too large."""
    name = info.filename[:60]
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnreadableFile(f"expected files in the zip, got a link: {name!r}")
    if ".." in PurePosixPath(info.filename).parts or info.filename.startswith("/") or "\\" in info.filename:
        raise UnreadableFile(f"expected plain names in the zip, got {name!r}")
    if info.flag_bits & 1:
        raise UnreadableFile(f"expected files that anybody can read in the zip, got {name!r}, which has a password")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise UnreadableFile(
            f"expected files with the usual compression in the zip, got {name!r} with another one: pack it again"
        )
    if info.file_size > LARGEST:
        raise UnreadableFile(f"expected at most {LARGEST >> 20:,} MB in {name!r}, got {info.file_size >> 20:,} MB")


def _check_directory(file: BinaryIO) -> None:
    """Raise `UnreadableFile` before the list of files is read, if it is too long or missing, or if the zip is zip64."""
    size = file.seek(0, SEEK_END)
    file.seek(max(0, size - END.size - (1 << 16)))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < END.size:
        raise UnreadableFile("expected a whole archive, got a broken one (no end of a zip): pack it again")
    record = END.unpack_from(tail, at)
    if tail[max(0, at - 20) : at].startswith(b"PK\x06\x07"):
        raise UnreadableFile("expected a plain zip, got zip64: pack it again, or use gzip")
    if record[4] > MOST_FILES or record[5] > DIRECTORY:
        raise UnreadableFile(f"expected at most {MOST_FILES:,} files in the zip, got {record[4]:,}")
