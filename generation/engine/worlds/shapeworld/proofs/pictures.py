"""Proofs of pictures of microworlds: object ids, and colours up to noise."""

import numpy as np
from numpy.typing import NDArray

from generation.engine.verification.proof import IDS_ALIKE, Proof
from generation.engine.worlds.shapeworld.proofs.geometry import Patch, patch
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

FINE = 4  # sample points of a pixel along each side
LOOK_APART = 1.0  # mean difference of colours, of 255, without noise
OBJECT_APART = 20.0  # of an entity's mean colour
OBJECT_PIXELS = 8  # pixels that are enough for an entity's colour


def prove_pictures(
    spec: ShapeWorldSpec,
    scene: FlatScene,
    proof: Proof,
    *,
    rgb: NDArray[np.uint8] | None,
    ids: NDArray[np.uint16] | None,
) -> None:
    """Prove that a picture and its object ids, or whichever of them exists, show a microworld."""
    shape = (spec.images.height, spec.images.width)
    own = draw_ids(scene)
    if ids is not None and proof.same("masks", shape, ids.shape, what="object ids of shape "):
        alike = float((ids == own).mean())
        proof.hold("masks", alike >= IDS_ALIKE, f"{IDS_ALIKE:.1%} of object ids as drawn again", f"{alike:.2%}")
    if rgb is not None and proof.same("images", (*shape, 3), rgb.shape, what="a picture of shape "):
        apart = np.abs(rgb.astype(np.float64) - draw_plain(spec, scene))
        most = LOOK_APART + 255.0 * scene.noise
        proof.hold("images", float(apart.mean()) <= most, f"a mean difference up to {most:.1f}", f"{apart.mean():.1f}")
        for number in range(len(scene.entities)):
            inside = own == number + 1
            if inside.sum() >= OBJECT_PIXELS:
                off, most = float(apart[inside].mean()), OBJECT_APART + 255.0 * scene.noise
                proof.hold("images", off <= most, f"entity {number} within {most:.0f} of its colour", f"{off:.0f}")


def draw_ids(scene: FlatScene) -> NDArray[np.uint16]:
    """Return object ids `(height, width)`: number + 1 of the topmost entity at a pixel's centre, 0 for none."""
    ids = np.zeros((scene.height, scene.width), np.uint16)
    for number, entity in enumerate(scene.entities):
        _mark(ids, patch(entity, side=scene.height), number + 1)
    return ids


def draw_plain(spec: ShapeWorldSpec, scene: FlatScene) -> NDArray[np.float64]:
    """Return the picture `(height, width, 3)` without noise, 0 to 255."""
    rgb = np.empty((scene.height, scene.width, 3))
    rgb[:] = spec.vocabulary.background
    for entity in scene.entities:
        fine = np.zeros((FINE * scene.height, FINE * scene.width), np.uint16)
        _mark(fine, patch(entity, side=FINE * scene.height), 1)
        share = fine.reshape(scene.height, FINE, scene.width, FINE).mean(axis=(1, 3))[:, :, None]
        rgb = share * np.array(spec.vocabulary.colors[entity.color].shaded(entity.shade)) + (1.0 - share) * rgb
    return rgb


def _mark(pixels: NDArray[np.uint16], found: Patch, value: int) -> None:
    rows, columns = np.nonzero(found.within(len(pixels)).covered)
    pixels[rows + found.row, columns + found.column] = value
