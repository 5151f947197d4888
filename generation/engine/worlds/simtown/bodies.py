"""What bodies of vehicles share: wheels, lamps, cabs, people, and the size of a list of parts.

Vehicles drive towards +x. They are built around y = 0 on the ground z = 0; `place` moves them to x = 0.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from generation.engine.render import shapes
from generation.engine.render.render_scene import Vector
from generation.engine.worlds.simtown.colours import (
    BLACK,
    CHASSIS,
    GLASS,
    HEADLAMP,
    SILVER,
    SKIN,
    TAIL_LAMP,
    TYRE,
)
from generation.engine.worlds.simtown.parts import BEVEL, Part, ball, box, cylinder, move

LACQUER = 0.1  # the gloss of bodywork
Span = tuple[float, float]


def block(x: Span, width: float, z: Span, colour: Vector, *, bevel: float = BEVEL, gloss: float = LACQUER) -> Part:
    """Return a box with its middle on y = 0."""
    return box(x, (-width / 2, width / 2), z, colour, bevel=bevel, gloss=gloss)


def mirror(part: Part) -> list[Part]:
    """Return a part on one side of y = 0 and its mirror image on the other. Not for meshes."""
    x, y, z = part.centre
    (a, b, c), (d, e, f), (g, h, i) = part.turn
    return [part, replace(part, centre=(x, -y, z), turn=((a, -b, c), (-d, e, -f), (g, -h, i)))]


def axle(x: float, *, radius: float, width: float, hub: Vector = SILVER) -> list[Part]:
    """Return a single wheel, or two as one roller whose middle the body hides: half as many parts as `wheels`."""
    return [
        cylinder((x, 0.0, radius), radius=radius, length=width, colour=TYRE, axis="y", bevel=0.06),
        cylinder((x, 0.0, radius), radius=radius * 0.55, length=width + 0.04, colour=hub, axis="y"),
    ]


def wheels(x: float, *, radius: float, width: float, thickness: float, hub: Vector = SILVER) -> list[Part]:
    """Return a left and a right wheel with nothing between them; `width` is measured over both."""
    y = (width - thickness) / 2
    tyre = cylinder((x, y, radius), radius=radius, length=thickness, colour=TYRE, axis="y", bevel=0.08)
    disc = cylinder((x, y, radius), radius=radius * 0.55, length=thickness + 0.04, colour=hub, axis="y")
    return [*mirror(tyre), *mirror(disc)]


def track(x: Span, *, width: float, height: float, thickness: float) -> list[Part]:
    """Return the crawler tracks of a machine; `width` is measured over both."""
    low, high = width / 2 - thickness, width / 2
    return mirror(box(x, (low, high), (0.0, height), TYRE, bevel=height * 0.4))


def lamps(x: Span, *, width: float, z: float) -> list[Part]:
    """Return two headlamps at the second x and one bar of tail lamps at the first x."""
    back, front = x
    y = width / 2 - 0.32
    lamp = box((front - 0.1, front + 0.05), (y - 0.18, y + 0.18), (z - 0.12, z + 0.12), HEADLAMP)
    return [*mirror(lamp), block((back - 0.04, back + 0.1), width * 0.85, (z - 0.08, z + 0.1), TAIL_LAMP)]


def cab(x: Span, colour: Vector) -> list[Part]:
    """Return the cab of a truck, with windows, grille and headlamps."""
    back, front = x
    low, high, width = 0.45, 2.3, 2.1
    panes = (high - 0.95, high - 0.28)
    y = width / 2 - 0.32
    return [
        block(x, width, (low, high), colour, bevel=0.14),
        block((back + 0.4, front + 0.02), width + 0.03, panes, GLASS),
        block((front - 0.36, front - 0.2), width + 0.06, panes, colour),
        block((front - 0.1, front + 0.03), width * 0.4, (low + 0.12, low + 0.55), CHASSIS),
        *mirror(box((front - 0.1, front + 0.05), (y - 0.18, y + 0.18), (low + 0.2, low + 0.46), HEADLAMP)),
    ]


def person(x: float, y: float, z: float, shirt: Vector, *, hat: Vector = SKIN) -> list[Part]:
    """Return the upper half of a person on a seat of height z; a hat other than skin covers the whole head."""
    return [
        cylinder((x, y, z + 0.27), radius=0.24, length=0.54, colour=shirt, bevel=0.12),
        ball((x, y, z + 0.74), radius=0.24, colour=hat),
    ]


def beacon(x: float, z: float, colour: Vector, *, width: float = 0.9) -> Part:
    """Return the bar of warning lamps on a roof."""
    return block((x - 0.14, x + 0.14), width, (z, z + 0.2), colour, gloss=0.2)


def spots(places: Sequence[Vector], *, radius: float, colour: Vector = BLACK) -> list[Part]:
    """Return balls at places on the left side and their mirror images on the right side."""
    return [part for centre in places for part in mirror(ball(centre, radius=radius, colour=colour))]


def enlarge(parts: Sequence[Part], factor: float) -> list[Part]:
    """Return the parts with all lengths multiplied by a factor."""
    return [_enlarge(part, factor) for part in parts]


def _enlarge(part: Part, factor: float) -> Part:
    x, y, z = part.centre
    centre = (x * factor, y * factor, z * factor)
    if part.kind in (shapes.SPHERE, shapes.MESH):
        return replace(part, centre=centre, scale=part.scale * factor)
    return replace(part, centre=centre, par=tuple(size * factor for size in part.par))


def bounds(parts: Sequence[Part]) -> tuple[Vector, Vector]:
    """Return the low and the high corner of the box around the parts."""
    corners = [_bounds(part) for part in parts]
    low = np.min([low for low, _ in corners], axis=0)
    high = np.max([high for _, high in corners], axis=0)
    return (float(low[0]), float(low[1]), float(low[2])), (float(high[0]), float(high[1]), float(high[2]))


def extent(parts: Sequence[Part]) -> tuple[float, float, float]:
    """Return length, width and height: the sizes of the box around the parts along x, y and z."""
    low, high = bounds(parts)
    return high[0] - low[0], high[1] - low[1], high[2] - low[2]


def place(parts: Sequence[Part]) -> list[Part]:
    """Return the parts moved so that the box around them has its middle at x = y = 0 and its bottom at z = 0."""
    low, high = bounds(parts)
    return move(parts, x=-(low[0] + high[0]) / 2, y=-(low[1] + high[1]) / 2, z=-low[2])


def _bounds(part: Part) -> tuple[np.ndarray, np.ndarray]:
    centre, turn = np.array(part.centre), np.array(part.turn)
    if part.kind in (shapes.CYLINDER, shapes.CONE):
        return _round_bounds(part, centre, turn[:, 2])
    if part.mesh is not None:
        points = centre + part.mesh.triangles.reshape(-1, 3) * part.scale @ turn.T
        return points.min(axis=0), points.max(axis=0)
    if part.kind == shapes.SPHERE:
        return centre - part.scale, centre + part.scale
    bevel = part.par[3]
    reach = np.abs(turn) @ (np.array(part.par[:3]) - bevel) + bevel
    return centre - reach, centre + reach


def _round_bounds(part: Part, centre: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of a cylinder or cone: those of the discs at its two ends, and of the bevel around them."""
    if part.kind == shapes.CONE:
        (wide, narrow, half), bevel = part.par, 0.0
    else:
        radius, half, bevel = part.par
        wide, narrow, half = radius - bevel, radius - bevel, half - bevel
    slant = np.sqrt(np.maximum(1.0 - axis**2, 0.0))
    discs = [(centre - half * axis, wide * slant + bevel), (centre + half * axis, narrow * slant + bevel)]
    low = np.min([middle - reach for middle, reach in discs], axis=0)
    high = np.max([middle + reach for middle, reach in discs], axis=0)
    return low, high
