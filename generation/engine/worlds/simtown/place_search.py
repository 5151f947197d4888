"""The search for places of vehicles by trial: hundreds of places are tried for each scene. Compiled, scalar."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from generation.engine.numba_compiler import compiler
from generation.engine.worlds.simtown.road import GAP, LANE_NAMES, SWAY
from generation.engine.worlds.simtown.scene import DIGITS
from generation.engine.worlds.simtown.street import LANES

Floats = NDArray[np.float64]
HERE = Path(__file__).parent
compiled = compiler("simtown", files=[HERE / name for name in ("place_search.py", "road.py", "scene.py", "street.py")])

TRIES_OF_THIRD = 8
ELSEWHERE = 0.1  # of the places tried for a third vehicle that is not in front or behind: those in any lane
LANE, X, Y = 0, 1, 2  # columns of a place
LENGTH = 0  # of a row of `rooms`; the lowest and highest x in each lane follow
MIDDLES = np.array([LANES[name] for name in LANE_NAMES])


@compiled
def find_places(
    chance: np.random.Generator,
    rooms: Floats,
    axis: Floats,
    margin: float,
    most: float,
    within: float,
    is_across: bool,
    is_beside: bool,
    tries: int,
) -> tuple[int, Floats]:
    """Try random places until two or three vehicles do not overlap and are related as a question needs.

    Parameters
    ----------
    chance : numpy.random.Generator
    rooms : (vehicles, 5) float64
        For each vehicle its length, then the lowest and highest x in the near and in the far lane, in metres.
    axis : (2,) float64
        The direction on the ground in which the first vehicle is at least `margin` metres from the second.
    margin, most : float
        Metres; a third vehicle beside the second is less than `most` apart from it along the axis.
    within : float
        Metres along the street around the second vehicle in which half of the places beside it are tried.
    is_across : bool
        Whether the relation is left or right of.
    is_beside : bool
        Whether a third vehicle is beside the second. Otherwise it is at any place.
    tries : int

    Returns
    -------
    used : int
        How many tries were needed; 0 if all were in vain.
    places : (vehicles, 3) float64
        The number of the lane, x and y in metres.
    """
    places = np.empty((rooms.shape[0], 3))
    for used in range(1, tries + 1):
        for number in range(2):
            put(chance, rooms, places, number)
        if overlap(rooms, places, 0, 1) or metres(places, 0, 1, axis) < margin:
            continue
        if rooms.shape[0] == 2:
            return used, places
        if is_beside:
            is_placed = put_beside(chance, rooms, places, axis, most, within, is_across)
        else:
            put(chance, rooms, places, 2)
            is_placed = is_free(rooms, places)
        if is_placed:
            return used, places
    return 0, places


@compiled
def put(chance: np.random.Generator, rooms: Floats, places: Floats, number: int) -> None:
    """Put a vehicle at a random place where it appears wholly inside the picture."""
    lane = 1 if chance.random() < 0.5 else 0
    put_between(chance, places, number, lane, rooms[number, 1 + 2 * lane], rooms[number, 2 + 2 * lane])


@compiled
def put_between(chance: np.random.Generator, places: Floats, number: int, lane: int, low: float, high: float) -> None:
    """Put a vehicle at a random place of a lane between two x."""
    high = max(low, high)
    places[number, LANE] = lane
    places[number, X] = round(low + chance.random() * (high - low), DIGITS)
    put_aside(chance, places, number, lane)


@compiled
def put_aside(chance: np.random.Generator, places: Floats, number: int, lane: int) -> None:
    """Choose how far a vehicle is from its lane's middle."""
    places[number, Y] = round(MIDDLES[lane] + (-SWAY + chance.random() * (SWAY - -SWAY)), DIGITS)


@compiled
def put_beside(
    chance: np.random.Generator,
    rooms: Floats,
    places: Floats,
    axis: Floats,
    most: float,
    within: float,
    is_across: bool,
) -> bool:
    """Put a third vehicle where it is in the relation to the second in neither direction; return whether it has room.

    If it may be at the side of the second vehicle, half of the places that are tried are near that vehicle.
    """
    for _ in range(TRIES_OF_THIRD):
        if is_across:
            lane = 1 if chance.random() < 0.5 else 0
            low, high = rooms[2, 1 + 2 * lane], rooms[2, 2 + 2 * lane]
            if chance.random() < 0.5:
                low, high = max(low, places[1, X] - within - 0.8), min(high, places[1, X] + within + 0.8)
            put_between(chance, places, 2, lane, low, high)
        elif chance.random() < ELSEWHERE:
            put(chance, rooms, places, 2)
        elif not put_in_lane_of_second(chance, rooms, places):
            continue
        if is_free(rooms, places) and abs(metres(places, 2, 1, axis)) < most:
            return True
    return False


@compiled
def put_in_lane_of_second(chance: np.random.Generator, rooms: Floats, places: Floats) -> bool:
    """Put a third vehicle into the lane of the second, at a random place that is free of it; return whether it fits."""
    lane = int(places[1, LANE])
    low, high = rooms[2, 1 + 2 * lane], rooms[2, 2 + 2 * lane]
    apart = (rooms[2, LENGTH] + rooms[1, LENGTH]) / 2 + GAP
    left, right = max(0.0, places[1, X] - apart - low), max(0.0, high - places[1, X] - apart)
    if left + right == 0.0:
        return False
    at = chance.random() * (left + right)
    places[2, LANE] = lane
    places[2, X] = round(low + at if at < left else high - (left + right - at), DIGITS)
    put_aside(chance, places, 2, lane)
    return True


@compiled
def is_free(rooms: Floats, places: Floats) -> bool:
    """Return whether the third vehicle overlaps neither of the others."""
    return not (overlap(rooms, places, 2, 0) or overlap(rooms, places, 2, 1))


@compiled
def overlap(rooms: Floats, places: Floats, one: int, two: int) -> bool:
    """Return whether two vehicles are in one lane without a gap between them."""
    apart = (rooms[one, LENGTH] + rooms[two, LENGTH]) / 2 + GAP
    return bool(places[one, LANE] == places[two, LANE] and abs(places[one, X] - places[two, X]) < apart)


@compiled
def metres(places: Floats, one: int, two: int, axis: Floats) -> float:
    """Return how far one vehicle is from another along an axis."""
    first = round(axis[0] * places[one, X] + axis[1] * places[one, Y], DIGITS)
    second = round(axis[0] * places[two, X] + axis[1] * places[two, Y], DIGITS)
    return float(round(first - second, DIGITS))
