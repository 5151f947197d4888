"""The grid points that entities cover: how many lie outside the world, and which two entities share.

Sets of grid points are integers with one bit for each point. A free margin surrounds the grid, so that shifts of an
integer grow a set of points.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.worlds.shapeworld.jit import compiled
from generation.engine.worlds.shapeworld.scene import DIGITS, Entity
from generation.engine.worlds.shapeworld.shape_geometry import CODES, is_inside, reach, turn

GRID = 128  # points along each side
GAP = 2  # points between entities that must not touch: one pixel of a picture with 64 pixels a side
MARGIN = GAP
SIDE = GRID + 2 * MARGIN


class Points(NamedTuple):
    """The points that an entity covers: a bit mask of those in the world, and the number of all."""

    mask: int
    all: int


class Footprint:
    """The points that an entity covers, computed when they are needed."""

    def __init__(self, entity: Entity) -> None:
        self.entity = entity

    @cached_property
    def points(self) -> Points:
        """The points that the entity covers."""
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
        """The mask of the covered points and of a gap around them."""
        mask = self.points.mask
        for _ in range(GAP):
            mask |= mask << 1 | mask >> 1
            mask |= mask << SIDE | mask >> SIDE
        return mask

    @property
    def outside(self) -> float:
        """The share of the entity that lies outside the world; 1 if it covers no point."""
        mask, count = self.points
        return round(1.0 - mask.bit_count() / count, DIGITS) if count else 1.0

    def common(self, other: "Footprint") -> int:
        """Return the number of points that both cover."""
        return (self.points.mask & other.points.mask).bit_count()

    def overlap(self, other: "Footprint") -> float:
        """Return the number of points that both cover, as a share of the smaller one."""
        return round(self.common(other) / max(min(self.points.all, other.points.all), 1), DIGITS)

    def touches(self, other: "Footprint") -> bool:
        """Return whether fewer than `GAP` points lie between the two; the grown mask of `other` is cached."""
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
    """Set the bits of the points that an entity covers; return the number of its points, also outside the world."""
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
