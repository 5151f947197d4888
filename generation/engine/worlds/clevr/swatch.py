"""One thing of a colour, close up, as pictures of scenes have it: for people who are asked what they can tell apart."""

import numpy as np
from numpy.typing import NDArray

from generation.engine.worlds.clevr.camera import CAMERA, FOCAL, WIDTH, View
from generation.engine.worlds.clevr.picture import draw
from generation.engine.worlds.clevr.scene import SceneObject
from generation.engine.worlds.clevr.vocabulary import Vocabulary

FILLS = 0.8  # of the picture's width
SAMPLES = 32


def draw_swatch(color: str, vocabulary: Vocabulary, *, which: int, size: int) -> NDArray[np.uint8]:
    """Return a picture of a ball, or of whatever the vocabulary has in its place, on the ground of CLEVR's scenes.

    Parameters
    ----------
    color : str
        A colour's name.
    vocabulary : Vocabulary
    which : int
        The material's number; those past the last begin again.
    size : int
        Width and height in pixels.

    Returns
    -------
    (size, size, 3) uint8
        sRGB.
    """
    thing = _thing(color, vocabulary, which)
    distance = float(np.linalg.norm(np.array(CAMERA) - np.array(thing.coords)))
    pixels = FILLS * size / 2 * distance / thing.coords[2]
    view = View(focal=pixels * WIDTH / size, width=size, height=size)
    assert view.focal > FOCAL
    rgb, _ = draw([thing], view, vocabulary, samples=SAMPLES)
    return rgb


def _thing(color: str, vocabulary: Vocabulary, which: int) -> SceneObject:
    """Return an object on the ground that is in the middle of the picture, for the camera looks at the origin."""
    materials, sizes, names = (vocabulary.values(kind) for kind in ("material", "size", "shape"))
    size = max(sizes, key=lambda name: vocabulary.sizes[name].scale)
    shape = next((name for name in names if vocabulary.shapes[name].solid == "sphere"), names[0])
    height = float(vocabulary.sizes[size].scale)
    x, y, z = (axis * height / CAMERA[2] for axis in CAMERA)
    return SceneObject(shape, size, materials[which % len(materials)], color, (x, y, z), 0.0, (0.0, 0.0, 0.0))
