"""Each solid is compared with a slow twin that only decides whether a point is inside."""

import math

import numpy as np
import pytest

from generation.engine.render import shapes
from generation.engine.render.mesh import build_mesh
from generation.engine.render.rays import hit_solid, normal_at
from generation.engine.render.render_scene import Solid, Stage, SurfaceMaterial, pack_solids
from tests.proof import size

STEP = 0.002
CASES = {
    "sphere": (shapes.SPHERE, ()),
    "cube": (shapes.BOX, (1.0, 1.0, 1.0, 0.15)),
    "slab": (shapes.BOX, (0.9, 0.4, 0.2, 0.2)),
    "sharp box": (shapes.BOX, (0.5, 0.8, 0.3, 0.001)),
    "cylinder": (shapes.CYLINDER, (1.0, 1.0, 0.04)),
    "round cylinder": (shapes.CYLINDER, (0.8, 0.5, 0.3)),
    "cone": (shapes.CONE, (1.0, 0.0, 1.0)),
    "upturned frustum": (shapes.CONE, (0.3, 0.8, 0.6)),
    "straight frustum": (shapes.CONE, (0.7, 0.7, 0.9)),
    "torus": (shapes.TORUS, (0.62, 0.38)),
    "thin torus": (shapes.TORUS, (0.85, 0.1)),
}


def inside(kind: int, par: tuple[float, ...], points: np.ndarray) -> np.ndarray:
    """Return which of the points, an array of shape (n, 3), are inside a solid in unit space."""
    x, y, z = points.T
    out = np.hypot(x, y)
    if kind == shapes.SPHERE:
        return x**2 + y**2 + z**2 <= 1
    if kind == shapes.BOX:
        over = np.maximum(np.abs(points) - (np.array(par[:3]) - par[3]), 0)
        return (over**2).sum(axis=1) <= par[3] ** 2
    if kind == shapes.CYLINDER:
        return np.maximum(out - par[0] + par[2], 0) ** 2 + np.maximum(abs(z) - par[1] + par[2], 0) ** 2 <= par[2] ** 2
    if kind == shapes.CONE:
        return (abs(z) <= par[2]) & (out <= par[0] + (par[1] - par[0]) * (z + par[2]) / (2 * par[2]))
    return (out - par[0]) ** 2 + z**2 <= par[1] ** 2


def turn_of(rng: np.random.Generator) -> np.ndarray:
    """Return a random rotation."""
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return turn * np.linalg.det(turn)


def rays(rng: np.random.Generator, *, count: int):
    """Return rays that start at distance 3 from the origin and aim near it."""
    for _ in range(count):
        start = rng.normal(size=3)
        start *= 3 / np.linalg.norm(start)
        way = rng.uniform(-1.25, 1.25, size=3) - start
        yield start, way / np.linalg.norm(way)


@pytest.mark.parametrize("name", CASES)
def test_a_ray_hits_a_solid_at_its_first_point_inside(name):
    kind, par = CASES[name]
    rng = np.random.default_rng(5)
    hits = 0
    for start, way in rays(rng, count=160):
        centre, scale, turn = rng.uniform(-1, 1, size=3), rng.uniform(0.2, 2), turn_of(rng)
        solid = Solid(kind, tuple(centre), scale, 0, 0, par=par, turn=tuple(map(tuple, turn)))
        packed = pack_solids(Stage(solids=[solid], materials=[SurfaceMaterial((1, 1, 1))]))
        walked = np.arange(0, 5, STEP)
        within = inside(kind, par, start + walked[:, None] * way)
        where, ray = centre + scale * (turn @ start), turn @ way
        got, _ = hit_solid(*packed, 0, *where, *ray, shapes.FAR)
        if within.sum() < 4:
            continue
        hits += 1
        assert abs(got / scale - walked[within.argmax()]) < 2 * STEP
        point = where + got * ray
        normal = np.array(normal_at(*packed, 0, -1, *point, *ray))
        assert math.isclose(float(np.linalg.norm(normal)), 1, abs_tol=1e-9)
        off = [turn.T @ (point + side * 0.01 * scale * normal - centre) / scale for side in (-1, 1)]
        assert not inside(kind, par, np.array(off))[1]
        assert normal @ ray < 1e-3
    assert hits > 15


