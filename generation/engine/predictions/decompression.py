"""What is in an uploaded file: itself, or what gzip or zip pack, a piece at a time and never more than `LARGEST`.

Nothing is written anywhere, so that names and links in an archive lead nowhere.
"""

import codecs
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import SEEK_END
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipExtFile, ZipFile, ZipInfo

from generation.engine.errors import in_words

LARGEST = 1 << 30  # bytes of text in one file
LEAST_ROOM = 8 << 20  # bytes that every file may unpack to
EACH_ROOM = 1000  # bytes more for each question
RATIO = 20  # bytes more for each byte that is packed
PIECE = 1 << 18  # bytes read at a time
PACKED_PIECE = 1 << 14  # bytes of gzip read at a time: each member that it has copies what is left of it
HEAD = 1 << 16  # bytes by which a file is recognised
MOST_FILES = 1000  # in a zip
DIRECTORY = 1 << 20  # bytes that a zip's list of its files may take
END = struct.Struct("<4s4H2LH")  # the record at a zip's end
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
MARKS = (
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"PAR1", "a Parquet file"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
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
    """What is in a file can't be read; `line` is where, counted in `unit`s, None where there is nothing to count."""

    def __init__(self, reason: str, *, line: int | None = None, unit: str = "line") -> None:
        super().__init__(reason)
        self.reason, self.line, self.unit = reason, line, unit


class PackedFile(NamedTuple):
    """A file in a zip: its name without folders that enclose all of them."""

    name: str
    info: ZipInfo


class Pieces:
    """A file's bytes behind its head, which was read already."""

    def __init__(self, file: BinaryIO, head: bytes) -> None:
        self.file, self.rest = file, head
        self.taken = 0

    def read(self, size: int) -> bytes:
        """Return about `size` bytes; none at the end."""
        rest, self.rest = self.rest, b""
        with readable():
            found = rest + self.file.read(size)
        self.taken += len(found)
        return found


class GzipReader:
    """What gzip packs, one member after the other."""

    def __init__(self, file: Pieces) -> None:
        self.file = file
        self.inflater = zlib.decompressobj(wbits=31)
        self.waiting = b""

    @property
    def taken(self) -> int:
        """Return how many packed bytes were read."""
        return self.file.taken

    def read(self, size: int) -> bytes:
        """Return `size` bytes, fewer before the end; none at the end."""
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
                    raise UnreadableFile(
                        "expected the end of what is packed with gzip, got the file's end: it was cut off"
                    )

    def _goes_on(self) -> bool:
        """Return whether another member follows; zeros at the end are none."""
        rest = self.inflater.unused_data.lstrip(b"\0")
        while not rest and (piece := self.file.read(PACKED_PIECE)):
            rest = piece.lstrip(b"\0")
        if rest:
            self.inflater, self.waiting = zlib.decompressobj(wbits=31), rest
        return bool(rest)


class TextReader:
    """A reader of UTF-8 text. It refuses another encoding, a NUL and too many bytes, and names the line.

    Parameters
    ----------
    file : Pieces or Inflated
    n : int
        Questions: there is room for an answer to each.
    packed : int or None
        Bytes that the text takes in a zip; None where `file` counts what it has read.
    """

    def __init__(self, file: "Pieces | GzipReader", *, n: int = 0, packed: int | None = None) -> None:
        self.file, self.n, self.packed = file, n, packed
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.size, self.line = 0, 1
        self.head = self.rest = b""
        while len(self.head) < HEAD and (piece := self.read(HEAD)):
            self.head += piece
        self.rest = self.head

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes; none at the end."""
        if self.rest:
            piece, self.rest = self.rest[:size], self.rest[size:]
            return piece
        piece = self.file.read(min(size, PIECE) if size > 0 else PIECE)
        if not self.size:
            check_mark(piece)
        self.size += len(piece)
        self._check(piece)
        return piece

    def _check(self, piece: bytes) -> None:
        taken = self.file.taken if self.packed is None else self.packed
        most = room(self.n, taken)
        if self.size > most:
            reason = f"expected at most {most >> 20:,} MB of text, got more"
            if most < LARGEST:
                reason += f" in {taken:,} packed bytes: send it with less packing"
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


def check_mark(head: bytes) -> None:
    """Raise `UnreadableFile` for what is no text by its first bytes, naming what it is."""
    for mark, what in MARKS:
        if head.startswith(mark):
            raise UnreadableFile(f"expected predictions, got {what}")
    start = head.removeprefix(UTF_8).lstrip()[:1]
    if start == b"<":
        raise UnreadableFile("expected predictions, got HTML or XML", line=1)
    if head[257:262] == b"ustar":
        raise UnreadableFile("expected predictions, got a tar archive: pack the one file with gzip or zip")


@contextmanager
def readable() -> Iterator[None]:
    """Turn what reading an archive raises into `UnreadableFile`."""
    try:
        yield
    except (zlib.error, BadZipFile, EOFError) as error:
        raise UnreadableFile(
            f"expected a whole archive, got a broken one ({in_words(error)}): pack it again"
        ) from error
    except (NotImplementedError, RuntimeError, struct.error, OverflowError, ValueError) as error:
        raise UnreadableFile(f"expected an archive that can be read, got one that can't ({in_words(error)})") from error


def room(n: int, packed: int) -> int:
    """Return how many bytes of text there may be for `n` questions in so many packed bytes."""
    return min(LARGEST, LEAST_ROOM + EACH_ROOM * n + RATIO * packed)


def unpack(file: BinaryIO, *, n: int) -> tuple[TextReader, str]:
    """Return the text of a file for `n` questions and how it was packed ("", "gzip", "zip"); raise `UnreadableFile`."""
    with readable():
        head = file.read(len(ZIP[0]))
    if head.startswith(GZIP):
        return TextReader(GzipReader(Pieces(file, head)), n=n), "gzip"
    if not head.startswith(ZIP):
        return TextReader(Pieces(file, head), n=n), ""
    if isinstance(file, ZipExtFile):
        raise UnreadableFile("expected a file of predictions in the zip, got another zip")
    archive, found = packed_files(file)
    if len(found) != 1:
        names = ", ".join(one.name[:60] for one in found[:5]) or "none"
        raise UnreadableFile(f"expected one file in the zip, got {len(found)} ({names})")
    inner = open_member(archive, found[0].info)
    with readable():
        head = inner.read(len(GZIP))
    pieces = Pieces(inner, head)
    return TextReader(GzipReader(pieces) if head == GZIP else pieces, n=n, packed=found[0].info.compress_size), "zip"


def packed_files(file: BinaryIO) -> tuple[ZipFile, list[PackedFile]]:
    """Return a zip and its files, those that macOS adds and hidden ones left out; raise `UnreadableFile`."""
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
    """Return a file of a zip to read from; raise `UnreadableFile`."""
    with readable():
        return archive.open(info)  # type: ignore[return-value]


def _is_folder(info: ZipInfo) -> bool:
    """Return whether it is a folder; `ZipInfo.is_dir` fails on a file without a name, which a harmed zip may have."""
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
        raise UnreadableFile(f"expected files packed as usual in the zip, got {name!r} packed otherwise: pack it again")
    if info.file_size > LARGEST:
        raise UnreadableFile(f"expected at most {LARGEST >> 20:,} MB in {name!r}, got {info.file_size >> 20:,} MB")


def _check_directory(file: BinaryIO) -> None:
    """Raise `UnreadableFile` for a zip whose list of files is too long to be read at all."""
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
