"""Solids as triangles: they are on the surface of the solid, cover all of it, and face outwards."""

import numpy as np
import pytest

from generation.engine.render import shapes
from generation.engine.render.mesh import parse_mesh
from generation.engine.render.render_scene import Solid
from generation.engine.render.shape_hits import core_offset
from generation.engine.render.triangulation import TriangleSurface, surface_of
from tests.engine.render.test_mesh import sphere_obj

SOLIDS = {
    "sphere": Solid(shapes.SPHERE, (0, 0, 0), 1.0, 0, 0),
    "box": Solid(shapes.BOX, (0, 0, 0), 1.0, 0, 0, par=(0.9, 0.7, 1.0, 0.15)),
    "sharp box": Solid(shapes.BOX, (0, 0, 0), 1.0, 0, 0, par=(0.9, 0.7, 1.0, 0.0)),
    "cylinder": Solid(shapes.CYLINDER, (0, 0, 0), 1.0, 0, 0, par=(1.0, 0.8, 0.04)),
    "cone": Solid(shapes.CONE, (0, 0, 0), 1.0, 0, 0, par=(1.0, 0.0, 1.0)),
    "cut cone": Solid(shapes.CONE, (0, 0, 0), 1.0, 0, 0, par=(1.0, 0.4, 0.7)),
    "torus": Solid(shapes.TORUS, (0, 0, 0), 1.0, 0, 0, par=(0.62, 0.38)),
    "mesh": Solid(shapes.MESH, (0, 0, 0), 1.0, 0, 0, mesh=parse_mesh(sphere_obj())),
}
VOLUMES = {
    "sphere": 4 / 3 * np.pi,
    "sharp box": 8 * 0.9 * 0.7,
    "cone": 2 / 3 * np.pi,
    "cut cone": np.pi * 1.4 / 3 * (1 + 0.4 + 0.16),
    "torus": 2 * np.pi**2 * 0.62 * 0.38**2,
}


def corners_of(surface: TriangleSurface) -> np.ndarray:
    return surface.points[surface.triangles].astype(np.float64)


def distance(solid: Solid, point: np.ndarray) -> float:
    """Return the distance of a point from the surface of a solid; negative if the point is inside."""
    x, y, z = point
    if solid.kind == shapes.SPHERE:
        return float(np.linalg.norm(point)) - 1.0
    if solid.kind == shapes.CONE:
        wide, narrow, half = solid.par
        slope = np.array([2 * half, wide - narrow]) / np.hypot(2 * half, wide - narrow)
        return max(abs(z) - half, float(slope @ [np.hypot(x, y) - wide, z + half]))
    par = [*solid.par, 0.0, 0.0][:4]
    bevel = 3 if solid.kind == shapes.BOX else 2
    par[bevel] = max(par[bevel], 1e-3) if solid.kind != shapes.TORUS else par[bevel]
    dx, dy, dz, skin = core_offset(solid.kind, *par, x, y, z)
    return float(np.sqrt(dx * dx + dy * dy + dz * dz)) - skin


@pytest.mark.parametrize("name", [name for name in SOLIDS if name != "mesh"])
def test_corners_are_on_the_surface_and_centres_of_triangles_slightly_below(name: str) -> None:
    solid, corners = SOLIDS[name], corners_of(surface_of(SOLIDS[name]))
    some = corners[:: max(1, len(corners) // 3000)]
    for triangle in some:
        assert max(abs(distance(solid, point)) for point in triangle) < 1e-5
        assert -1e-3 < distance(solid, triangle.mean(axis=0)) < 1e-5


@pytest.mark.parametrize("name", SOLIDS)
def test_the_surface_is_closed_and_faces_outwards(name: str) -> None:
    corners = corners_of(surface_of(SOLIDS[name]))
    places = np.unique(np.round(corners.reshape(-1, 3), 5), axis=0, return_inverse=True)[1].reshape(-1, 3)
    edges = np.concatenate([places[:, [0, 1]], places[:, [1, 2]], places[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    there = {tuple(edge) for edge in edges.tolist()}
    assert all((b, a) in there for a, b in there)
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    volume = abs(volume) if name == "mesh" else volume  # the triangles of the OBJ file may face inwards
    assert volume == pytest.approx(VOLUMES.get(name, volume), rel=5e-3)
    assert volume > 1


@pytest.mark.parametrize("name", SOLIDS)
def test_normals_have_unit_length_and_the_direction_of_their_triangles(name: str) -> None:
    surface = surface_of(SOLIDS[name])
    assert np.abs(np.linalg.norm(surface.normals, axis=1) - 1).max() < 1e-5
    corners = corners_of(surface)
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sides /= np.linalg.norm(sides, axis=1)[:, None]
    agree = np.einsum("ij,ikj->ik", sides, surface.normals[surface.triangles])
    assert agree.min() > (0.7 if name == "mesh" else 0.97)
