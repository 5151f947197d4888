"""Which shapes and colours a microworld's entities have, and how many there are."""

from collections.abc import Sequence
from itertools import accumulate, product
from typing import TypeVar

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

Kind = tuple[str, str]  # shape and colour
T = TypeVar("T")
POOL_TRIES = 50  # for a combination of few shapes and colours that is not held out, before any other is taken


def weighted(options: Sequence[T], weights: Sequence[float], random: Stream) -> T:
    """Return one of `options`, each as likely as its weight says."""
    if len(options) == 1:
        return options[0]
    at = random.random() * sum(weights)
    return next((option for option, end in zip(options, accumulate(weights), strict=True) if at < end), options[-1])


def choose_count(spec: ShapeWorldSpec, random: Stream) -> int:
    """Return how many entities a microworld has."""
    held_out = spec.held_out
    if held_out.shows_counts and random.random() < held_out.count_rate:
        return random.choice(held_out.shows_counts)
    return random.choice(spec.counts)


def choose_kinds(spec: ShapeWorldSpec, random: Stream, *, count: int) -> list[Kind]:
    """Return shape and colour of each entity of a microworld."""
    held_out = spec.held_out
    choosing = spec.scene.choosing
    way = weighted(tuple(choosing), tuple(choosing.values()), random)
    lead: list[Kind] = []
    share = 0.0
    if held_out.shows_combinations and random.random() < held_out.combination_rate:
        lead = [random.choice(held_out.shows_combinations)]
        share = random.uniform(held_out.space_min, held_out.space_max)
    if way == "limited":
        return _limited(spec, random, count=count, lead=lead, share=share)
    if way == "reinforced":
        return _reinforced(spec, random, count=count, lead=lead, share=share)
    return _from(spec.combinations, spec, random, count=count, lead=lead, share=share)


def _from(
    options: Sequence[Kind], spec: ShapeWorldSpec, random: Stream, *, count: int, lead: list[Kind], share: float
) -> list[Kind]:
    """Return `count` kinds: those that lead, then any of `options`, but a share of what the split shows."""
    kinds = list(lead)
    shown = spec.held_out.shows_combinations
    while len(kinds) < count:
        kinds.append(random.choice(shown) if share and random.random() < share else random.choice(options))
    return kinds


def _limited(spec: ShapeWorldSpec, random: Stream, *, count: int, lead: list[Kind], share: float) -> list[Kind]:
    """Return kinds of a few shapes and a few colours alone, those of the first among them."""
    for _ in range(POOL_TRIES):
        shapes, colors = (
            _some(spec.vocabulary.values(name), [kind[at] for kind in lead], spec, random)
            for at, name in enumerate(("shape", "color"))
        )
        options = [kind for kind in product(shapes, colors) if kind not in spec.forbidden]
        if options:
            return _from(options, spec, random, count=count, lead=lead, share=share)
    return _from(spec.combinations, spec, random, count=count, lead=lead, share=share)


def _some(values: Sequence[str], first: list[str], spec: ShapeWorldSpec, random: Stream) -> list[str]:
    """Return some different values, as many as the spec says, `first` among them."""
    low, high = spec.scene.kinds_min, spec.scene.kinds_max
    wanted = min(low + random.below(high - low + 1), len(values))
    others = [value for value in values if value not in first]
    random.shuffle(others)
    return [*first, *others][:wanted]


def _reinforced(spec: ShapeWorldSpec, random: Stream, *, count: int, lead: list[Kind], share: float) -> list[Kind]:
    """Return kinds from a pool of shapes and one of colours, to which each entity adds copies of its own."""
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