@pytest.mark.parametrize("name", CASES)
def test_a_ray_that_stays_outside_hits_nothing(name):
    kind, par = CASES[name]
    packed = pack_solids(
        Stage(solids=[Solid(kind, (0, 0, 0), 1.0, 0, 0, par=par)], materials=[SurfaceMaterial((1, 1, 1))])
    )
    rng = np.random.default_rng(6)
    misses = 0
    for start, way in rays(rng, count=150):
        path = start + np.arange(0, 6, STEP)[:, None] * way
        near = [inside(kind, par, path + 0.005 * off) for off in np.vstack([np.eye(3), -np.eye(3)])]
        got, _ = hit_solid(*packed, 0, *start, *way, shapes.FAR)
        if not np.any(near):
            misses += 1
            assert got == shapes.FAR
        assert hit_solid(*packed, 0, *start, *-way, shapes.FAR)[0] == shapes.FAR
    assert misses > 5


def test_a_ray_that_leaves_a_convex_surface_does_not_hit_it_again():
    for kind, par in CASES.values():
        if kind == shapes.TORUS:
            continue
        packed = pack_solids(
            Stage(solids=[Solid(kind, (0, 0, 0), 1.0, 0, 0, par=par)], materials=[SurfaceMaterial((1, 1, 1))])
        )
        rng = np.random.default_rng(7)
        for start, way in rays(rng, count=40):
            got, _ = hit_solid(*packed, 0, *start, *way, shapes.FAR)
            if got == shapes.FAR:
                continue
            point = start + got * way
            normal = np.array(normal_at(*packed, 0, -1, *point, *way))
            away = rng.normal(size=3)
            away /= np.linalg.norm(away)
            away *= 1 if away @ normal > 0 else -1
            if away @ normal > 0.05:
                assert hit_solid(*packed, 0, *(point + 2e-4 * normal), *away, shapes.FAR)[0] == shapes.FAR


def test_a_ray_hits_a_mesh_at_the_nearest_of_its_triangles():
    rng = np.random.default_rng(8)
    points, faces = rng.normal(size=(300, 3)), rng.integers(0, 300, size=(400, 3))
    faces = faces[[len(set(face)) == 3 for face in faces.tolist()]]
    mesh = build_mesh(points, faces)
    packed = pack_solids(
        Stage(solids=[Solid(shapes.MESH, (0, 0, 0), 1.0, 0, 0, mesh=mesh)], materials=[SurfaceMaterial((1, 1, 1))])
    )
    met, tried = 0, size(150, least=60)
    for start, way in rays(rng, count=tried):
        want = nearest_hit(mesh.triangles, start, way)
        got, face = hit_solid(*packed, 0, *start, *way, shapes.FAR)
        assert (got == shapes.FAR) == (want == math.inf)
        if want < math.inf:
            met += 1
            assert got == pytest.approx(want, abs=1e-9)
            assert nearest_hit(mesh.triangles[face : face + 1], start, way) == pytest.approx(want, abs=1e-9)
    assert met > tried / 6


def nearest_hit(triangles: np.ndarray, start: np.ndarray, way: np.ndarray) -> float:
    """Return the distance of the nearest hit, found by solving three equations for each triangle."""
    best = math.inf
    for a, b, c in triangles.reshape(-1, 3, 3):
        try:
            u, v, t = np.linalg.solve(np.stack([b - a, c - a, -way], axis=1), start - a)
        except np.linalg.LinAlgError:
            continue
        if u >= 0 and v >= 0 and u + v <= 1 and 1e-4 < t < best:
            best = t
    return best


@pytest.mark.parametrize("name", CASES)
def test_the_ball_around_a_solid_contains_it_and_is_not_much_larger(name):
    kind, par = CASES[name]
    reach = pack_solids(
        Stage(solids=[Solid(kind, (0, 0, 0), 1.0, 0, 0, par=par)], materials=[SurfaceMaterial((1, 1, 1))])
    ).solids[0, 17]
    points = np.random.default_rng(9).uniform(-1.5, 1.5, size=(200_000, 3))
    far = np.sqrt((points[inside(kind, par, points)] ** 2).sum(axis=1)).max()
    assert far <= reach < far + 0.1
