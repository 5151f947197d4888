"""Daylight rendering, compared with slow twins that test every solid for each ray and every neighbour of each pixel."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from generation.engine.render import daylight, shapes
from generation.engine.render.daylight import daylight_scene, pixel_hits
from generation.engine.render.mesh import Mesh, build_mesh
from generation.engine.render.rays import first_hits, hit_solid, passes, rectangle
from generation.engine.render.render_scene import (
    KIND,
    PAR,
    SCALE,
    TURN,
    Camera,
    PackedSolids,
    Solid,
    Stage,
    SurfaceMaterial,
    Vector,
    pack_camera,
    pack_solids,
)
from generation.engine.render.tracer import ground_depth
from tests import proof

WIDTH, HEIGHT = 24, 16
EXAMPLES = proof.size(1_000, name="daylight: scenes that every ray tries", least=30)
PAR_OF = {
    shapes.SPHERE: (),
    shapes.BOX: (1.0, 0.4, 0.7, 0.1),
    shapes.CYLINDER: (0.8, 0.5, 0.1),
    shapes.CONE: (1.0, 0.2, 0.6),
    shapes.TORUS: (0.6, 0.3),
    shapes.MESH: (),
}
CORNERS = np.array([(-1.0, -0.4, -1.0), (0.9, -0.6, -0.8), (0.1, 0.9, -0.6), (0.2, 0.1, 1.0)])


def tetrahedron() -> Mesh:
    return build_mesh(CORNERS, np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]))


def turn_of(seed: int) -> np.ndarray:
    """Return a random rotation."""
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return turn * np.linalg.det(turn)


def rows(turn: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in turn)


number = some.floats(-6.0, 6.0, allow_nan=False)
kinds = some.sampled_from(sorted(PAR_OF))


@some.composite
def solids(draw: some.DrawFn) -> list[Solid]:
    """Return one to four solids at any place, also behind the camera or around it."""
    found = []
    for owner in range(draw(some.integers(1, 4))):
        kind, centre = draw(kinds), (draw(number), draw(number), draw(some.floats(-1.0, 5.0)))
        scale, turn = draw(some.floats(0.2, 3.0)), rows(turn_of(draw(some.integers(0, 1_000))))
        mesh = tetrahedron() if kind == shapes.MESH else None
        found.append(Solid(kind, centre, scale, owner, 0, par=PAR_OF[kind], turn=turn, mesh=mesh))  # type: ignore[arg-type]
    return found


@some.composite
def cameras(draw: some.DrawFn) -> Camera:
    """Return a camera at any place with any direction and a narrow or wide angle."""
    right, up, forward = turn_of(draw(some.integers(0, 1_000)))
    if draw(some.booleans()):  # facing the solids
        place = -draw(some.floats(4.0, 15.0)) * forward + [0.0, 0.0, 1.0]
    else:
        place = np.array([draw(number), draw(number), draw(some.floats(0.1, 8.0))])
    axes = (tuple(map(float, axis)) for axis in (place, right, up, forward))
    return Camera(*axes, focal=draw(some.floats(8.0, 60.0)), width=WIDTH, height=HEIGHT)  # type: ignore[arg-type]


def pack(found: list[Solid]) -> PackedSolids:
    return pack_solids(Stage(found, [SurfaceMaterial((0.5, 0.5, 0.5))]))


def ray(camera: Camera, column: float, row: float) -> np.ndarray:
    """Return the unit direction of the ray through a point of the picture."""
    way = (
        np.array(camera.forward) * camera.focal
        + (column - camera.width / 2) * np.array(camera.right)
        + (camera.height / 2 - row) * np.array(camera.up)
    )
    return way / np.linalg.norm(way)


def hit_without_bevels(packed: PackedSolids, i: int, place: np.ndarray, way: np.ndarray) -> float:
    """Return the distance at which a ray enters a solid. Boxes and cylinders have no bevels; their ball cuts them."""
    row = packed.solids[i]
    kind, scale = int(row[KIND]), row[SCALE]
    if kind not in (shapes.BOX, shapes.CYLINDER):
        return float(hit_solid(*packed, i, *place, *way, shapes.FAR)[0])
    if not passes(packed.solids, i, *place, *way, shapes.FAR):
        return shapes.FAR
    turn = row[TURN : TURN + 9].reshape(3, 3)
    start, along = turn.T @ (place - row[:3]), turn.T @ way
    a, b, c = row[PAR : PAR + 3] * scale

    def within(point: np.ndarray) -> bool:
        if kind == shapes.BOX:
            return bool((np.abs(point) <= np.array([a, b, c]) + 1e-9).all())
        return math.hypot(point[0], point[1]) <= a + 1e-9 and abs(point[2]) <= b + 1e-9

    ends = []
    for axis, half in ((0, a), (1, b), (2, c)) if kind == shapes.BOX else ((2, b),):
        ends += [(side * half - start[axis]) / along[axis] for side in (-1.0, 1.0)]
    if kind == shapes.CYLINDER:
        flat = along[0] ** 2 + along[1] ** 2
        middle = start[0] * along[0] + start[1] * along[1]
        under = middle**2 - flat * (start[0] ** 2 + start[1] ** 2 - a**2)
        ends += [(side * math.sqrt(under) - middle) / flat for side in (-1.0, 1.0)] if under >= 0 else []
    found = sorted(end for end in ends if within(start + end * along))
    return found[0] if found and found[0] > shapes.NEAR else shapes.FAR  # a ray that starts inside hits nothing


def cast_all_rays(packed: PackedSolids, camera: Camera, *, sharp: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the solid at the centre of each pixel (-1 if none) and its distance. The ground also hides solids."""
    who, depth = np.full((camera.height, camera.width), -1), np.full((camera.height, camera.width), shapes.FAR)
    place = np.array(camera.place)
    for row in range(camera.height):
        for column in range(camera.width):
            way = ray(camera, column + 0.5, row + 0.5)
            if way[2] < -1e-9 and place[2] > 0.0:
                depth[row, column] = -place[2] / way[2]
            for i in range(len(packed.solids)):
                if sharp:
                    t = hit_without_bevels(packed, i, place, way)
                else:
                    t = float(hit_solid(*packed, i, *place, *way, shapes.FAR)[0])
                if t < depth[row, column]:
                    depth[row, column], who[row, column] = t, i
    return who, depth


