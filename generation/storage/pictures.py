"""Pictures of scenes: those that are stored, those that stay where somebody else keeps them, and small ones for lists.

Linked pictures lie below one folder of this machine and are never written or deleted. Small pictures are WebP, made
when they are first asked for and kept beside the pictures they are made of.
"""

import io
import logging
from collections.abc import Callable
from io import BytesIO
from pathlib import Path, PurePath, PurePosixPath

import numpy as np
from django.utils.functional import cached_property
from numpy.typing import NDArray
from PIL import Image

from generation.models import Dataset, Scene
from generation.storage import files
from generation.storage import files as storage

PNG_LEVEL = 1  # twice as fast as the default for files a tenth larger

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


class Pictures:
    """Where the pictures of a scene are kept, and how they get there."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @cached_property
    def stem(self) -> str:
        """Return the file name without what tells picture and object ids apart."""
        split, position = self.scene.split, self.scene.position
        return f"datasets/{split.dataset_id}/{split.name}/{position // 1000:04d}/{position:07d}"

    def store(self, rgb: NDArray[np.uint8], ids: NDArray[np.uint16]) -> None:
        """Store both pictures and note their names and size on the scene, which the caller saves.

        Parameters
        ----------
        rgb : array (height, width, 3) of uint8, sRGB
        ids : array (height, width) of uint16, 0 where there is no object
        """
        image, ids_image = f"{self.stem}.png", f"{self.stem}-ids.png"
        storage.put(image, png(rgb))
        storage.put(ids_image, png(ids.astype(np.uint8) if ids.max(initial=0) < 256 else ids))
        self.scene.image, self.scene.ids_image = image, ids_image
        self.scene.height, self.scene.width = rgb.shape[:2]


def png(pixels: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=PNG_LEVEL)
    return file.getvalue()
