"""Pictures of scenes: stored ones, linked ones that stay in another folder, and thumbnails for lists.

Linked pictures are below one folder of this machine and are never written or deleted. Thumbnails are WebP files. They
are made when they are first requested and stored beside their pictures.
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
    """Return the path of a scene's linked picture; raise `FileNotFoundError` for a path outside the folder."""
    home, name = Path(dataset.images_folder), PurePath(scene.linked)
    if not scene.linked or not dataset.images_folder or name.is_absolute() or ".." in name.parts:
        raise FileNotFoundError(f"Expected a picture below {home}, got {scene.linked!r}.")
    return home / name


def picture_bytes(scene: Scene, dataset: Dataset) -> bytes:
    # Both raise `FileNotFoundError` if the picture is missing.
    return path_of(scene, dataset).read_bytes() if scene.linked else files.get(scene.image)


def type_of(name: str) -> str:
    return TYPES.get(PurePath(name).suffix.lower(), "image/png")


WIDTH = 480  # largest width in pixels: sharp on screens with double resolution
QUALITY = 78
TINY = 128 * 128  # pixels; pictures up to this size are compressed without loss
ENDING = "-small.webp"

log = logging.getLogger(__name__)


def thumbnail(stored: str, *, read: Callable[[], bytes] | None = None) -> bytes:
    """Return the thumbnail of a picture; raise `FileNotFoundError` if the picture is missing.

    `stored` is the picture's name in the storage. For a linked picture, which `read` returns, it is the name that it
    would have there. If the disk is full or read-only, the thumbnail is returned without being stored.
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
    return str(PurePosixPath(stored).with_suffix("")) + ENDING


def shrunk(picture: bytes) -> bytes:
    """Return a picture as WebP, at most `WIDTH` pixels wide. Narrower ones keep their size, tiny ones their pixels."""
    with Image.open(BytesIO(picture)) as image:
        small = image.convert("RGB")
    small.thumbnail((WIDTH, WIDTH * 4), Image.Resampling.LANCZOS)
    file = BytesIO()
    small.save(file, "WEBP", quality=QUALITY, method=4, lossless=small.width * small.height <= TINY)
    return file.getvalue()


class Pictures:
    """Stores the pictures of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @cached_property
    def stem(self) -> str:
        split, position = self.scene.split, self.scene.position
        return f"datasets/{split.dataset_id}/{split.name}/{position // 1000:04d}/{position:07d}"

    def store(self, rgb: NDArray[np.uint8], ids: NDArray[np.uint16]) -> None:
        """Store both pictures and set their names and size on the scene, which the caller saves.

        Parameters
        ----------
        rgb : array (height, width, 3) of uint8, sRGB
        ids : array (height, width) of uint16, 0 for no object
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
