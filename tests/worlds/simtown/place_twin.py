"""Places of vehicles found by the same trials as `place_search`, in plain Python."""

from collections.abc import Sequence
from typing import NamedTuple

from generation.engine.seeding import Stream
from generation.engine.worlds.simtown.camera import GROUND_AXES
from generation.engine.worlds.simtown.picture import visible_pixels
from generation.engine.worlds.simtown.place_search import ELSEWHERE, TRIES_OF_THIRD
from generation.engine.worlds.simtown.programs import RELATIONS
from generation.engine.worlds.simtown.road import GAP, LANE_NAMES, SWAY, reach, sizes
from generation.engine.worlds.simtown.scene import DIGITS, LaneName, Vehicle
from generation.engine.worlds.simtown.scene_sampling import ASIDE, SEEN, aside
from generation.engine.worlds.simtown.spec import PlacementName, StreetParameters
from generation.engine.worlds.simtown.street import LANES


def place_vehicles(
    names: Sequence[str],
    relation: str,
    *,
    margin: float,
    parameters: StreetParameters,
    chance: Stream,
    placement: PlacementName = "beside",
) -> tuple[Vehicle, ...] | None:
    """Return what `scene_sampling.place_vehicles` returns."""
    axis = GROUND_AXES[RELATIONS[relation]]
    for _ in range(parameters.tries):
        first, second = _spot(names[0], chance), _spot(names[1], chance)
        if _overlap(first, second) or _metres(first, second, axis) < margin:
            continue
        spots = [first, second]
        if len(names) > 2:
            third: Spot | None
            if placement == "beside":
                third = _third(names[2], first, second, relation, margin=margin, chance=chance)
            else:
                third = _spot(names[2], chance)
            if third is None or _overlap(third, first) or _overlap(third, second):
                continue
            spots.append(third)
        placed = tuple(
            Vehicle.model_construct(entity=name, lane=spot.lane, x=spot.x, y=spot.y)
            for name, spot in zip(names, spots, strict=True)
        )
        if visible_pixels(placed, width=SEEN[0], height=SEEN[1]).min() >= parameters.least_pixels:
            return placed
    return None


class Spot(NamedTuple):
    """The place of a vehicle while others are still looked for."""

    lane: LaneName
    x: float
    y: float
    length: float


def _third(name: str, first: Spot, second: Spot, relation: str, *, margin: float, chance: Stream) -> Spot | None:
    """Return a place for a third vehicle that is not in the relation, nor in its reverse, to the second."""
    axis, most = GROUND_AXES[RELATIONS[relation]], aside(relation, margin)
    is_across = relation in ("left", "right")
    for _ in range(TRIES_OF_THIRD):
        if is_across or chance.random() < ELSEWHERE:
            third: Spot | None = _spot(name, chance, beside=second if is_across else None, within=ASIDE * margin)
        else:
            third = _in_lane_of(second, name, chance)
        if third is None:
            continue
        is_free = not (_overlap(third, first) or _overlap(third, second))
        if is_free and abs(_metres(third, second, axis)) < most:
            return third
    return None


def _in_lane_of(other: Spot, name: str, chance: Stream) -> Spot | None:
    """Return a random place in the lane of another vehicle, beside it or behind it; None if there is no room."""
    low, high = reach(name, other.lane)
    apart = (sizes()[name][0] + other.length) / 2 + GAP
    left, right = max(0.0, other.x - apart - low), max(0.0, high - other.x - apart)
    if left + right == 0.0:
        return None
    at = chance.uniform(0.0, left + right)
    x = round(low + at if at < left else high - (left + right - at), DIGITS)
    return Spot(other.lane, x, _sway(other.lane, chance), sizes()[name][0])


def _sway(lane: LaneName, chance: Stream) -> float:
    return round(LANES[lane] + chance.uniform(-SWAY, SWAY), DIGITS)


def _spot(name: str, chance: Stream, *, beside: Spot | None = None, within: float = 0.0) -> Spot:
    """Return a random place where a vehicle appears wholly inside the picture.

    If it must be at the side of another vehicle, half of the places that are tried are near that vehicle.
    """
    lane = LANE_NAMES[chance.random() < 0.5]
    low, high = reach(name, lane)
    if beside is not None and chance.random() < 0.5:
        low, high = max(low, beside.x - within - 0.8), min(high, beside.x + within + 0.8)
    x = round(chance.uniform(low, max(low, high)), DIGITS)
    return Spot(lane, x, _sway(lane, chance), sizes()[name][0])


def _overlap(one: Spot, two: Spot) -> bool:
    return one.lane == two.lane and abs(one.x - two.x) < (one.length + two.length) / 2 + GAP


def _metres(one: Spot, two: Spot, axis: tuple[float, float]) -> float:
    a, b = axis
    return round(round(a * one.x + b * one.y, DIGITS) - round(a * two.x + b * two.y, DIGITS), DIGITS)
