"""Parts: the solids of which vehicles, buildings and trees are built, in metres.

An object is a list of parts in its own axes: x points where a vehicle drives, y to its left, z up; the ground is z = 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from generation.engine.render import shapes
from generation.engine.render.daylight.daylight_scene import Windows
from generation.engine.render.mesh import Mesh, build_mesh
from generation.engine.render.render_scene import UPRIGHT, Turn, Vector

BEVEL = 0.04
ALONG_X: Turn = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))  # turns an upright axis to x
ALONG_Y: Turn = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))  # turns an upright axis to y
AXES: dict[str, Turn] = {"x": ALONG_X, "y": ALONG_Y, "z": UPRIGHT}


@dataclass(frozen=True, eq=False)
class Part:
    """A coloured solid.

    Attributes
    ----------
    kind : int
        SPHERE, BOX, CYLINDER, CONE or MESH of `render.shapes`.
    centre : (x, y, z)
        Metres.
    par : tuple of float
        The size, in metres; see the table in `render.shapes`. A sphere has its radius in `scale` instead.
    colour : (r, g, b)
        Share of light that is reflected, linear, 0 to 1; see `paint`.
    gloss : float
        The strength of the sheen, 0 to 0.3.
    turn : 3 rows of 3
    scale : float
        The radius of a sphere, the unit of a mesh; 1 for others.
    mesh : Mesh or None
    is_lamp : bool
        Whether it shines at dusk.
    windows : Windows or None
        For boxes alone.
    """

    kind: int
    centre: Vector
    par: tuple[float, ...]
    colour: Vector
    gloss: float = 0.04
    turn: Turn = UPRIGHT
    scale: float = 1.0
    mesh: Mesh | None = None
    is_lamp: bool = False
    windows: Windows | None = None


def paint(code: str) -> Vector:
    """Return linear light for a colour written as in style sheets, for example `#c8102e`."""
    red, green, blue = (int(code[at : at + 2], 16) / 255.0 for at in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(value: float) -> float:
    return round(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4, 6)


def box(
    x: tuple[float, float],
    y: tuple[float, float],
    z: tuple[float, float],
    colour: Vector,
    *,
    bevel: float = BEVEL,
    gloss: float = 0.04,
) -> Part:
    """Return a box that reaches from the first to the second number along each axis."""
    sizes = [(high - low) / 2 for low, high in (x, y, z)]
    centre = (sum(x) / 2, sum(y) / 2, sum(z) / 2)
    return Part(shapes.BOX, centre, (*sizes, min(bevel, *sizes)), colour, gloss)


def cylinder(
    centre: Vector,
    *,
    radius: float,
    length: float,
    colour: Vector,
    axis: str = "z",
    bevel: float = 0.02,
    gloss: float = 0.04,
) -> Part:
    """Return a cylinder along an axis: `x`, `y` or `z`."""
    par = (radius, length / 2, min(bevel, radius, length / 2))
    return Part(shapes.CYLINDER, centre, par, colour, gloss, AXES[axis])


def cone(centre: Vector, *, low: float, high: float, length: float, colour: Vector, axis: str = "z") -> Part:
    """Return a cone or frustum; `low` and `high` are the radii where the axis begins and where it ends."""
    return Part(shapes.CONE, centre, (low, high, length / 2), colour, turn=AXES[axis])


def ball(centre: Vector, *, radius: float, colour: Vector, gloss: float = 0.04) -> Part:
    """Return a sphere."""
    return Part(shapes.SPHERE, centre, (), colour, gloss, scale=radius)


def prism(
    outline: Sequence[tuple[float, float]], y: tuple[float, float], colour: Vector, *, gloss: float = 0.04
) -> Part:
    """Return a convex outline in the xz plane, extended from the first to the second y.

    The outline runs counter-clockwise when seen from the right side of the vehicle (x to the right, z up).
    """
    count = len(outline)
    points = np.array([(x, side, z) for side in y for x, z in outline])
    fans = [(0, i, i + 1) for i in range(1, count - 1)]
    faces = [*fans, *((count + a, count + c, count + b) for a, b, c in fans)]
    for i in range(count):
        j = (i + 1) % count
        faces += [(i, count + i, count + j), (i, count + j, j)]
    low, high = points.min(axis=0), points.max(axis=0)
    mesh = build_mesh(points, np.array(faces))
    middle = (low + high) / 2
    size = max(float(np.sqrt(((points[:, :2] - middle[:2]) ** 2).sum(axis=1)).max()), float(high[2] - low[2]) / 2)
    centre = (float(middle[0]), float(middle[1]), float(low[2]) + size)  # a mesh stands on -1 of its own axes
    return Part(shapes.MESH, centre, (), colour, gloss, scale=size, mesh=mesh)


def move(parts: Sequence[Part], *, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> list[Part]:
    """Return the parts moved."""
    return [replace(one, centre=(one.centre[0] + x, one.centre[1] + y, one.centre[2] + z)) for one in parts]


def tilt(part: Part, degrees: float, *, axis: str = "y") -> Part:
    """Return a part turned around its own centre by `degrees`, about the axis x, y or z."""
    angle = math.radians(degrees)
    cos, sin = round(math.cos(angle), 9), round(math.sin(angle), 9)
    turns: dict[str, Turn] = {
        "x": ((1.0, 0.0, 0.0), (0.0, cos, -sin), (0.0, sin, cos)),
        "y": ((cos, 0.0, sin), (0.0, 1.0, 0.0), (-sin, 0.0, cos)),
        "z": ((cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)),
    }
    rows = (np.array(turns[axis]) @ np.array(part.turn)).tolist()
    return replace(part, turn=((*rows[0],), (*rows[1],), (*rows[2],)))
