"""Pictures on pages: their addresses, sizes, and object outlines."""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import NamedTuple

import numpy as np
from django.urls import reverse
from numpy.typing import NDArray
from PIL import Image

from generation.access import Visitor, What, may_see
from generation.browsing.outlines import VisibleElement, find_visible
from generation.engine.items import Display
from generation.models import Dataset, Scene, Split
from generation.storage import files


class Picture(NamedTuple):
    """A picture on a page. Its description does not tell the content, because the questions ask about it.

    Attributes
    ----------
    address : str
    width, height : int
        In pixels of the picture file.
    alt : str
    scale : float
        The factor by which a page enlarges it, if there is space.
    is_crisp : bool
        Whether its pixels stay sharp squares when it is enlarged.
    """

    address: str
    width: int
    height: int
    alt: str
    scale: float = 1.0
    is_crisp: bool = False

    @property
    def shown_width(self) -> int:
        return round(self.width * self.scale)

    @property
    def shown_height(self) -> int:
        return round(self.height * self.scale)


def picture_of(scene: Scene, split: Split, *, small: bool = False) -> Picture | None:
    """Return a scene's picture or thumbnail; None if it has no picture (yet)."""
    if not scene.has_picture:
        return None
    name = split.source.name
    place = [split.dataset.slug, name, scene.position, version_of(split.dataset)]
    alt = f"Picture of scene {scene.position} of {name}"
    address = reverse("scene_thumbnail" if small else "scene_image", args=place)
    return shown_at(address, scene, display=split.dataset.display, alt=alt)


def shown_at(address: str, scene: Scene, *, display: Display, alt: str) -> Picture:
    return Picture(address, scene.width, scene.height, alt, display.scale, not display.smooth)


def visible_elements(scene: Scene, split: Split) -> Mapping[int, VisibleElement] | None:
    """Return the visible part of each element of a scene; None if it is not known."""
    try:
        if not scene.ids_image:
            return None
        return _seen(scene.ids_image, version_of(split.dataset), smooth=split.dataset.display.smooth)
    except OSError:
        return None


@functools.lru_cache(maxsize=256)
def _seen(stored: str, version: str, *, smooth: bool) -> Mapping[int, VisibleElement]:
    return find_visible(_ids(stored), smooth=smooth)  # cached, because a picture never changes


def _ids(stored: str) -> NDArray[np.uint16]:
    with Image.open(BytesIO(files.get(stored))) as image:
        return np.asarray(image).astype(np.uint16)


def version_of(dataset: Dataset) -> str:
    """Return a text for the addresses of a dataset's pictures, so that no two datasets ever share an address.

    A picture never changes, but a new dataset of the same name has another time of creation. File names are not used,
    because the names of published files may tell the answers.
    """
    return hashlib.sha256(dataset.created.isoformat().encode()).hexdigest()[:16]


def strips(datasets: Iterable[Dataset], *, user: Visitor, pictures: int) -> dict[int, list[Picture]]:
    """Return, for each dataset's id, the pictures of the first scenes of its first split, with one query."""
    firsts = Scene.objects.filter(split__dataset__in=list(datasets), split__ordinal=0, position__lt=pictures)
    found: dict[int, list[Picture]] = {}
    for scene in firsts.select_related("split__dataset").defer("data", "view").order_by("position"):
        picture = picture_of(scene, scene.split, small=True)
        if picture is not None and may_see(user, scene.split, What.IMAGE):
            found.setdefault(scene.split.dataset_id, []).append(picture)
    return found