def ground(camera: Camera) -> np.ndarray:
    depth = np.empty((camera.height, camera.width))
    ground_depth(pack_camera(camera), 0.0, depth)
    return depth


@settings(max_examples=EXAMPLES)
@given(solids(), cameras())
def test_first_hits_equal_those_of_testing_all_rays_with_all_solids(found: list[Solid], camera: Camera) -> None:
    packed, depth = pack(found), ground(camera)
    who = np.full((HEIGHT, WIDTH), -1, dtype=np.int32)
    first_hits(*packed, pack_camera(camera), depth, who)
    expected, far = cast_all_rays(packed, camera, sharp=False)
    assert (who != expected).sum() <= 1  # a ray that touches the edge of a solid may miss it because of rounding
    same = who == expected
    assert np.allclose(depth[same], far[same], rtol=1e-6, atol=1e-6)


@settings(max_examples=EXAMPLES)
@given(solids(), cameras())
def test_object_ids_equal_those_of_testing_all_rays_with_all_solids(found: list[Solid], camera: Camera) -> None:
    packed = pack(found)
    expected, _ = cast_all_rays(packed, camera, sharp=True)
    assert (daylight.object_ids(packed, camera) != expected + 1).sum() <= 1


@settings(max_examples=EXAMPLES)
@given(solids(), cameras())
def test_a_rectangle_contains_every_pixel_that_shows_the_solid(found: list[Solid], camera: Camera) -> None:
    for solid in found:
        alone, frame = pack([solid]), pack_camera(camera)
        top, bottom, left, right = rectangle(alone.solids, alone.nodes, 0, frame, WIDTH, HEIGHT)
        assert top >= bottom or 0 <= top < bottom <= HEIGHT
        for sharp in (True, False):
            shown, _ = cast_all_rays(alone, camera, sharp=sharp)
            shown_rows, shown_columns = np.nonzero(shown == 0)
            if len(shown_rows):
                assert top <= shown_rows.min()
                assert shown_rows.max() < bottom
                assert left <= shown_columns.min()
                assert shown_columns.max() < right


