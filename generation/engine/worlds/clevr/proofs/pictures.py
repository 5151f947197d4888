"""Proofs of CLEVR's pictures: their sizes, object ids and colours.

A silhouette must lie within the rectangle around the projected corners of its object's box; this needs no renderer.
Object ids are also drawn again and compared pixel by pixel, and the picture is compared with a small one that is drawn
again. That is enough to find the picture of another scene, or an object that is painted over.
"""

from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generation.engine.verification.proof import IDS_ALIKE, Proof
from generation.engine.worlds.clevr.camera import View, project
from generation.engine.worlds.clevr.picture import draw, draw_ids, rotation
from generation.engine.worlds.clevr.scene import ClevrScene, SceneObject
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, ClevrVocabulary

SIDE = 60  # width of the small picture in pixels
SLACK = 1.0  # pixels by which a silhouette may exceed its box
OVERLAP = 0.9  # least intersection over union with silhouettes of another renderer
LOOK_APART = 6.0  # mean difference of colours, of 255
OBJECT_APART = 20.0  # of an object's mean colour; at most 14 between renderings, 18 between brown and red
OBJECT_PIXELS = 20  # pixels of the small picture that are enough for an object's colour


def prove_pictures(
    spec: ClevrSpec,
    scene: ClevrScene,
    view: View,
    proof: Proof,
    *,
    rgb: NDArray[np.uint8] | None,
    ids: NDArray[np.uint16] | None,
    again: NDArray[np.uint16] | None,
    side: int = SIDE,
) -> None:
    """Prove that a picture and its object ids, or whichever of them exists, show a scene.

    `again` is the object ids drawn again, or None if an object cannot be drawn; `side` is the width of the small
    picture in pixels.
    """
    shape = (spec.images.height, spec.images.width)
    if ids is not None and proof.same("masks", shape, ids.shape, what="object ids of shape "):
        _prove_masks(spec, scene, view, ids, proof)
        if again is not None:
            _prove_silhouettes(spec, scene, ids, again, proof)
    if rgb is not None and proof.same("images", (*shape, 3), rgb.shape, what="a picture of shape "):
        if again is not None and spec.images.renderer == "tracer":
            _prove_look(spec, scene, view, rgb, proof, side=side)
        else:
            proof.leave("the look of pictures that another renderer drew")


def _prove_masks(spec: ClevrSpec, scene: ClevrScene, view: View, ids: NDArray[np.uint16], proof: Proof) -> None:
    """Prove that each object has enough pixels, all within its projected box, and that there are no other ids."""
    most = int(ids.max(initial=0))
    proof.hold("masks", most <= len(scene.objects), f"object ids up to {len(scene.objects)}", most)
    for number, thing in enumerate(scene.objects):
        silhouette = ids == number + 1
        seen, least = int(np.count_nonzero(silhouette)), spec.scene.min_pixels
        if not proof.hold("masks", seen >= least, f"object {number} in at least {least} pixels", seen) or not seen:
            continue
        rows, columns = (np.flatnonzero(silhouette.any(axis=axis)) for axis in (1, 0))
        left, top, right, bottom = box(thing, view, spec.vocabulary)
        inside = (
            columns[0] >= left - SLACK
            and rows[0] >= top - SLACK
            and columns[-1] + 1 <= right + SLACK
            and rows[-1] + 1 <= bottom + SLACK
        )
        proof.hold(
            "masks",
            bool(inside),
            f"object {number} within columns {left:.0f} to {right:.0f} and rows {top:.0f} to {bottom:.0f}",
            f"columns {columns[0]} to {columns[-1] + 1} and rows {rows[0]} to {rows[-1] + 1}",
        )


def box(thing: SceneObject, view: View, vocabulary: ClevrVocabulary) -> tuple[float, float, float, float]:
    """Return the rectangle (left, top, right, bottom) in pixels around the projected corners of an object's box."""
    scale = vocabulary.sizes[thing.size].scale if thing.size in vocabulary.sizes else thing.coords[2]
    turn = rotation(thing.rotation)
    corners = []
    for corner in product((-scale, scale), repeat=3):
        x, y, z = (
            sum(row[axis] * corner[axis] for axis in range(3)) + at for row, at in zip(turn, thing.coords, strict=True)
        )
        corners.append(project(view, (x, y, z)))
    xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return min(xs), min(ys), max(xs), max(ys)


def draw_known(spec: ClevrSpec, scene: ClevrScene, view: View) -> NDArray[np.uint16] | None:
    """Return a scene's object ids, drawn again, or None if the vocabulary lacks a value of an object."""
    words = spec.vocabulary
    known = all(getattr(thing, name) in words.values(name) for thing in scene.objects for name in ATTRIBUTES)
    return draw_ids(scene.objects, view, words) if known else None


def _prove_silhouettes(
    spec: ClevrSpec, scene: ClevrScene, ids: NDArray[np.uint16], again: NDArray[np.uint16], proof: Proof
) -> None:
    """Prove that object ids are equal or close to those that are drawn again."""
    if spec.images.renderer == "tracer":
        alike = float((ids == again).mean())
        expected = f"object ids as drawn again in {100 * IDS_ALIKE:g} % of pixels"
        proof.hold("masks", alike >= IDS_ALIKE, expected, f"{100 * alike:.2f} %")
        return
    for number in range(len(scene.objects)):
        one, two = ids == number + 1, again == number + 1
        overlap = float((one & two).sum() / max(1, (one | two).sum()))
        expected = f"object {number} over its silhouette drawn again by {OVERLAP:g}"
        proof.hold("masks", overlap >= OVERLAP, expected, f"{overlap:.2f}")


def _prove_look(
    spec: ClevrSpec, scene: ClevrScene, view: View, rgb: NDArray[np.uint8], proof: Proof, *, side: int
) -> None:
    """Prove that the colours of a picture and of each object are close to those of a small picture drawn again."""
    height = max(1, round(side * view.height / view.width))
    small, ids = draw(scene.objects, replace(view, width=side, height=height), spec.vocabulary, samples=4)
    apart = shrunk(rgb, height, side) - small
    mean = float(np.abs(apart).mean())
    expected = f"a picture of this scene (mean difference below {LOOK_APART:g} to a small one drawn again)"
    proof.hold("images", mean < LOOK_APART, expected, f"{mean:.1f}")
    for number in range(len(scene.objects)):
        there = ids == number + 1
        if there.sum() >= OBJECT_PIXELS * (side / SIDE) ** 2:
            mean = float(np.abs(apart[there].mean(axis=0)).max())  # of red, green or blue
            expected = f"object {number} in its colours (mean difference below {OBJECT_APART:g} to it drawn again)"
            proof.hold("images", mean < OBJECT_APART, expected, f"{mean:.1f}")


def shrunk(rgb: NDArray[np.uint8], height: int, width: int) -> NDArray[np.float64]:
    """Return a smaller picture `(height, width, 3)`; its pixels are rounded means of the larger picture's pixels."""
    small = Image.fromarray(rgb).resize((width, height), Image.Resampling.BOX)
    return np.asarray(small, np.float64)
