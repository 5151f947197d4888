"""Proofs of CLEVR's scenes: their objects and places, and the relations and pixels that follow from these.

Everything is computed again from positions and camera. Our scenes are made of rounded numbers, which must be found
again exactly. Scenes of the release may differ by half a pixel more than its own rounding.
"""

import math

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene
from generation.engine.verification.proof import Proof
from generation.engine.worlds.clevr import camera
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.scene import ClevrScene, Point, Related
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS

PIXELS_OFF = 1.0  # tolerance for the release's pixel coordinates, which are integers
DEPTH_OFF = 0.02  # scene units
UNIT_OFF = 1e-3
ROUNDED = 1e-6


def prove_ours(spec: ClevrSpec, scene: ClevrScene, view: View, ids: NDArray[np.uint16] | None, proof: Proof) -> None:
    """Prove that one of our scenes obeys the spec; `ids` is drawn again, or None if the scene cannot be drawn."""
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


def prove_theirs(spec: ClevrSpec, scene: ClevrScene, view: View | None, proof: Proof) -> None:
    """Prove a scene of other people; `view` is None if its camera is unknown."""
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


def sees(view: View, scene: ClevrScene) -> bool:
    """Return whether a view projects every object to the pixel that the scene states."""
    return all(_is_near(camera.project(view, thing.coords), thing.pixel_coords) for thing in scene.objects)


def _is_near(one: Point, two: Point) -> bool:
    x, y, depth = (abs(a - b) for a, b in zip(one, two, strict=True))
    return x <= PIXELS_OFF and y <= PIXELS_OFF and depth <= DEPTH_OFF


def _prove_view(spec: ClevrSpec, view: View, proof: Proof) -> None:
    """Prove that camera and lights are where the spec allows, and that the picture has the spec's size."""
    parameters = spec.scene
    for name, place, jitter in (
        ("camera", camera.CAMERA, parameters.camera_jitter),
        ("key", camera.KEY, parameters.key_light_jitter),
        ("fill", camera.FILL, parameters.fill_light_jitter),
        ("back", camera.BACK, parameters.back_light_jitter),
    ):
        came: Point = getattr(view, name)
        near = all(abs(one - two) <= jitter + ROUNDED for one, two in zip(came, place, strict=True))
        proof.hold("scenes", near, f"{name} within {jitter:g} of {place}", came)
    size = spec.images.width, spec.images.height
    proof.same("scenes", size, (view.width, view.height), what="a view of ")
    proof.same("scenes", camera.FOCAL, view.focal, what="focal length ")


def _prove_objects(spec: ClevrSpec, scene: ClevrScene, proof: Proof) -> None:
    """Prove that a scene has an allowed number of objects, each on the ground and with its size's height."""
    parameters, count = spec.scene, len(scene.objects)
    proof.hold(
        "scenes",
        parameters.objects_min <= count <= parameters.objects_max,
        f"{parameters.objects_min} to {parameters.objects_max} objects",
        count,
    )
    if not _prove_attributes(spec, scene, proof):
        return
    for number, thing in enumerate(scene.objects):
        x, y, z = thing.coords
        scale = spec.vocabulary.sizes[thing.size].scale
        inside = max(abs(x), abs(y)) <= parameters.extent and z == scale and 0.0 <= thing.rotation <= 360.0
        proof.hold(
            "scenes",
            inside,
            f"object {number} within {parameters.extent:g} of the centre, {scale:g} high, turned by 0 to 360 degrees",
            f"{thing.coords}, {thing.rotation}",
        )


def _prove_attributes(spec: ClevrSpec, scene: ClevrScene, proof: Proof) -> bool:
    """Prove that every object has values of the vocabulary, and return whether all have."""
    known = True
    for number, thing in enumerate(scene.objects):
        for attribute in ATTRIBUTES:
            value, values = getattr(thing, attribute), spec.vocabulary.values(attribute)
            expected = f"object {number} of a {attribute} in the vocabulary ({', '.join(values)})"
            known &= proof.hold("vocabulary", value in values, expected, value)
    return known


def _prove_places(spec: ClevrSpec, scene: ClevrScene, ids: NDArray[np.uint16] | None, proof: Proof) -> None:
    """Prove that objects keep their distances, and that each is visible in the object ids drawn again."""
    parameters, things = spec.scene, scene.objects
    for one in range(len(things)):
        for two in range(one):
            apart, along = _between(things[one].coords, things[two].coords, scene)
            proof.hold(
                "scenes",
                apart >= parameters.min_distance and along >= parameters.margin,
                f"objects {two} and {one} {parameters.min_distance:g} apart, "
                f"{parameters.margin:g} along each direction",
                f"{apart} and {along}",
            )
    if parameters.min_pixels and ids is not None:
        counts = np.bincount(ids.ravel(), minlength=len(things) + 1)
        for number, seen in enumerate(counts[1 : len(things) + 1].tolist()):
            expected = f"object {number} seen in at least {parameters.min_pixels} pixels"
            proof.hold("scenes", seen >= parameters.min_pixels, expected, seen)


def _between(one: Point, two: Point, scene: ClevrScene) -> tuple[float, float]:
    """Return the distance between two objects' surfaces, and the smallest of their distances along the directions."""
    dx, dy = one[0] - two[0], one[1] - two[1]
    apart = round(math.sqrt(dx * dx + dy * dy) - one[2] - two[2], 6)
    ways = [scene.directions[name] for name in RELATIONS if name in scene.directions]
    return apart, min((abs(round(dx * way[0] + dy * way[1], 6)) for way in ways), default=0.0)


def _prove_directions(scene: ClevrScene, view: View | None, proof: Proof) -> None:
    """Prove that directions are those of the camera, or those of the camera that was not moved, as in the release."""
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


def _prove_related(scene: ClevrScene, threshold: float, proof: Proof) -> None:
    """Prove that the relations of each object are exactly those that follow from positions."""
    found = related(scene, threshold=threshold)
    for name in RELATIONS:
        for number, (expected, came) in enumerate(zip(found[name], scene.relationships[name], strict=True)):
            proof.same("references", expected, came, what=f"{name} of object {number}: ")


def related(scene: ClevrScene, *, threshold: float) -> Related:
    """Return, for each relation and object, the objects in that relation to it, from positions and directions alone."""
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