@pytest.mark.parametrize("kind", sorted(PAR_OF))
def test_a_rectangle_is_not_much_larger_than_the_solid(kind: int) -> None:
    camera = Camera((0.0, -10.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 150.0, 120, 80)
    mesh = tetrahedron() if kind == shapes.MESH else None
    packed = pack([Solid(kind, (1.0, 0.0, 1.5), 1.0, 0, 0, par=PAR_OF[kind], mesh=mesh)])
    top, bottom, left, right = rectangle(packed.solids, packed.nodes, 0, pack_camera(camera), 120, 80)
    shown_rows, shown_columns = np.nonzero(daylight.object_ids(packed, camera) == 1)
    assert max(shown_rows.min() - top, bottom - 1 - shown_rows.max()) <= 5
    assert max(shown_columns.min() - left, right - 1 - shown_columns.max()) <= 5


def test_a_solid_behind_the_camera_has_no_rectangle() -> None:
    camera = Camera((0.0, -10.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 150.0, 120, 80)
    for kind, par in PAR_OF.items():
        mesh = tetrahedron() if kind == shapes.MESH else None
        packed = pack([Solid(kind, (0.0, -14.0, 1.0), 1.0, 0, 0, par=par, mesh=mesh)])
        top, bottom, left, right = rectangle(packed.solids, packed.nodes, 0, pack_camera(camera), 120, 80)
        assert top >= bottom or left >= right


# Edges


def slow_edges(who: np.ndarray, depth: np.ndarray, camera: Camera) -> set[tuple[int, int]]:
    """Return the pixels at edges, found pixel by pixel."""
    height, width = who.shape
    inverse = np.empty((height, width))
    for row in range(height):
        for column in range(width):
            along = float(ray(camera, column + 0.5, row + 0.5) @ np.array(camera.forward))
            inverse[row, column] = 1.0 / (depth[row, column] * along)
    found = set()
    for row in range(height):
        for column in range(width):
            own = who[row, column]
            here = [(row + a, column + b) for a, b in ((-1, 0), (1, 0), (0, -1), (0, 1))]
            inside = [(a, b) for a, b in here if 0 <= a < height and 0 <= b < width]
            if any(who[place] != own for place in inside):
                found.add((row, column))
                continue
            above, below = (depth[min(max(row + step, 0), height - 1), column] == shapes.FAR for step in (-1, 1))
            if own < 0 and above != below:
                found.add((row, column))
            if own >= 0 and len(inside) == 4:
                bends = [
                    abs(inverse[one] + inverse[two] - 2 * inverse[row, column]) for one, two in (inside[:2], inside[2:])
                ]
                if max(bends) * camera.focal > pixel_hits.BEND * inverse[row, column]:
                    found.add((row, column))
    return found


@settings(max_examples=EXAMPLES)
@given(solids(), cameras())
def test_edges_equal_those_found_pixel_by_pixel(found: list[Solid], camera: Camera) -> None:
    who, depth = cast_all_rays(pack(found), camera, sharp=True)
    edges, numbers = pixel_hits.find_edges(who.astype(np.int32), depth, pack_camera(camera))
    came = {(int(row), int(column)) for row, column in edges}
    assert len(came) == len(edges)
    assert len(came ^ slow_edges(who, depth, camera)) <= 1  # a bend may be at the threshold
    for place in np.ndindex(who.shape):
        assert (numbers[place] >= 0) == (place in came)
        assert numbers[place] < 0 or tuple(edges[numbers[place]]) == place


@settings(max_examples=EXAMPLES)
@given(some.integers(0, 2**32 - 1), some.integers(1, 4))
def test_every_pixel_whose_neighbour_shows_another_solid_is_at_an_edge(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    who = rng.integers(-1, count, (HEIGHT, WIDTH)).astype(np.int32)
    who[: HEIGHT // 2] = who[0, 0]
    camera = Camera((0.0, 0.0, 5.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 30.0, WIDTH, HEIGHT)
    edges, _ = pixel_hits.find_edges(who, np.full((HEIGHT, WIDTH), 10.0), pack_camera(camera))
    came = {(int(row), int(column)) for row, column in edges}
    for row, column in np.ndindex(who.shape):
        for a, b in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= a < HEIGHT and 0 <= b < WIDTH and who[a, b] != who[row, column]:
                assert (row, column) in came


def level(*, height: float = 2.0) -> Camera:
    """Return a camera with a horizontal direction, so that the horizon is in the middle."""
    return Camera((0.0, 0.0, height), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 30.0, WIDTH, HEIGHT)


def test_the_horizon_is_an_edge_and_the_ground_has_no_edges() -> None:
    camera = level()
    who = np.full((HEIGHT, WIDTH), -1, np.int32)
    edges, _ = pixel_hits.find_edges(who, ground(camera), pack_camera(camera))
    assert {int(row) for row, _ in edges} == {HEIGHT // 2 - 1, HEIGHT // 2}
    assert len(edges) == 2 * WIDTH


def test_a_flat_wall_has_no_edges_inside_but_a_fold_is_an_edge() -> None:
    """A box that shows two of its sides has a fold between them."""
    camera = level()
    for degrees, folded in ((0.0, False), (45.0, True)):
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        turn = ((cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0))
        packed = pack([Solid(shapes.BOX, (0.0, 20.0, 2.0), 1.0, 0, 0, par=(9.0, 9.0, 9.0, 0.01), turn=turn)])
        who, depth = cast_all_rays(packed, camera, sharp=True)
        assert (who == 0).any()
        edges, _ = pixel_hits.find_edges(who.astype(np.int32), depth, pack_camera(camera))
        inside = [place for place in map(tuple, edges) if place[0] == HEIGHT // 2 and 8 <= place[1] < 16]
        assert bool(inside) == folded


# Pictures


def light_from(sun_from: Vector) -> daylight_scene.Daylight:
    return daylight_scene.Daylight(
        sun_from=sun_from,
        sun=(0.8, 0.8, 0.7),
        zenith=(0.3, 0.4, 0.7),
        horizon=(0.7, 0.8, 0.9),
        bounce=(0.2, 0.2, 0.2),
        haze=(0.7, 0.8, 0.9),
    )


def picture(
    found: list[Solid], camera: Camera, *, samples: int = 4, light: daylight_scene.Daylight | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return daylight.render(
        pack(found),
        daylight_scene.pack_surfaces([daylight_scene.Surface((0.5, 0.3, 0.2))]),
        daylight_scene.pack_ground(daylight_scene.Ground((0.3, 0.4, 0.2))),
        light=light or light_from((0.0, -0.6, 0.8)),
        camera=camera,
        reach=((0.0, 5.0, 1.0), 12.0),
        samples=samples,
    )


BALL = Solid(shapes.SPHERE, (0.0, 8.0, 1.5), 1.5, 0, 0)


@settings(max_examples=EXAMPLES)
@given(solids(), cameras())
def test_the_ids_of_a_picture_are_its_object_ids(found: list[Solid], camera: Camera) -> None:
    """This holds although `render` sorts the solids by distance."""
    light, depth, ids = picture(found, camera, samples=1)
    assert light.shape == (HEIGHT, WIDTH, 3)
    assert (light.dtype, depth.shape, ids.dtype) == (np.float32, (HEIGHT, WIDTH), np.uint16)
    assert np.isfinite(light).all()
    assert (light >= 0).all()
    assert (ids != daylight.object_ids(pack(found), camera)).sum() <= 1


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_shadow_is_darker_and_lies_opposite_to_the_sun(side: float) -> None:
    """The other side of the ball must have almost no shadow."""
    camera = Camera((0.0, 0.0, 8.0), (1.0, 0.0, 0.0), (0.0, 0.7071, 0.7071), (0.0, 0.7071, -0.7071), 60.0, 96, 64)
    light, nowhere = light_from((0.8 * side, 0.0, 0.6)), Solid(shapes.SPHERE, (0.0, -60.0, 1.5), 1.5, 0, 0)
    with_ball, _, ids = picture([BALL], camera, light=light)
    without, _, _ = picture([nowhere], camera, light=light)
    darker = (ids == 0) & (with_ball.sum(axis=2) < 0.8 * without.sum(axis=2))
    shadow, ball = np.nonzero(darker)[1], np.nonzero(ids == 1)[1]
    assert len(shadow) > 100
    assert (shadow.mean() - ball.mean()) * side < -5
    other_side = (ids == 0) & ((np.arange(96) - ball.mean()) * side > 0)
    assert other_side.sum() > 1_000
    assert darker[other_side].mean() < 0.02


def test_samples_are_rounded_up_to_a_square_and_change_only_edges() -> None:
    camera = level()
    pictures = {samples: picture([BALL], camera, samples=samples)[0] for samples in (1, 3, 4, 64, 100)}
    assert np.array_equal(pictures[3], pictures[4])
    assert np.array_equal(pictures[64], pictures[100])
    who, depth = cast_all_rays(pack([BALL]), camera, sharp=True)
    _, numbers = pixel_hits.find_edges(who.astype(np.int32), depth, pack_camera(camera))
    assert np.array_equal(pictures[1][numbers < 0], pictures[64][numbers < 0])
    assert not np.array_equal(pictures[1][numbers >= 0], pictures[64][numbers >= 0])


def test_haze_reduces_contrast_with_distance() -> None:
    camera, light = level(), {}
    for density in (0.0, 0.1):
        haze = daylight_scene.Daylight(
            sun_from=(0.0, -0.6, 0.8),
            sun=(0.0, 0.0, 0.0),
            zenith=(0.5, 0.5, 0.5),
            horizon=(0.5, 0.5, 0.5),
            bounce=(0.5, 0.5, 0.5),
            haze=(0.9, 0.9, 0.9),
            density=density,
        )
        for away in (5.0, 15.0):
            shown, _, ids = picture([Solid(shapes.SPHERE, (0.0, away, 2.0), 1.5, 0, 0)], camera, light=haze)
            light[density, away] = shown[ids == 1].mean()
    assert light[0.1, 15.0] > light[0.1, 5.0] > light[0.0, 5.0]
    assert light[0.0, 15.0] == pytest.approx(light[0.0, 5.0], rel=0.15)
    for away in (5.0, 15.0):
        kept = (0.9 - light[0.1, away]) / (0.9 - light[0.0, away])
        assert kept == pytest.approx(math.exp(-0.1 * (away - 1.2)), rel=0.06)
