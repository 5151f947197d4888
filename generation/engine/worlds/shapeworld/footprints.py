"""Where entities lie in the world, on a grid: what they cover, how much of it lies outside, whom they overlap.

Sets of grid points are integers, one bit a point, with a free margin all around, so that growing them is shifting them.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.worlds.shapeworld.compiled import compiled
from generation.engine.worlds.shapeworld.forms import CODES, is_inside, reach, turn
from generation.engine.worlds.shapeworld.scene import DIGITS, Entity

GRID = 128  # points a side
GAP = 2  # points between entities that are kept apart: one pixel of a picture of 64
MARGIN = GAP
SIDE = GRID + 2 * MARGIN


class Points(NamedTuple):
    """What an entity covers: a set of points of the world, and how many there are with those outside it."""

    mask: int
    all: int


class Footprint:
    """Where an entity lies; what it covers is worked out when it is asked for."""

    def __init__(self, entity: Entity) -> None:
        self.entity = entity

    @cached_property
    def points(self) -> Points:
        """What it covers."""
        entity = self.entity
        bits = np.zeros(-(-SIDE * SIDE // 8), np.uint8)
        across, along = reach(entity)
        cos, sin = turn(entity)
        found = _cover(
            CODES[entity.shape], entity.x, entity.y, entity.width, entity.height, cos, sin, across, along, bits
        )
        return Points(int.from_bytes(bits.tobytes(), "little"), found)

    @cached_property
    def grown(self) -> int:
        """What it covers and the gap around it."""
        mask = self.points.mask
        for _ in range(GAP):
            mask |= mask << 1 | mask >> 1
            mask |= mask << SIDE | mask >> SIDE
        return mask

    @property
    def outside(self) -> float:
        """The share of it that lies outside the world."""
        mask, count = self.points
        return round(1.0 - mask.bit_count() / count, DIGITS) if count else 1.0

    def common(self, other: "Footprint") -> int:
        """Return how many points both cover."""
        return (self.points.mask & other.points.mask).bit_count()

    def overlap(self, other: "Footprint") -> float:
        """Return how much both cover, as a share of the smaller one."""
        return round(self.common(other) / max(min(self.points.all, other.points.all), 1), DIGITS)

    def touches(self, other: "Footprint") -> bool:
        """Return whether there is less than the gap between them; quick where the other was asked before."""
        return bool(self.points.mask & other.grown)


@compiled
def _cover(
    form: int,
    x: float,
    y: float,
    width: float,
    height: float,
    cos: float,
    sin: float,
    across: float,
    along: float,
    bits: NDArray[np.uint8],
) -> int:
    """Set the bits of points that an entity covers, row by row; return how many there are, those outside too."""
    count = 0
    for row in range(int(np.floor((y - along) * GRID)), int(np.ceil((y + along) * GRID)) + 1):
        for column in range(int(np.floor((x - across) * GRID)), int(np.ceil((x + across) * GRID)) + 1):
            right, down = (column + 0.5) / GRID - x, (row + 0.5) / GRID - y
            u, v = (right * cos + down * sin) * 2.0 / width, (down * cos - right * sin) * 2.0 / height
            if is_inside(form, u, v):
                count += 1
                if 0 <= row < GRID and 0 <= column < GRID:
                    at = (row + MARGIN) * SIDE + column + MARGIN
                    bits[at >> 3] |= np.uint8(1 << (at & 7))
    return count
