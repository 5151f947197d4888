"""The places that vehicles may have on the road: in a lane, without overlaps, and wholly inside the picture."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations, product
from typing import NamedTuple

from generation.engine.worlds.simtown.bodies import extent
from generation.engine.worlds.simtown.camera import FOCAL, FORWARD, PLACE, RIGHT, UP
from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.programs import RELATIONS
from generation.engine.worlds.simtown.scene import LaneName, Vehicle
from generation.engine.worlds.simtown.street import LANES

LANE_NAMES: tuple[LaneName, ...] = ("near", "far")
GAP = 0.5  # metres between two vehicles in a lane
SWAY = 0.25  # metres to the left or right of a lane's middle
LONGEST_X = 10.0
FRAME = 0.495  # half a picture's width, in widths, without a narrow border
SPARE = 1.0  # metres that a margin leaves free at least, so that random places are found soon


@cache
def sizes() -> Mapping[str, tuple[float, float, float]]:
    """Return length, width and height of each entity in metres."""
    return {one.name: extent(one.parts()) for one in ENTITIES}


@cache
def reach(name: str, lane: LaneName) -> tuple[float, float]:
    """Return the lowest and highest x at which an entity in a lane appears wholly inside the picture."""
    return _farthest(name, lane, -LONGEST_X), _farthest(name, lane, LONGEST_X)


def _farthest(name: str, lane: LaneName, out: float) -> float:
    inside, outside = 0.0, out
    while abs(outside - inside) > 0.01:
        middle = (inside + outside) / 2
        nearest = Vehicle(entity=name, lane=lane, x=middle, y=LANES[lane] - SWAY)
        inside, outside = (middle, outside) if is_inside(nearest) else (inside, middle)
    return inside - math.copysign(0.05, out)


def overlap(one: Vehicle, two: Vehicle) -> bool:
    """Return whether two vehicles are in one lane without a gap between them."""
    known = sizes()
    apart = (known[one.entity][0] + known[two.entity][0]) / 2 + GAP
    return one.lane == two.lane and abs(one.x - two.x) < apart


def project(x: float, y: float, z: float) -> tuple[float, float]:
    """Return where a point appears: to the right of and below the picture's middle, in widths of the picture."""
    dx, dy, dz = x - PLACE[0], y - PLACE[1], z - PLACE[2]
    across = dx * RIGHT[0] + dy * RIGHT[1] + dz * RIGHT[2]
    above = dx * UP[0] + dy * UP[1] + dz * UP[2]
    along = dx * FORWARD[0] + dy * FORWARD[1] + dz * FORWARD[2]
    return FOCAL * across / along, -FOCAL * above / along


def box_of(vehicle: Vehicle) -> tuple[float, float, float, float]:
    """Return the box (left, top, right, bottom) in which a vehicle appears, in widths from the picture's middle."""
    length, width, height = sizes()[vehicle.entity]
    corners = [
        project(vehicle.x + a * length / 2, vehicle.y + b * width / 2, c * height)
        for a, b, c in product((-1, 1), (-1, 1), (0, 1))
    ]
    across, below = zip(*corners, strict=True)
    return min(across), min(below), max(across), max(below)


def is_inside(vehicle: Vehicle) -> bool:
    """Return whether a vehicle appears wholly inside the picture, from its left to its right border."""
    left, _, right, _ = box_of(vehicle)
    return left >= -FRAME and right <= FRAME


class Room(NamedTuple):
    """The largest margin for which all pairs of some entities have places, and the pair that needs the most room."""

    margin: float
    first: str
    second: str


@cache
def room_for(names: Sequence[str], relation: str) -> Room:
    """Return the largest margin with which each of some entities can be in a relation to each other one."""
    ends = {name: _ends(name, relation) for name in names}
    tightest = min(permutations(names, 2), key=lambda pair: ends[pair[0]][1] - ends[pair[1]][0])
    first, second = tightest
    return Room(math.floor(10 * (ends[first][1] - ends[second][0] - SPARE)) / 10, first, second)


def _ends(name: str, relation: str) -> tuple[float, float]:
    """Return how far an entity can be in the direction of a relation, at least and at most, in metres."""
    places = [
        Vehicle(entity=name, lane=lane, x=x, y=LANES[lane] + sway).along(RELATIONS[relation])
        for lane in LANE_NAMES
        for x in reach(name, lane)
        for sway in (-SWAY, SWAY)
    ]
    return min(places), max(places)
