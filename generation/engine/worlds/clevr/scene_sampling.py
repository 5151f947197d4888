"""Sampling of CLEVR's scenes: objects do not touch, do not line up, and are all visible.

References
----------
Johnson et al. 2017, CLEVR, section 3; the constants of the original generator.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from generation.engine.errors import Exhausted
from generation.engine.seeding import Stream
from generation.engine.worlds.clevr.allowed_objects import Palette, palette
from generation.engine.worlds.clevr.camera import View, directions, pixel_coords, sample_view
from generation.engine.worlds.clevr.picture import draw_ids
from generation.engine.worlds.clevr.scene import ClevrScene, Point, SceneObject, relationships
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import RELATIONS, ClevrVocabulary


class SampledScene(NamedTuple):
    """A scene, its view, and the number of tries that it took."""

    scene: ClevrScene
    view: View
    tries: int


class Look(NamedTuple):
    """What an object looks like, in words of the vocabulary."""

    size: str
    color: str
    material: str
    shape: str


Arrange = Callable[[list[SceneObject], Mapping[str, Point]], list[SceneObject] | None]


def sample_scene(
    spec: ClevrSpec,
    stream: Stream,
    *,
    looks: Sequence[Look] | None = None,
    arrange: Arrange | None = None,
) -> SampledScene:
    """Return a scene that obeys the spec.

    Camera, lights and the number of objects are drawn once, so that failed tries do not make crowded scenes rarer.

    Parameters
    ----------
    spec : ClevrSpec
    stream : Stream
    looks : sequence of Look or None
        The looks of all objects in order; None to draw their number and looks as the spec asks.
    arrange : callable or None
        Takes placed objects and the directions, and returns the objects after objects of one size have exchanged
        their looks, or None for another try. None to take objects as they were placed.

    Raises
    ------
    Exhausted
        If `scene.scene_tries` tries give no scene.
    """
    parameters = spec.scene
    view = sample_view(
        stream,
        camera_jitter=parameters.camera_jitter,
        key_jitter=parameters.key_light_jitter,
        fill_jitter=parameters.fill_light_jitter,
        back_jitter=parameters.back_light_jitter,
        width=spec.images.width,
        height=spec.images.height,
    )
    toward = directions(view)
    wanted: Sequence[Look | None] = looks or [None] * (
        parameters.objects_min + stream.below(parameters.objects_max - parameters.objects_min + 1)
    )
    for attempt in range(parameters.scene_tries):
        placed: list[SceneObject] | None = _fill(spec, stream, toward, wanted, view)
        if placed is not None and arrange is not None:
            placed = arrange(placed, toward)
            if placed is not None and not _all_clear(spec, placed):
                continue
        if placed is not None and _all_visible(spec, placed, view):
            related = relationships([item.coords for item in placed], toward, threshold=parameters.relation_threshold)
            return SampledScene(ClevrScene(tuple(placed), toward, related), view, attempt + 1)
    raise Exhausted(
        f"Expected a scene of {len(wanted)} objects within {parameters.scene_tries} tries, got none that keeps every "
        "distance and shows every object: lower scene.objects_max, min_pixels, min_distance or margin, "
        "or raise scene_tries.",
        where="scene",
        count=parameters.scene_tries,
    )


def _fill(
    spec: ClevrSpec, stream: Stream, toward: dict[str, Point], wanted: Sequence[Look | None], view: View
) -> list[SceneObject] | None:
    """Return the wanted objects, placed one after the other, or None if one of them finds no place."""
    placed: list[SceneObject] = []
    for look in wanted:
        item = _place(spec, stream, toward, placed, view, look)
        if item is None:
            return None
        placed.append(item)
    return placed


def _place(
    spec: ClevrSpec,
    stream: Stream,
    toward: dict[str, Point],
    placed: list[SceneObject],
    view: View,
    look: Look | None,
) -> SceneObject | None:
    """Return one more object that keeps its distance to those in `placed`, or None after too many tries.

    `look` is None to draw what the object looks like.
    """
    words, extent, may_be = spec.vocabulary, spec.scene.extent, palette(spec)
    for _ in range(spec.scene.placement_tries):
        size = stream.choice(may_be.sizes()) if look is None else look.size
        scale = words.sizes[size].scale
        place = (round(stream.uniform(-extent, extent), 6), round(stream.uniform(-extent, extent), 6), scale)
        if not all(_apart(spec, place, other, toward) for other in placed):
            continue
        own = look or _draw_look(may_be, stream, size=size)
        thing = SceneObject(
            shape=own.shape,
            size=size,
            material=own.material,
            color=own.color,
            coords=place,
            rotation=round(360.0 * stream.random(), 6),
            pixel_coords=pixel_coords(view, place),
        )
        if all(_clear(words, thing, other) for other in placed):
            return thing
    return None


def _draw_look(may_be: Palette, stream: Stream, *, size: str) -> Look:
    shape = stream.choice(may_be.shapes(size))
    material = stream.choice(may_be.materials(size, shape))
    return Look(size, stream.choice(may_be.colors(size, shape, material)), material, shape)


def _apart(spec: ClevrSpec, place: Point, other: SceneObject, toward: dict[str, Point]) -> bool:
    """Return whether two objects keep `min_distance` and differ by at least `margin` along every direction."""
    dx, dy = place[0] - other.coords[0], place[1] - other.coords[1]
    if round(math.sqrt(dx * dx + dy * dy) - place[2] - other.coords[2], 6) < spec.scene.min_distance:
        return False
    for name in RELATIONS:
        along = round(dx * toward[name][0] + dy * toward[name][1], 6)
        if 0 <= along < spec.scene.margin:
            return False
    return True


def _clear(words: ClevrVocabulary, one: SceneObject, two: SceneObject) -> bool:
    """Return whether the areas of ground that two objects cover do not overlap.

    `_apart` measures distances as if objects were round. The corners of cubes and meshes reach further, and could be
    inside another object.
    """
    dx, dy = two.coords[0] - one.coords[0], two.coords[1] - one.coords[1]
    turns = [math.radians(thing.rotation) for thing in (one, two) if _has_corners(words, thing)]
    axes = [turn + quarter for turn in turns for quarter in (0.0, math.pi / 2)] or [0.0]
    if len(turns) < 2:
        axes.append(math.atan2(dy, dx))
    return any(
        round(abs(dx * math.cos(axis) + dy * math.sin(axis)) - _reach(words, one, axis) - _reach(words, two, axis), 6)
        > 0
        for axis in axes
    )


def _has_corners(words: ClevrVocabulary, thing: SceneObject) -> bool:
    return words.shapes[thing.shape].solid in ("cube", "mesh")


def _reach(words: ClevrVocabulary, thing: SceneObject, axis: float) -> float:
    """Return how far an object reaches from its centre along a direction, given as an angle in the ground plane."""
    scale = thing.coords[2]
    if not _has_corners(words, thing):
        return scale
    turn = math.radians(thing.rotation) - axis
    return scale * (abs(math.cos(turn)) + abs(math.sin(turn)))


def _all_clear(spec: ClevrSpec, placed: list[SceneObject]) -> bool:
    return all(_clear(spec.vocabulary, one, two) for one, two in combinations(placed, 2))


def _all_visible(spec: ClevrSpec, placed: list[SceneObject], view: View) -> bool:
    """Return whether every object has at least `min_pixels` pixels in the object-id image."""
    if spec.scene.min_pixels == 0:
        return True
    seen = np.bincount(draw_ids(placed, view, spec.vocabulary).ravel(), minlength=len(placed) + 1)
    return bool((seen[1 : len(placed) + 1] >= spec.scene.min_pixels).all())
