"""Proving CLEVR's scenes: what is in them, where it stands, and that relations and pixels follow from that.

Everything is worked out again from positions and camera. Scenes of ours were decided on rounded numbers, which are
found again exactly; the release's are held to half a pixel more than its own rounding.
"""

import math

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene
from generation.engine.verification.proof import Proof
from generation.engine.worlds.clevr import camera
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.scene import Point, Related, Scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS

PIXELS_OFF = 1.0  # of the release's pixel coordinates, which are whole numbers
DEPTH_OFF = 0.02  # scene units
UNIT_OFF = 1e-3
ROUNDED = 1e-6


def prove_ours(spec: ClevrSpec, scene: Scene, view: View, ids: NDArray[np.uint16] | None, proof: Proof) -> None:
    """Prove a scene that we made: every knob of the spec is kept; `ids` is drawn anew, None where it can't be."""
    _prove_view(spec, view, proof)
    _prove_objects(spec, scene, proof)
    _prove_places(spec, scene, ids, proof)
    try:
        toward = camera.directions(view)
    except BadScene as error:
        proof.flaw("references", "a camera that sees the ground", error)
        return
    proof.same("references", toward, dict(scene.directions), what="directions ")
    for number, thing in enumerate(scene.objects):
        proof.same(
            "references",
            camera.pixel_coords(view, thing.coords),
            thing.pixel_coords,
            what=f"object {number} at pixel ",
        )
    _prove_related(scene, spec.scene.relation_threshold, proof)


def prove_theirs(spec: ClevrSpec, scene: Scene, view: View | None, proof: Proof) -> None:
    """Prove a scene that somebody else made; `view` is None where nothing tells where it was seen from."""
    _prove_attributes(spec, scene, proof)
    _prove_directions(scene, view, proof)
    _prove_related(scene, spec.scene.relation_threshold, proof)
    if view is None:
        proof.leave("pixel coordinates of scenes whose camera nothing tells")
        return
    for number, thing in enumerate(scene.objects):
        x, y, depth = camera.project(view, thing.coords)
        expected = f"object {number} about pixel ({x:.1f}, {y:.1f}), {depth:.2f} away"
        proof.hold("references", _is_near((x, y, depth), thing.pixel_coords), expected, thing.pixel_coords)


def sees(view: View, scene: Scene) -> bool:
    """Return whether a camera sees every object where the scene says."""
    return all(_is_near(camera.project(view, thing.coords), thing.pixel_coords) for thing in scene.objects)


def _is_near(one: Point, two: Point) -> bool:
    x, y, depth = (abs(a - b) for a, b in zip(one, two, strict=True))
    return x <= PIXELS_OFF and y <= PIXELS_OFF and depth <= DEPTH_OFF


def _prove_view(spec: ClevrSpec, view: View, proof: Proof) -> None:
    """Prove that camera and lights stand where the spec lets them, and that the picture has the spec's size."""
    knobs = spec.scene
    for name, place, jitter in (
        ("camera", camera.CAMERA, knobs.camera_jitter),
        ("key", camera.KEY, knobs.key_light_jitter),
        ("fill", camera.FILL, knobs.fill_light_jitter),
        ("back", camera.BACK, knobs.back_light_jitter),
    ):
        came: Point = getattr(view, name)
        near = all(abs(one - two) <= jitter + ROUNDED for one, two in zip(came, place, strict=True))
        proof.hold("scenes", near, f"{name} within {jitter:g} of {place}", came)
    size = spec.images.width, spec.images.height
    proof.same("scenes", size, (view.width, view.height), what="a view of ")
    proof.same("scenes", camera.FOCAL, view.focal, what="focal length ")


