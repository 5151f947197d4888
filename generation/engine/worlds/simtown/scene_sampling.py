"""Sampling of streets, and placing vehicles on the road."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from generation.engine.seeding import Stream
from generation.engine.worlds.simtown.camera import GROUND_AXES
from generation.engine.worlds.simtown.picture import visible_pixels
from generation.engine.worlds.simtown.place_search import find_places
from generation.engine.worlds.simtown.programs import RELATIONS, REVERSED
from generation.engine.worlds.simtown.road import LANE_NAMES, reach, sizes
from generation.engine.worlds.simtown.scene import DIGITS, Building, Street, Thing, Vehicle, is_related
from generation.engine.worlds.simtown.spec import PlacementName, StreetParameters
from generation.engine.worlds.simtown.street import BUILDINGS, EDGE, FRONTS, HOUSE_COLOURS, ROWS, THINGS

ASIDE = 0.5  # margins that a third vehicle is left or right of the second at most: people see them side by side
SEEN = (96, 64)  # the picture in which visible pixels are counted


def sample_street(chance: Stream) -> Street:
    """Return a random row of buildings with trees, mailboxes and street lamps before it."""
    return Street.model_construct(buildings=tuple(_buildings(chance)), things=tuple(_things(chance)))


def _buildings(chance: Stream) -> Iterator[Building]:
    styles, colours = tuple(BUILDINGS), tuple(HOUSE_COLOURS)
    x = -EDGE + chance.uniform(0.0, 4.0)
    while x < EDGE:
        style = chance.choice(styles)
        width = BUILDINGS[style][0]
        yield Building.model_construct(
            style=style,
            colour=chance.choice(colours),
            x=round(x + width / 2, DIGITS),
            y=round(FRONTS + chance.uniform(0.0, 1.2), DIGITS),
        )
        x += width + chance.uniform(0.1, 1.4)


def _things(chance: Stream) -> Iterator[Thing]:
    kinds = tuple(THINGS)
    x = -16.0 + chance.uniform(0.0, 3.0)
    while x < 16.0:
        kind = chance.choice(kinds)
        yield Thing.model_construct(kind=kind, x=round(x, DIGITS), y=ROWS[kind])
        x += chance.uniform(1.6, 4.6)


def place_vehicles(
    names: Sequence[str],
    relation: str,
    *,
    margin: float,
    parameters: StreetParameters,
    chance: Stream,
    placement: PlacementName = "beside",
) -> tuple[Vehicle, ...] | None:
    """Return vehicles at random places: the first is in the relation to the second. A third one is a distractor.

    Parameters
    ----------
    names : sequence of str
        Two or three entities.
    relation : str
        A name of `RELATIONS`.
    margin : float
        Metres.
    parameters : StreetParameters
    chance : Stream
    placement : str
        With `beside`, the third vehicle is neither in the relation nor in its reverse to the second. With `random`, it
        is at any place.

    Returns
    -------
    tuple of Vehicle or None
        None if no place was found within the allowed number of attempts.
    """
    rooms, axis = np.array([_room(name) for name in names]), np.array(GROUND_AXES[RELATIONS[relation]])
    most, left = aside(relation, margin), parameters.tries
    while left > 0:
        used, places = find_places(
            chance.generator,
            rooms,
            axis,
            margin,
            most,
            ASIDE * margin,
            relation in ("left", "right"),
            placement == "beside",
            left,
        )
        if used == 0:
            return None
        left -= used
        placed = tuple(
            Vehicle.model_construct(entity=name, lane=LANE_NAMES[int(lane)], x=x, y=y)
            for name, (lane, x, y) in zip(names, places.tolist(), strict=True)
        )
        if visible_pixels(placed, width=SEEN[0], height=SEEN[1]).min() >= parameters.least_pixels:
            return placed
    return None


def is_refuted(claim: str, placed: Sequence[Vehicle], *, margin: float, chance: Stream) -> bool:
    """Return whether to use a scene for the false claim that its third vehicle is in a relation to the second.

    If the vehicles are in neither direction of the relation, the reverse claim is false, too. Such a scene is used half
    of the time. So scenes have the same distribution as without a claim, if both directions are claimed equally often.
    """
    _, second, third = placed
    if is_related(third, second, RELATIONS[claim], margin=margin):
        return False
    return is_related(third, second, RELATIONS[REVERSED[claim]], margin=margin) or chance.random() < 0.5


@cache
def _room(name: str) -> tuple[float, ...]:
    """Return a row of `find_places`' rooms."""
    return (sizes()[name][0], *(end for lane in LANE_NAMES for end in reach(name, lane)))


def aside(relation: str, margin: float) -> float:
    """Return how many metres a distractor beside the object is at most apart from it, in the direction of a relation.

    In front and behind, two vehicles in one lane look side by side whatever the camera's slant makes of them.
    """
    return margin * ASIDE if relation in ("left", "right") else margin


def stand_apart(one: Vehicle, two: Vehicle, relation: str, *, margin: float) -> bool:
    """Return whether two vehicles are in a relation, in one direction or the other."""
    words = RELATIONS[relation], RELATIONS[REVERSED[relation]]
    return any(is_related(one, two, each, margin=margin) for each in words)
