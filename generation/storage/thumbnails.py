"""Small pictures for lists: WebP, made when they are first asked for, kept beside the pictures they are made of."""

import logging
from collections.abc import Callable
from io import BytesIO
from pathlib import PurePosixPath

from PIL import Image

from generation.storage import files

WIDTH = 480  # pixels at most: sharp on screens with two dots a pixel
QUALITY = 78
TINY = 128 * 128  # pixels: of pictures up to here each one counts, and none is changed
ENDING = "-small.webp"

log = logging.getLogger(__name__)


def thumbnail(stored: str, *, read: Callable[[], bytes] | None = None) -> bytes:
    """Return the small version of a picture; raise `FileNotFoundError` where that one is lost.

    `stored` is its name in the storage; of one that is kept elsewhere, which `read` gives, what it would be there.

    A disk that is full or read-only costs time, never the picture.
    """
    name = name_of(stored)
    try:
        return files.get(name)
    except FileNotFoundError:
        made = shrunk(files.get(stored) if read is None else read())
    try:
        files.put(name, made)
    except OSError as error:
        log.warning("Expected to keep %s, got: %s", name, error)
    return made


def name_of(stored: str) -> str:
    """Return where the small version of a stored picture is kept."""
    return str(PurePosixPath(stored).with_suffix("")) + ENDING


def shrunk(picture: bytes) -> bytes:
    """Return a picture as WebP, at most `WIDTH` pixels wide; a narrower one keeps its size, a tiny one its pixels."""
    with Image.open(BytesIO(picture)) as image:
        small = image.convert("RGB")
    small.thumbnail((WIDTH, WIDTH * 4), Image.Resampling.LANCZOS)
    file = BytesIO()
    small.save(file, "WEBP", quality=QUALITY, method=4, lossless=small.width * small.height <= TINY)
    return file.getvalue()
