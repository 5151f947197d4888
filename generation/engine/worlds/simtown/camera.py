"""The one camera of SimTown, and positions in its plane."""

import math
from collections.abc import Mapping

from generation.engine.render.render_scene import Camera, Vector

PLACE: Vector = (2.6, -10.8, 5.5)
TARGET: Vector = (0.25, 4.4, 1.8)
FOCAL = 0.82  # in widths of the picture


def _axes() -> tuple[Vector, Vector, Vector]:
    dx, dy, dz = (there - here for here, there in zip(PLACE, TARGET, strict=True))
    length, flat = math.sqrt(dx * dx + dy * dy + dz * dz), math.hypot(dx, dy)
    forward = (dx / length, dy / length, dz / length)
    right = (dy / flat, -dx / flat, 0.0)
    up = (
        right[1] * forward[2] - right[2] * forward[1],
        right[2] * forward[0] - right[0] * forward[2],
        right[0] * forward[1] - right[1] * forward[0],
    )
    return right, up, forward


RIGHT, UP, FORWARD = _axes()
GROUND_AXES: Mapping[str, tuple[float, float]] = {  # the directions of the relations on the ground
    "right of": (round(RIGHT[0], 9), round(RIGHT[1], 9)),
    "left of": (round(-RIGHT[0], 9), round(-RIGHT[1], 9)),
    "behind": (round(-RIGHT[1], 9), round(RIGHT[0], 9)),
    "in front of": (round(RIGHT[1], 9), round(-RIGHT[0], 9)),
}


def camera(*, width: int, height: int) -> Camera:
    """Return the camera for a picture of a size in pixels."""
    return Camera(PLACE, RIGHT, UP, FORWARD, focal=FOCAL * width, width=width, height=height)
