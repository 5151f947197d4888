"""Sampling of microworlds: the number, kinds and places of entities."""

import math
from collections.abc import Sequence
from itertools import accumulate, combinations, product
from typing import TypeVar

from generation.engine.errors import Exhausted
from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.footprints import Footprint
from generation.engine.worlds.shapeworld.scene import DIGITS, Entity, FlatScene
from generation.engine.worlds.shapeworld.shape_geometry import STRETCHED, TALL, reach
from generation.engine.worlds.shapeworld.spec import MicroworldParameters, ShapeWorldSpec

Kind = tuple[str, str]  # shape and colour
T = TypeVar("T")
POOL_TRIES = 50  # tries to find a combination that is not held out, before any allowed one is taken


def choose_weighted(options: Sequence[T], weights: Sequence[float], random: Stream) -> T:
    """Return one of `options`, with probabilities in proportion to `weights`."""
    if len(options) == 1:
        return options[0]
    at = random.random() * sum(weights)
    return next((option for option, end in zip(options, accumulate(weights), strict=True) if at < end), options[-1])


def choose_count(spec: ShapeWorldSpec, random: Stream) -> int:
    """Return a random number of entities for a microworld."""
    held_out = spec.held_out
    if held_out.shows_counts and random.random() < held_out.count_rate:
        return random.choice(held_out.shows_counts)
    return random.choice(spec.counts)


def choose_kinds(spec: ShapeWorldSpec, random: Stream, *, count: int) -> list[Kind]:
    """Return the shape and colour of each entity of a microworld."""
    held_out = spec.held_out
    choosing = spec.scene.choosing
    way = choose_weighted(tuple(choosing), tuple(choosing.values()), random)
    lead: list[Kind] = []
    share = 0.0
    if held_out.shows_combinations and random.random() < held_out.combination_rate:
        lead = [random.choice(held_out.shows_combinations)]
        share = random.uniform(held_out.space_min, held_out.space_max)
    if way == "limited":
        return _choose_limited(spec, random, count=count, lead=lead, share=share)
    if way == "reinforced":
        return _choose_reinforced(spec, random, count=count, lead=lead, share=share)
    return _choose_from(spec.combinations, spec, random, count=count, lead=lead, share=share)


def _choose_from(
    options: Sequence[Kind], spec: ShapeWorldSpec, random: Stream, *, count: int, lead: list[Kind], share: float
) -> list[Kind]:
    """Return `count` kinds: `lead` first, then random ones; `share` of these are combinations that the split shows."""
    kinds = list(lead)
    shown = spec.held_out.shows_combinations
    while len(kinds) < count:
        kinds.append(random.choice(shown) if share and random.random() < share else random.choice(options))
    return kinds


def _choose_limited(spec: ShapeWorldSpec, random: Stream, *, count: int, lead: list[Kind], share: float) -> list[Kind]:
    """Return kinds made of few shapes and few colours, which include those of `lead`."""
    for _ in range(POOL_TRIES):
        shapes, colors = (
            _choose_values(spec.vocabulary.values(name), [kind[at] for kind in lead], spec, random)
            for at, name in enumerate(("shape", "color"))
        )
        options = [kind for kind in product(shapes, colors) if kind not in spec.forbidden]
        if options:
            return _choose_from(options, spec, random, count=count, lead=lead, share=share)
    return _choose_from(spec.combinations, spec, random, count=count, lead=lead, share=share)


def _choose_values(values: Sequence[str], first: list[str], spec: ShapeWorldSpec, random: Stream) -> list[str]:
    """Return different values, as many as the spec asks for, with `first` among them."""
    low, high = spec.scene.kinds_min, spec.scene.kinds_max
    wanted = min(low + random.below(high - low + 1), len(values))
    others = [value for value in values if value not in first]
    random.shuffle(others)
    return [*first, *others][:wanted]


def _choose_reinforced(
    spec: ShapeWorldSpec, random: Stream, *, count: int, lead: list[Kind], share: float
) -> list[Kind]:
    """Return kinds from pools of shapes and colours; each entity adds copies of its own values to the pools."""
    shapes, colors = (list(spec.vocabulary.values(name)) for name in ("shape", "color"))
    kinds: list[Kind] = []
    while len(kinds) < count:
        if len(kinds) < len(lead):
            kind = lead[len(kinds)]
        elif share and random.random() < share:
            kind = random.choice(spec.held_out.shows_combinations)
        else:
            kind = _of_pool(spec, random, shapes, colors)
        kinds.append(kind)
        copies = 1 + random.below(spec.scene.reinforced_max)
        shapes += [kind[0]] * copies
        colors += [kind[1]] * copies
    return kinds


def _of_pool(spec: ShapeWorldSpec, random: Stream, shapes: Sequence[str], colors: Sequence[str]) -> Kind:
    for _ in range(POOL_TRIES):
        kind = (random.choice(shapes), random.choice(colors))
        if kind not in spec.forbidden:
            return kind
    return random.choice(spec.combinations)


NEAR = 0.75  # smallest distance of an intended overlap from the other entity's centre, in halves of its box
SEEDS = 2**32


