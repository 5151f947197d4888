"""Solids as triangles with smooth normals, for renderers that draw only triangles.

The points lie on the solid's surface, so densely that a silhouette of a hundred pixels is off by 0.01 pixels.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.render.render_scene import SHARPEST, Solid
from generation.engine.render.shapes import BOX, CONE, CYLINDER, MESH, SPHERE, TORUS

ROUND = 192  # corners of a full circle
BEVEL = 12  # steps of a bevel's quarter circle
TUBE = 96  # steps around the tube of a torus

Line = NDArray[np.float64]


class TriangleSurface(NamedTuple):
    """Triangles of a surface, in the solid's own space.

    Attributes
    ----------
    points : (n, 3) float32
    normals : (n, 3) float32
        The surface's unit normal at each point. At an edge the same point occurs twice.
    triangles : (m, 3) int32
        Indices of points, counter-clockwise seen from outside.
    """

    points: NDArray[np.float32]
    normals: NDArray[np.float32]
    triangles: NDArray[np.int32]


def surface_of(solid: Solid) -> TriangleSurface:
    """Return the surface of a solid."""
    par = solid.par
    if solid.kind == MESH and solid.mesh is not None:
        corners = solid.mesh.triangles.reshape(-1, 3)
        return _surface(corners, solid.mesh.normals.reshape(-1, 3), np.arange(len(corners)).reshape(-1, 3))
    if solid.kind == BOX:
        return _box(par[0], par[1], par[2], max(par[3], SHARPEST))
    return _turned(_profile(solid.kind, par))


def _profile(kind: int, par: Sequence[float]) -> list[Line]:
    """Return the outline that is rotated about the z axis: lines of (radius, z, normal's radius, normal's z)."""
    if kind == SPHERE:
        return [_arc((0.0, 0.0), 1.0, -math.pi / 2, math.pi / 2, ROUND // 2)]
    if kind == TORUS:
        return [_arc((par[0], 0.0), par[1], 0.0, 2 * math.pi, TUBE)]
    if kind == CYLINDER:
        bevel = max(par[2], SHARPEST)
        radius, half = par[0] - bevel, par[1] - bevel
        low = _arc((radius, -half), bevel, -math.pi / 2, 0.0, BEVEL)
        high = _arc((radius, half), bevel, 0.0, math.pi / 2, BEVEL)
        ends = np.array([[0.0, -par[1], 0.0, -1.0]]), np.array([[0.0, par[1], 0.0, 1.0]])
        return [np.concatenate([ends[0], low, high, ends[1]])]
    assert kind == CONE
    wide, narrow, half = par[0], par[1], par[2]
    across, down = 2 * half, wide - narrow
    long = math.hypot(across, down)
    side = (across / long, down / long)
    lines = [_line((0.0, -half), (wide, -half), (0.0, -1.0)), _line((wide, -half), (narrow, half), side)]
    return [*lines, _line((narrow, half), (0.0, half), (0.0, 1.0))] if narrow > 0 else lines


def _arc(centre: tuple[float, float], radius: float, start: float, end: float, steps: int) -> Line:
    angle = np.linspace(start, end, steps + 1)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([centre[0] + radius * cos, centre[1] + radius * sin, cos, sin], axis=1)


def _line(start: tuple[float, float], end: tuple[float, float], normal: tuple[float, float]) -> Line:
    return np.array([[*start, *normal], [*end, *normal]])


def _turned(lines: Sequence[Line]) -> TriangleSurface:
    """Return the surface that lines sweep in one turn about the z axis."""
    angle = np.linspace(0.0, 2 * math.pi, ROUND + 1)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    points, normals, triangles, first = [], [], [], 0
    for line in lines:
        radius, height, out, up = line.T
        flat = np.ones_like(cos)
        points.append(np.stack([radius * cos, radius * sin, height * flat], axis=2).reshape(-1, 3))
        normals.append(np.stack([out * cos, out * sin, up * flat], axis=2).reshape(-1, 3))
        triangles.append(first + _grid(len(angle), len(line)))
        first += len(angle) * len(line)
    return _surface(np.concatenate(points), np.concatenate(normals), np.concatenate(triangles))


def _box(a: float, b: float, c: float, bevel: float) -> TriangleSurface:
    """Return a box with rounded edges: all points at distance `bevel` from a smaller box.

    Each of its eight corners has an eighth of a small ball; flat sides and rounded edges connect them.
    """
    quarter = np.linspace(0.0, math.pi / 2, BEVEL + 1)
    around = np.concatenate([quarter + k * math.pi / 2 for k in range(4)] + [quarter[:1]])
    corner = np.repeat([[1, 1], [-1, 1], [-1, -1], [1, -1]], BEVEL + 1, axis=0)
    corner = np.concatenate([corner, corner[:1]])
    rise = np.concatenate([quarter - math.pi / 2, quarter])
    upper = np.repeat([-1, 1], BEVEL + 1)
    flat, up = np.cos(rise)[None, :], np.sin(rise)[None, :]
    x, y, z = np.cos(around)[:, None] * flat, np.sin(around)[:, None] * flat, np.ones(len(around))[:, None] * up
    normals = np.stack([x, y, z], axis=2)
    core = np.empty_like(normals)
    core[:, :, :2] = (corner * [a - bevel, b - bevel])[:, None, :]
    core[:, :, 2] = upper * (c - bevel)
    points = core + bevel * normals
    last = len(rise) - 1
    caps = [[(BEVEL + 1) * k * len(rise) + row for k in (0, m, m + 1)] for row in (0, last) for m in (1, 2)]
    triangles = np.concatenate([_grid(len(around), len(rise)), np.array(caps)])
    return _surface(points.reshape(-1, 3), normals.reshape(-1, 3), triangles)


def _grid(rows: int, columns: int) -> NDArray[np.int64]:
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1, 1)
    return np.concatenate([first + np.array([0, columns, columns + 1]), first + np.array([0, columns + 1, 1])])


def _surface(points: Line, normals: Line, triangles: NDArray[np.int64]) -> TriangleSurface:
    """Return the triangles that have an area, oriented outwards."""
    corners = points[triangles]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    kept = np.sqrt((sides**2).sum(axis=1)) > 1e-12
    triangles, sides = triangles[kept], sides[kept]
    inward = (sides * normals[triangles].sum(axis=1)).sum(axis=1) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return TriangleSurface(points.astype(np.float32), normals.astype(np.float32), triangles.astype(np.int32))
