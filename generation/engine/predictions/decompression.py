"""Reads uploaded files, plain or packed with gzip or zip: one piece at a time, at most `LARGEST` bytes of text.

Nothing is unpacked to the disk, so names and links in an archive have no effect.
"""

import codecs
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import SEEK_END
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipExtFile, ZipFile, ZipInfo

from generation.engine.errors import in_words

LARGEST = 1 << 30  # bytes of text in one file
LEAST_ROOM = 8 << 20  # bytes of text that every file may have
EACH_ROOM = 1000  # further bytes for each question
BOXED_ROOM = 10_000  # the same, if predictions may have boxes
RATIO = 20  # further bytes for each packed byte
PIECE = 1 << 18  # bytes read at a time
PACKED_PIECE = 1 << 14  # bytes of gzip read at a time: few, because the end of each gzip member copies the rest of them
HEAD = 1 << 16  # bytes from which the format of a file is recognised
MOST_FILES = 1000  # files in a zip
DIRECTORY = 1 << 20  # bytes of a zip's list of files
END = struct.Struct("<4s4H2LH")  # the record at the end of a zip
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
PICKLE = (
    "a pickle: pickles are never opened, because they can run programs. Write JSON with Python instead: import json, "
    'pathlib; pathlib.Path("predictions.json").write_text(json.dumps([{"question_id": 0, "answer": 3}]))'
)
MARKS = (
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"PAR1", "a Parquet file"),
    *((bytes([0x80, protocol]), PICKLE) for protocol in range(2, 6)),
    (b"BZh", "bzip2: pack it with gzip or zip"),
    (b"\xfd7zXZ", "xz: pack it with gzip or zip"),
    (b"\x28\xb5\x2f\xfd", "zstd: pack it with gzip or zip"),
    (b"7z\xbc\xaf", "a 7z archive: pack it with gzip or zip"),
    (b"PK\x03\x04", "an archive within an archive: pack it once"),
    (b"\x1f\x8b", "an archive within an archive: pack it once"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
)
UTF_8 = codecs.BOM_UTF8


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
    """A reader of UTF-8 text. It refuses other encodings, NUL bytes and too many bytes, and names the line.

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
            check_mark(piece, self.what)
        self.size += len(piece)
        self._check(piece)
        return piece

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
            raise UnreadableFile("expected text, got a NUL byte: save the file as UTF-8", line=line)
        try:
            self.decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            line, byte = self.line + error.object.count(b"\n", 0, error.start), error.object[error.start]
            reason = f"expected UTF-8 text, got the byte 0x{byte:02x}: save the file as UTF-8"
            raise UnreadableFile(reason, line=line) from error
        self.line += piece.count(b"\n")


def check_mark(head: bytes, what: str) -> None:
    """Raise `UnreadableFile` if the first bytes of a file show another format; the message names the format."""
    for mark, other in MARKS:
        if head.startswith(mark):
            raise UnreadableFile(f"expected {what}, got {other}")
    start = head.removeprefix(UTF_8).lstrip()[:1]
    if start == b"<":
        raise UnreadableFile(f"expected {what}, got HTML or XML", line=1)
    if head[257:262] == b"ustar":
        raise UnreadableFile(f"expected {what}, got a tar archive: pack the one file with gzip or zip")


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
    _check_directory(file)
    with readable():
        archive = ZipFile(file)
    infos = [info for info in archive.infolist() if not _is_folder(info) and not _is_hidden(info.filename)]
    if any(info.filename == "[Content_Types].xml" for info in infos):
        raise UnreadableFile("expected predictions, got an Office document: save the table as TSV or CSV")
    for info in infos:
        _check_entry(info)
    paths = [PurePosixPath(info.filename).parts for info in infos]
    folders = {parts[:1] for parts in paths}
    skipped = 1 if len(folders) == 1 and all(len(parts) > 1 for parts in paths) else 0
    return archive, [PackedFile("/".join(parts[skipped:]), info) for parts, info in zip(paths, infos, strict=True)]


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


def _check_entry(info: ZipInfo) -> None:
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