def sample_scene(spec: ShapeWorldSpec, random: Stream) -> FlatScene:
    """Return a microworld that obeys the spec.

    The number of entities, shapes and colours are drawn once, so that failed tries do not make some of them rarer.

    Raises
    ------
    Exhausted
        If `scene.scene_tries` tries do not place all entities.
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


def _scene(spec: ShapeWorldSpec, random: Stream, placed: list[Footprint]) -> FlatScene:
    """Return a scene of the placed entities; larger ones are drawn first, so that they hide no smaller one."""
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
    return FlatScene(entities, tuple(covers), tuple(grazes), images.height, images.width, images.noise, seed)


def _fill(spec: ShapeWorldSpec, random: Stream, kinds: list[Kind]) -> list[Footprint] | None:
    """Return an entity of each kind, placed one after the other, or None if the tries are used up."""
    parameters = spec.scene
    placed: list[Footprint] = []
    provoked = random.random() * parameters.collision_rate if parameters.collision_tolerance > 0 else 0.0
    left = parameters.placement_tries * len(kinds)
    for kind in kinds:
        while left > 0:
            left -= 1
            near = random.choice(placed).entity if placed and provoked and random.random() < provoked else None
            one = Footprint(_entity(spec, random, kind, near=near))
            if _may_stand(one, placed, parameters):
                placed.append(one)
                break
        else:
            return None
    return placed


def _entity(spec: ShapeWorldSpec, random: Stream, kind: Kind, *, near: Entity | None) -> Entity:
    """Return an entity of a kind at a random place, or at one where it probably overlaps `near`."""
    (shape, color), parameters = kind, spec.scene
    width, height = _size(shape, parameters, random)
    rotation = round(random.random(), DIGITS) if parameters.rotation else 0.0
    shade = round(random.uniform(*shades(spec, color)), DIGITS)
    entity = Entity(shape, color, shade, 0.5, 0.5, width, height, rotation)
    if near is None:
        across, along = reach(entity) if parameters.outside == 0 else (0.0, 0.0)
        x, y = (room + random.random() * (1.0 - 2.0 * room) for room in (across, along))
    else:
        angle, far = math.tau * random.random(), NEAR + random.random()
        x = near.x + math.cos(angle) * far * near.width / 2
        y = near.y + math.sin(angle) * far * near.height / 2
    return entity._replace(x=round(x, DIGITS), y=round(y, DIGITS))


def shades(spec: ShapeWorldSpec, color: str) -> tuple[float, float]:
    """Return the range of a colour's shade; black cannot become darker, nor white lighter."""
    most, looks = spec.scene.shade, spec.vocabulary.colors[color]
    return 0.0 if looks.is_darkest else -most, 0.0 if looks.is_lightest else most


def _size(shape: str, parameters: MicroworldParameters, random: Stream) -> tuple[float, float]:
    """Return width and height of an entity; `STRETCHED` shapes have a larger minimum width."""
    low, high, distortion = parameters.size_min, parameters.size_max, 1.0
    if shape in STRETCHED:
        wide = random.random()
        distortion = parameters.distortion_min + wide * (parameters.distortion_max - parameters.distortion_min)
        low += (high - low) * wide / 2
    by_area = parameters.size_by == "area"
    width = math.sqrt(random.uniform(low * low, high * high)) if by_area else random.uniform(low, high)
    return round(width, DIGITS), round(width * TALL.get(shape, 1.0) / distortion, DIGITS)


def _may_stand(one: Footprint, placed: list[Footprint], parameters: MicroworldParameters) -> bool:
    """Return whether an entity may take its place beside those that are already placed."""
    is_drawn_inside = parameters.outside == 0 and parameters.collision_tolerance == 0  # else it may be near another
    if not is_drawn_inside and one.outside > parameters.outside:
        return False
    if parameters.collision_tolerance == 0:
        return not any(_is_near(one.entity, other.entity) and one.touches(other) for other in placed)
    near = [other for other in placed if _is_near(one.entity, other.entity)]
    if any(_looks_alike(one.entity, other.entity, parameters) and one.touches(other) for other in near):
        return False
    return (
        all(
            one.overlap(other) <= parameters.collision_tolerance
            and _covered_share(other, [one, *placed]) <= parameters.collision_tolerance
            for other in near
        )
        and _covered_share(one, near) <= parameters.collision_tolerance
    )


def _is_near(one: Entity, other: Entity) -> bool:
    """Return whether two entities could touch, from their boxes alone; this is a fast first test."""
    far = 0.5 * (one.width + one.height + other.width + other.height) + 0.05
    return abs(one.x - other.x) < far and abs(one.y - other.y) < far


def _looks_alike(one: Entity, other: Entity, parameters: MicroworldParameters) -> bool:
    return one.color == other.color and round(abs(one.shade - other.shade), DIGITS) < parameters.collision_shade


def _covered_share(one: Footprint, others: list[Footprint]) -> float:
    count = sum(one.common(other) for other in others if other is not one)
    return round(count / max(one.points.all, 1), DIGITS)
