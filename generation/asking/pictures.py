"""Pictures as they are sent: the site's own files, or PNGs that are scaled to the nearest pixel."""

from __future__ import annotations

import base64
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from generation.asking.console import Refused
from generation.asking.digests import sha256
from generation.asking.questions import AskedQuestion


class PictureStore:
    """The pictures of the questions as they are sent; `read` returns the site's own file."""

    def __init__(self, read: Callable[[AskedQuestion], bytes], *, scale: Fraction | None) -> None:
        self.read, self.scale = read, scale
        self.lock = threading.Lock()
        self.sums: dict[str, str] = {}
        self.ready: dict[str, str] = {}

    def sum_of(self, question: AskedQuestion) -> str | None:
        """Return the SHA-256 of the site's own file, or None without a picture."""
        name = question.picture
        if name is None:
            return None
        if name not in self.sums:
            self.sums[name] = sha256(self.read(question))
        return self.sums[name]

    def address_of(self, question: AskedQuestion) -> str | None:
        """Return the picture as a data URL, scaled if there is a scale."""
        name = question.picture
        if name is None:
            return None
        found = self.ready.get(name)
        if found is None:
            content = self.read(question)
            if self.scale is not None:
                content = scaled_png(content, self.scale)
            found = f"data:{media_type(content)};base64,{base64.b64encode(content).decode('ascii')}"
            with self.lock:
                while len(self.ready) >= 64:
                    del self.ready[next(iter(self.ready))]
                self.ready[name] = found
        return found


def media_type(content: bytes) -> str:
    if content.startswith(b"\xff\xd8"):
        return "image/jpeg"  # sent as it is, because encoding it again would change its pixels
    if not content.startswith(PNG):
        raise Refused("Expected a picture in the format PNG or JPEG, got another one.")
    return "image/png"


PNG = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by PNG's colour type


class PngPixels(NamedTuple):
    """A decoded PNG: its head without the size, the other chunks before the pixels, and a bytes object for each row."""

    width: int
    head: bytes
    chunks: bytes
    pixel: int  # bytes
    rows: list[bytes]


def png_chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the name and the content of each chunk; raise `Refused` if a file is no PNG or is damaged."""
    if not content.startswith(PNG):
        raise Refused("Expected a PNG to scale, got another kind of picture: ask without --scale.")
    at = len(PNG)
    while at < len(content):
        if at + 12 > len(content):
            raise Refused("Expected a complete PNG, got one that ends early.")
        size, name = struct.unpack(">I4s", content[at : at + 8])
        yield name, content[at + 8 : at + 8 + size]
        at += size + 12


def decoded_png(content: bytes) -> PngPixels:
    """Return the pixels of a PNG with 8 or 16 bits a channel that is not interlaced."""
    parts = list(png_chunks(content))
    head = parts[0][1]
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    if depth not in (8, 16) or interlaced or colour not in CHANNELS:
        raise Refused("Expected a PNG with 8 or 16 bits a channel and not interlaced: ask without --scale.")
    pixel = CHANNELS[colour] * depth // 8
    size = width * pixel
    packed = b"".join(part for name, part in parts if name == b"IDAT")
    data = zlib.decompressobj().decompress(packed, height * (size + 1))
    if len(data) != height * (size + 1):
        raise Refused(f"Expected {height} rows of pixels in a PNG, got fewer.")
    rows, before = [], bytes(size)
    for start in range(0, len(data), size + 1):
        before = unfiltered(data[start], data[start + 1 : start + 1 + size], before, pixel)
        rows.append(before)
    chunks = b"".join(png_chunk(name, part) for name, part in parts[1:] if name in (b"PLTE", b"tRNS", b"sRGB", b"gAMA"))
    return PngPixels(width, head[8:], chunks, pixel, rows)


def unfiltered(kind: int, line: bytes, before: bytes, pixel: int) -> bytes:
    """Return a row of a PNG without its filter."""
    row = bytearray(line)
    if kind == 1:
        for at in range(pixel, len(row)):
            row[at] = (row[at] + row[at - pixel]) & 255
    elif kind == 2:
        return bytes([(one + above) & 255 for one, above in zip(row, before)])  # noqa: B905 - Python 3.9
    elif kind in (3, 4):
        predict = mean if kind == 3 else paeth
        for at in range(len(row)):
            left, corner = (row[at - pixel], before[at - pixel]) if at >= pixel else (0, 0)
            row[at] = (row[at] + predict(left, before[at], corner)) & 255
    return bytes(row)


def mean(left: int, above: int, corner: int) -> int:
    return (left + above) >> 1


def paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    apart = abs(guess - left), abs(guess - above), abs(guess - corner)
    return left if apart[0] == min(apart) else above if apart[1] == min(apart) else corner


def png_chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def scaled_png(content: bytes, scale: Fraction) -> bytes:
    """Return a PNG of another size, whose pixels are the nearest ones of the given PNG."""
    try:
        found = decoded_png(content)
    except (zlib.error, struct.error, IndexError) as error:
        raise Refused(f"Expected a PNG that can be decoded, got a damaged one: {error}.") from error
    columns = nearest(found.width, scale)
    lines = nearest(len(found.rows), scale)
    scaled: dict[int, bytes] = {}
    for line in set(lines):
        row = found.rows[line]
        scaled[line] = b"\0" + b"".join([row[at * found.pixel : (at + 1) * found.pixel] for at in columns])
    head = struct.pack(">II", len(columns), len(lines)) + found.head
    pixels = zlib.compress(b"".join([scaled[line] for line in lines]))
    return PNG + png_chunk(b"IHDR", head) + found.chunks + png_chunk(b"IDAT", pixels) + png_chunk(b"IEND", b"")


def nearest(size: int, scale: Fraction) -> list[int]:
    count = max(1, round(size * scale))
    return [(2 * at + 1) * size // (2 * count) for at in range(count)]
