"""The points that a shape covers, and the extent of an entity."""

import math
from functools import lru_cache

from generation.engine.worlds.shapeworld.jit import compiled
from generation.engine.worlds.shapeworld.scene import DIGITS, SHAPES, Entity

CODES = {name: code for code, name in enumerate(SHAPES)}
TRIANGLE, PENTAGON, CROSS = CODES["triangle"], CODES["pentagon"], CODES["cross"]
CIRCLE, SEMICIRCLE, ELLIPSE = CODES["circle"], CODES["semicircle"], CODES["ellipse"]
ROUND = ("circle", "ellipse")
TALL = {"triangle": math.sqrt(0.75), "pentagon": math.cos(math.tau / 20), "semicircle": 0.5}  # height by width, else 1
STRETCHED = ("rectangle", "ellipse")  # shapes whose ratio of width to height is random
SIN18, COS18, SIN36, COS36 = (
    math.sin(math.tau / 20),
    math.cos(math.tau / 20),
    math.sin(math.tau / 10),
    math.cos(math.tau / 10),
)


def turn(entity: Entity) -> tuple[float, float]:
    """Return cosine and sine of an entity's rotation, rounded to `DIGITS`."""
    return _turn(entity.rotation)


@lru_cache(maxsize=1_000)  # used several times while an entity is placed and drawn
def _turn(rotation: float) -> tuple[float, float]:
    angle = math.tau * rotation
    return round(math.cos(angle), DIGITS), round(math.sin(angle), DIGITS)


def reach(entity: Entity) -> tuple[float, float]:
    """Return an upper bound of how far an entity extends from its centre, across and along, in world units."""
    cos, sin = turn(entity)
    across, along = entity.width / 2, entity.height / 2
    if entity.shape in ROUND:
        return math.hypot(across * cos, along * sin), math.hypot(across * sin, along * cos)
    return abs(across * cos) + abs(along * sin), abs(across * sin) + abs(along * cos)


@compiled
def is_inside(form: int, u: float, v: float) -> bool:
    """Return whether a shape covers a point of its box before rotation.

    Parameters
    ----------
    form : int
        The shape's number in `CODES`.
    u, v : float
        The point relative to the box's centre, in half widths to the right and half heights down.
    """
    across = abs(u)
    if across > 1.0 or abs(v) > 1.0:
        return False
    if form in (CIRCLE, ELLIPSE):
        return u * u + v * v <= 1.0
    if form == TRIANGLE:
        return across <= 0.5 * (v + 1.0)
    if form == CROSS:
        return across <= 1.0 / 3.0 or abs(v) <= 1.0 / 3.0
    if form == SEMICIRCLE:
        up = 0.5 * (1.0 - v)
        return u * u + up * up <= 1.0
    if form == PENTAGON:  # in a circle of radius 1 around (0, 0)
        x, y = across * COS18, 0.5 * (v * (1.0 + COS36) + COS36 - 1.0)
        return x * COS18 + y * SIN18 <= COS36 and x * SIN36 - y * COS36 <= COS36
    return True
