"""Pictures that stay where somebody else keeps them, and small pictures for lists.

Linked pictures lie below one folder of this machine and are never written or deleted. Small pictures are WebP, made
when they are first asked for and kept beside the pictures they are made of.
"""

import logging
from collections.abc import Callable
from io import BytesIO
from pathlib import Path, PurePath, PurePosixPath

from PIL import Image

from generation.models import Dataset, Scene
from generation.storage import files

TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def path_of(scene: Scene, dataset: Dataset) -> Path:
    """Return where a scene's linked picture lies; raise `FileNotFoundError` for a path that leads elsewhere."""
    home, name = Path(dataset.images_folder), PurePath(scene.linked)
    if not scene.linked or not dataset.images_folder or name.is_absolute() or ".." in name.parts:
        raise FileNotFoundError(f"Expected a picture below {home}, got {scene.linked!r}.")
    return home / name


def picture_bytes(scene: Scene, dataset: Dataset) -> bytes:
    """Return a scene's picture as it is stored, or as it is linked; raise `FileNotFoundError` where it is lost."""
    return path_of(scene, dataset).read_bytes() if scene.linked else files.get(scene.image)


def type_of(name: str) -> str:
    """Return what a picture's file is, by its name."""
    return TYPES.get(PurePath(name).suffix.lower(), "image/png")


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
