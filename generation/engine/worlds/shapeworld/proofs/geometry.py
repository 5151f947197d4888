"""The points that entities cover, computed slowly and in another way than for drawing: corners and half planes."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.worlds.shapeworld.scene import Entity

POINTED = {"triangle": 3, "pentagon": 5}  # regular polygons with one corner up
Corners = list[tuple[float, float]]


class Patch(NamedTuple):
    """Points of a grid over the world; `covered`, `(rows, columns)` bool, begins at `row` and `column`."""

    row: int
    column: int
    covered: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """The number of covered points."""
        return int(self.covered.sum())

    def common(self, other: "Patch") -> int:
        """Return the number of points that both cover."""
        (mine, theirs) = (self._overlap(other), other._overlap(self))
        return int((self.covered[mine] & other.covered[theirs]).sum())

    def _overlap(self, other: "Patch") -> tuple[slice, slice]:
        """Return the part of `covered` whose points the other array has too."""
        top, left = max(self.row, other.row), max(self.column, other.column)
        bottom = min(self.row + self.covered.shape[0], other.row + other.covered.shape[0])
        right = min(self.column + self.covered.shape[1], other.column + other.covered.shape[1])
        return (
            slice(top - self.row, max(bottom, top) - self.row),
            slice(left - self.column, max(right, left) - self.column),
        )

    def within(self, side: int) -> "Patch":
        """Return the part in rows and columns 0 to `side - 1`."""
        rows, columns = (np.arange(n) + at for n, at in zip(self.covered.shape, self[:2], strict=True))
        inside = ((rows >= 0) & (rows < side))[:, None] & ((columns >= 0) & (columns < side))[None, :]
        return Patch(self.row, self.column, self.covered & inside)


def patch(entity: Entity, *, side: int) -> Patch:
    """Return the points that an entity covers, also outside the world, on a grid with `side` points along its side."""
    far = math.hypot(entity.width, entity.height) / 2
    top, left = math.floor((entity.y - far) * side), math.floor((entity.x - far) * side)
    count = math.ceil(2 * far * side) + 2
    y, x = np.meshgrid((top + np.arange(count) + 0.5) / side, (left + np.arange(count) + 0.5) / side, indexing="ij")
    return Patch(top, left, covers(entity, x, y))


def covers(entity: Entity, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which points an entity covers; `x` and `y` are in world units and have the same shape."""
    turned = math.tau * entity.rotation
    right, down = x - entity.x, y - entity.y
    across = right * math.cos(turned) + down * math.sin(turned)
    along = down * math.cos(turned) - right * math.sin(turned)
    half_width, half_height = entity.width / 2, entity.height / 2
    if entity.shape in ("circle", "ellipse"):
        return np.asarray((across / half_width) ** 2 + (along / half_height) ** 2 <= 1.0)
    if entity.shape == "semicircle":
        return np.asarray((np.hypot(across, half_height - along) <= half_width) & (along <= half_height))
    if entity.shape == "cross":
        bars = ((half_width, half_height / 3), (half_width / 3, half_height))
        return np.logical_or(*((np.abs(across) <= wide) & (np.abs(along) <= high) for wide, high in bars))
    return _in_polygon(corners(entity.shape, half_width, half_height), across, along)


def corners(shape: str, half_width: float, half_height: float) -> Corners:
    """Return the corners of a convex shape relative to its box's centre, clockwise in the picture."""
    if shape not in POINTED:
        return [(a * half_width, b * half_height) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    angles = [math.tau * (number / POINTED[shape] - 0.25) for number in range(POINTED[shape])]
    places = [(math.cos(angle), math.sin(angle)) for angle in angles]
    low, high = (extreme(y for _, y in places) for extreme in (min, max))
    wide = max(x for x, _ in places)
    return [(x / wide * half_width, (2 * (y - low) / (high - low) - 1) * half_height) for x, y in places]


def _in_polygon(around: Corners, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    inside = np.ones(x.shape, np.bool_)
    for (x1, y1), (x2, y2) in zip(around, around[1:] + around[:1], strict=True):
        inside &= (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) >= -1e-12
    return inside
