"""Pictures for participants. Small pictures are sent unchanged; large ones are encoded again for slow networks."""

import logging
from io import BytesIO
from pathlib import PurePosixPath

from PIL import Image, ImageOps

from generation.models import Dataset, Scene
from generation.storage import files, pictures
from generation.storage.pictures import Pictures

LARGEST = 225_000  # bytes, so that a page with a question and its picture has less than 250 KB
QUALITIES = (92, 85, 78)
SHRINK = 0.8  # the factor for width and height if the picture is too large even with the lowest quality
SHORTEST = 200  # pixels; a picture whose shorter side is not longer than this is not made smaller
ENDING = f"-light{pictures.ENDING}"  # backups leave out files with this ending, because they can be made again

log = logging.getLogger(__name__)


def picture_for(scene: Scene, dataset: Dataset) -> tuple[bytes, str]:
    """Return a scene's picture and its content type; the picture has at most `LARGEST` bytes if this is possible.

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
    except OSError as error:  # if the disk is full, the picture is sent but not stored
        log.warning("Expected to keep %s, got: %s", name, error)
    return made, "image/webp"


def name_of(scene: Scene) -> str:
    stored = scene.image or f"{Pictures(scene).stem}.png"
    return str(PurePosixPath(stored).with_suffix("")) + ENDING


def light(picture: bytes) -> bytes:
    """Return a picture as WebP, in the largest size and highest quality with at most `LARGEST` bytes."""
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
