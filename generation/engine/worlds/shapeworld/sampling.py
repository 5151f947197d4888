"""Sampling microworlds: entities of chosen kinds, each put where it keeps what the spec asks of overlaps.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, section 3.2; the constants of the original generator.
"""

import math
from itertools import combinations

from generation.engine.errors import Exhausted
from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.footprints import Footprint
from generation.engine.worlds.shapeworld.forms import STRETCHED, TALL, reach
from generation.engine.worlds.shapeworld.kinds import Kind, choose_count, choose_kinds
from generation.engine.worlds.shapeworld.scene import DIGITS, Entity, Scene
from generation.engine.worlds.shapeworld.spec import SceneKnobs, ShapeWorldSpec

NEAR = 0.75  # of half another's box, how far from its centre a provoked overlap is at least
SEEDS = 2**32


def sample_scene(spec: ShapeWorldSpec, random: Stream) -> Scene:
    """Return a microworld that obeys every knob of the spec.

    Number, shapes and colours are drawn once, so that crowded worlds and large shapes stay as frequent as others.

    Raises
    ------
    Exhausted
        If entities found no place in `scene.scene_tries` tries.
    """
    count = choose_count(spec, random)
    kinds = choose_kinds(spec, random, count=count)
    for _ in range(spec.scene.scene_tries):
        placed = _fill(spec, random, kinds)
        if placed is not None:
            return _scene(spec, random, placed)
    raise Exhausted(
        f"Expected a world of {count} entities within {spec.scene.scene_tries} tries, got none with room for all: "
        "lower scene.entities_max or size_max, or raise collision_tolerance or scene_tries.",
        where="scene",
        count=spec.scene.scene_tries,
    )


def _scene(spec: ShapeWorldSpec, random: Stream, placed: list[Footprint]) -> Scene:
    """Return the placed entities as a microworld: large ones are drawn first, so that none hides a smaller one."""
    placed.sort(key=lambda one: -one.entity.area)
    covers, grazes = [0] * len(placed), [0] * len(placed)
    if spec.scene.collision_tolerance > 0:
        for (i, below), (j, above) in combinations(enumerate(placed), 2):
            overlap = above.overlap(below)
            if overlap >= spec.captions.thresholds.overlap:
                covers[j] |= 1 << i
            elif overlap > 0:
                grazes[j] |= 1 << i
    images = spec.images
    seed = random.below(SEEDS) if images.noise else 0
    entities = tuple([one.entity for one in placed])
    return Scene(entities, tuple(covers), tuple(grazes), images.height, images.width, images.noise, seed)


def _fill(spec: ShapeWorldSpec, random: Stream, kinds: list[Kind]) -> list[Footprint] | None:
    """Return an entity of each kind, placed one after the other; None where one found no place."""
    knobs = spec.scene
    placed: list[Footprint] = []
    provoked = random.random() * knobs.collision_rate if knobs.collision_tolerance > 0 else 0.0
    left = knobs.placement_tries * len(kinds)
    for kind in kinds:
        while left > 0:
            left -= 1
            near = random.choice(placed).entity if placed and provoked and random.random() < provoked else None
            one = Footprint(_entity(spec, random, kind, near=near))
            if _may_stand(one, placed, knobs):
                placed.append(one)
                break
        else:
            return None
    return placed


def _entity(spec: ShapeWorldSpec, random: Stream, kind: Kind, *, near: Entity | None) -> Entity:
    """Return an entity of a kind; `near`: one that it is to overlap."""
    (shape, color), knobs = kind, spec.scene
    width, height = _size(shape, knobs, random)
    rotation = round(random.random(), DIGITS) if knobs.rotation else 0.0
    shade = round(random.uniform(*shades(spec, color)), DIGITS)
    entity = Entity(shape, color, shade, 0.5, 0.5, width, height, rotation)
    if near is None:
        across, along = reach(entity) if knobs.outside == 0 else (0.0, 0.0)
        x, y = (room + random.random() * (1.0 - 2.0 * room) for room in (across, along))
    else:
        angle, far = math.tau * random.random(), NEAR + random.random()
        x = near.x + math.cos(angle) * far * near.width / 2
        y = near.y + math.sin(angle) * far * near.height / 2
    return entity._replace(x=round(x, DIGITS), y=round(y, DIGITS))


def shades(spec: ShapeWorldSpec, color: str) -> tuple[float, float]:
    """Return the darkest and the lightest shade of a colour; what nobody could see is none: white is never lighter."""
    most, looks = spec.scene.shade, spec.vocabulary.colors[color]
    return 0.0 if looks.is_darkest else -most, 0.0 if looks.is_lightest else most


def _size(shape: str, knobs: SceneKnobs, random: Stream) -> tuple[float, float]:
    """Return the width and height of an entity; stretched ones are not as small as others."""
    low, high, distortion = knobs.size_min, knobs.size_max, 1.0
    if shape in STRETCHED:
        wide = random.random()
        distortion = knobs.distortion_min + wide * (knobs.distortion_max - knobs.distortion_min)
        low += (high - low) * wide / 2
    by_area = knobs.size_by == "area"
    width = math.sqrt(random.uniform(low * low, high * high)) if by_area else random.uniform(low, high)
    return round(width, DIGITS), round(width * TALL.get(shape, 1.0) / distortion, DIGITS)


def _may_stand(one: Footprint, placed: list[Footprint], knobs: SceneKnobs) -> bool:
    """Return whether an entity keeps what is asked of its place beside those that have theirs."""
    is_drawn_inside = knobs.outside == 0 and knobs.collision_tolerance == 0  # else it may have been put near another
    if not is_drawn_inside and one.outside > knobs.outside:
        return False
    if knobs.collision_tolerance == 0:
        return not any(_is_near(one.entity, other.entity) and one.touches(other) for other in placed)
    near = [other for other in placed if _is_near(one.entity, other.entity)]
    if any(_looks_alike(one.entity, other.entity, knobs) and one.touches(other) for other in near):
        return False
    return (
        all(
            one.overlap(other) <= knobs.collision_tolerance
            and _covered(other, [one, *placed]) <= knobs.collision_tolerance
            for other in near
        )
        and _covered(one, near) <= knobs.collision_tolerance
    )


def _is_near(one: Entity, other: Entity) -> bool:
    """Return whether two entities might touch, judged by their boxes alone; quick."""
    far = 0.5 * (one.width + one.height + other.width + other.height) + 0.05
    return abs(one.x - other.x) < far and abs(one.y - other.y) < far


def _looks_alike(one: Entity, other: Entity, knobs: SceneKnobs) -> bool:
    return one.color == other.color and round(abs(one.shade - other.shade), DIGITS) < knobs.collision_shade


def _covered(one: Footprint, others: list[Footprint]) -> float:
    count = sum(one.common(other) for other in others if other is not one)
    return round(count / max(one.points.all, 1), DIGITS)
