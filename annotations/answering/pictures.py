"""Pictures for participants: sent as they are if they are small, otherwise encoded once more for slow networks."""

import logging
from io import BytesIO
from pathlib import PurePosixPath

from PIL import Image, ImageOps

from generation.models import Dataset, Scene
from generation.storage import files, pictures
from generation.storage.pictures import Pictures

LARGEST = 225_000  # bytes: a question with its page stays below 250 KB
QUALITIES = (92, 85, 78)
SHRINK = 0.8  # factor for width and height, used if even the lowest quality is too large
SHORTEST = 200  # pixels: smaller pictures are not shrunk further
ENDING = f"-light{pictures.ENDING}"  # backups leave out files with this ending, which can be made again

log = logging.getLogger(__name__)


def picture_for(scene: Scene, dataset: Dataset) -> tuple[bytes, str]:
    """Return a scene's picture, of at most `LARGEST` bytes, and its content type.

    Raises
    ------
    OSError
        If the picture is missing or can't be read.
    """
    content = pictures.picture_bytes(scene, dataset)
    if len(content) <= LARGEST:
        return content, pictures.type_of(scene.image or scene.linked)
    name = name_of(scene)
    try:
        return files.get(name), "image/webp"
    except FileNotFoundError:
        made = light(content)
    try:
        files.put(name, made)
    except OSError as error:  # a full disk costs time, but the picture is still sent
        log.warning("Expected to keep %s, got: %s", name, error)
    return made, "image/webp"


def name_of(scene: Scene) -> str:
    stored = scene.image or f"{Pictures(scene).stem}.png"
    return str(PurePosixPath(stored).with_suffix("")) + ENDING


def light(picture: bytes) -> bytes:
    """Return a picture as WebP of at most `LARGEST` bytes, in the highest quality and size that fits."""
    try:
        with Image.open(BytesIO(picture)) as opened:
            image = ImageOps.exif_transpose(opened).convert("RGB")
    except Image.DecompressionBombError as error:
        raise OSError(str(error)) from error
    while True:
        for quality in QUALITIES:
            made = _as_webp(image, quality)
            if len(made) <= LARGEST:
                return made
        if min(image.size) <= SHORTEST:
            return made
        width, height = (max(1, round(SHRINK * side)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.LANCZOS)


def _as_webp(image: Image.Image, quality: int) -> bytes:
    file = BytesIO()
    image.save(file, "WEBP", quality=quality, method=4)
    return file.getvalue()