def _prove_objects(spec: ClevrSpec, scene: Scene, proof: Proof) -> None:
    """Prove that a scene has as many objects as it may, each as large as its size says, on the ground."""
    knobs, count = spec.scene, len(scene.objects)
    proof.hold(
        "scenes",
        knobs.objects_min <= count <= knobs.objects_max,
        f"{knobs.objects_min} to {knobs.objects_max} objects",
        count,
    )
    if not _prove_attributes(spec, scene, proof):
        return
    for number, thing in enumerate(scene.objects):
        x, y, z = thing.coords
        scale = spec.vocabulary.sizes[thing.size].scale
        inside = max(abs(x), abs(y)) <= knobs.extent and z == scale and 0.0 <= thing.rotation <= 360.0
        proof.hold(
            "scenes",
            inside,
            f"object {number} within {knobs.extent:g} of the centre, {scale:g} high, turned by 0 to 360 degrees",
            f"{thing.coords}, {thing.rotation}",
        )


def _prove_attributes(spec: ClevrSpec, scene: Scene, proof: Proof) -> bool:
    """Return whether every object is described in words of the vocabulary."""
    known = True
    for number, thing in enumerate(scene.objects):
        for attribute in ATTRIBUTES:
            value, values = getattr(thing, attribute), spec.vocabulary.values(attribute)
            expected = f"object {number} of a {attribute} in the vocabulary ({', '.join(values)})"
            known &= proof.hold("vocabulary", value in values, expected, value)
    return known


def _prove_places(spec: ClevrSpec, scene: Scene, ids: NDArray[np.uint16] | None, proof: Proof) -> None:
    """Prove that objects keep their distances and that each is seen, in an object-id picture drawn anew."""
    knobs, things = spec.scene, scene.objects
    for one in range(len(things)):
        for two in range(one):
            apart, along = _between(things[one].coords, things[two].coords, scene)
            proof.hold(
                "scenes",
                apart >= knobs.min_distance and along >= knobs.margin,
                f"objects {two} and {one} {knobs.min_distance:g} apart, {knobs.margin:g} along each direction",
                f"{apart} and {along}",
            )
    if knobs.min_pixels and ids is not None:
        counts = np.bincount(ids.ravel(), minlength=len(things) + 1)
        for number, seen in enumerate(counts[1 : len(things) + 1].tolist()):
            expected = f"object {number} seen in at least {knobs.min_pixels} pixels"
            proof.hold("scenes", seen >= knobs.min_pixels, expected, seen)


def _between(one: Point, two: Point, scene: Scene) -> tuple[float, float]:
    """Return how far the surfaces of two objects are apart, and the least of their distances along a direction."""
    dx, dy = one[0] - two[0], one[1] - two[1]
    apart = round(math.sqrt(dx * dx + dy * dy) - one[2] - two[2], 6)
    ways = [scene.directions[name] for name in RELATIONS if name in scene.directions]
    return apart, min((abs(round(dx * way[0] + dy * way[1], 6)) for way in ways), default=0.0)


def _prove_directions(scene: Scene, view: View | None, proof: Proof) -> None:
    """Prove that directions are those of the camera, or of the camera before it was moved, as the release has them."""
    cameras = [View(), *([view] if view is not None else [])]
    near = [
        all(
            name in scene.directions
            and all(abs(a - b) <= UNIT_OFF for a, b in zip(way, scene.directions[name], strict=True))
            for name, way in camera.directions(one).items()
        )
        for one in cameras
    ]
    proof.hold("references", any(near), f"directions {camera.directions(cameras[-1])}", dict(scene.directions))


def _prove_related(scene: Scene, threshold: float, proof: Proof) -> None:
    """Prove that each object stands in just those relations to others that follow from where they are."""
    found = related(scene, threshold=threshold)
    for name in RELATIONS:
        for number, (expected, came) in enumerate(zip(found[name], scene.relationships[name], strict=True)):
            proof.same("references", expected, came, what=f"{name} of object {number}: ")


def related(scene: Scene, *, threshold: float) -> Related:
    """Return who stands in which relation to whom, from places and directions alone."""
    places = [thing.coords for thing in scene.objects]
    found: dict[str, tuple[tuple[int, ...], ...]] = {}
    for name in RELATIONS:
        way = scene.directions.get(name, (0.0, 0.0, 0.0))
        found[name] = tuple(
            tuple(
                other
                for other, there in enumerate(places)
                if other != number
                and round(sum((there[axis] - here[axis]) * way[axis] for axis in range(3)), 6) > threshold
            )
            for number, here in enumerate(places)
        )
    return found
