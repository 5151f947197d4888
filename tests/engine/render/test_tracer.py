"""Pictures of stages: the object at each pixel, shadows, mirrors, and equal pictures for equal seeds."""

import math
from dataclasses import replace

import numpy as np
import pytest

from generation.engine.errors import BadScene
from generation.engine.render import shapes
from generation.engine.render.mesh import parse_mesh
from generation.engine.render.pixel_random import chance
from generation.engine.render.render_scene import Camera, Light, Solid, Stage, SurfaceMaterial, Surroundings
from generation.engine.render.tracer import object_ids, render
from tests.engine.render.test_mesh import sphere_obj

WHITE, RED = SurfaceMaterial((0.8, 0.8, 0.8)), SurfaceMaterial((0.8, 0.05, 0.05))
MIRROR = SurfaceMaterial((0.9, 0.9, 0.9), metal=True, roughness=0.02)
BALL = Solid(shapes.SPHERE, (0.0, 0.0, 1.0), 1.0, 0, 0)
TURN = ((0.8, -0.6, 0.0), (0.6, 0.8, 0.0), (0.0, 0.0, 1.0))
LAMP = Light((-4.0, 3.0, 8.0), (40.0, 40.0, 40.0))


def camera(*, width: int = 120, height: int = 80, far: float = 10.0) -> Camera:
    """Return a camera at y = -far and z = 4 with a horizontal direction along y."""
    return Camera((0.0, -far, 4.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 100.0, width, height)


def above(*, width: int = 120, height: int = 120) -> Camera:
    """Return a camera 10 above the origin that points straight down."""
    return Camera((0.0, 0.0, 10.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0), 100.0, width, height)


def stage(*solids: Solid, materials=(WHITE, RED, MIRROR), lights=(LAMP,)) -> Stage:
    return Stage(solids=solids, materials=materials, lights=lights)


def crowd() -> Stage:
    """Return a stage with one solid of each kind."""
    mesh = parse_mesh(sphere_obj())
    return stage(
        Solid(shapes.SPHERE, (-4.0, 4.0, 1.0), 1.0, 0, 0),
        Solid(shapes.BOX, (-1.5, 2.0, 1.0), 1.0, 1, 1, par=(1.0, 1.0, 1.0, 0.15), turn=TURN),
        Solid(shapes.CYLINDER, (1.5, 2.5, 1.0), 1.0, 2, 2, par=(1.0, 1.0, 0.04)),
        Solid(shapes.CONE, (4.0, 3.0, 1.0), 1.0, 3, 1, par=(1.0, 0.0, 1.0)),
        Solid(shapes.TORUS, (0.0, -2.0, 0.4), 1.0, 4, 2, par=(0.6, 0.4)),
        Solid(shapes.MESH, (3.0, -1.0, 0.7), 0.7, 5, 0, mesh=mesh),
    )


def test_a_ball_covers_the_pixels_whose_rays_hit_it():
    ids = object_ids(stage(BALL), camera())
    want = np.zeros_like(ids)
    for row in range(80):
        for column in range(120):
            ray = np.array([(column + 0.5 - 60) / 100, 1.0, (40 - row - 0.5) / 100])
            to = np.array([0.0, 10.0, -3.0])
            off = to - ray * (to @ ray) / (ray @ ray)
            want[row, column] = off @ off <= 1
    assert want.sum() > 300
    assert np.array_equal(ids, want)


def test_ids_without_a_picture_equal_the_ids_of_the_picture():
    for view in (camera(width=240, height=160), above()):
        rgb, ids = render(crowd(), view)
        assert np.array_equal(ids, object_ids(crowd(), view))
        assert rgb.shape == (*ids.shape, 3)
        assert (rgb.dtype, ids.dtype) == (np.uint8, np.uint16)
        assert set(np.unique(ids)) == set(range(7))


def test_the_rectangles_around_solids_contain_all_of_their_pixels():
    near = Camera((1.0, -6.0, 2.5), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 100.0, 160, 100)
    everything = crowd()
    for view in (camera(width=160, height=100), near):
        ids = object_ids(everything, view)
        for number, solid in enumerate(everything.solids):
            alone = object_ids(stage(solid), view) == number + 1
            assert not (ids[~alone] == number + 1).any()
            wide = Solid(shapes.SPHERE, (0.0, 0.0, -1e4), 1e4 - 1e-3, 9, 0)
            assert np.array_equal(object_ids(stage(solid, wide), view) == number + 1, alone)


def test_the_order_of_solids_does_not_matter():
    there = crowd()
    back = replace(there, solids=tuple(reversed(there.solids)))
    assert np.array_equal(object_ids(there, camera()), object_ids(back, camera()))


def test_many_solids_can_be_one_object():
    cart = stage(
        BALL,
        Solid(shapes.BOX, (3.0, 0.0, 1.0), 1.0, 0, 1, par=(0.5, 0.5, 1.0, 0.1)),
        Solid(shapes.SPHERE, (-3.0, 0.0, 1.0), 0.5, 7, 1),
    )
    ids = object_ids(cart, camera())
    assert set(np.unique(ids)) == {0, 1, 8}
    assert (ids[:, 80:100] == 1).any()


def test_solids_behind_or_beside_the_view_are_not_visible():
    gone = stage(Solid(shapes.SPHERE, (0.0, -20.0, 4.0), 1.0, 0, 0), Solid(shapes.SPHERE, (90.0, 0.0, 1.0), 1.0, 1, 0))
    assert not object_ids(gone, camera()).any()


def test_an_empty_stage_shows_only_ground():
    rgb, ids = render(stage(), camera())
    assert not ids.any()
    assert rgb[-5:].min() > 20


def test_a_camera_inside_a_ball_shows_only_the_ball():
    ids = object_ids(stage(Solid(shapes.SPHERE, (0.0, -10.0, 4.0), 2.0, 0, 0)), camera())
    assert (ids == 1).all()


def test_equal_seeds_give_equal_pictures_and_other_seeds_similar_ones():
    first, _ = render(crowd(), camera())
    again, _ = render(crowd(), camera())
    other, _ = render(crowd(), camera(), seed=1)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert abs(first.astype(float) - other).mean() < 1.0


def test_more_samples_change_little():
    few, _ = render(crowd(), camera(width=240, height=160))
    many, _ = render(crowd(), camera(width=240, height=160), samples=100)
    assert abs(few.astype(float) - many).mean() < 1.0


def shadow_profile(width: float) -> np.ndarray:
    """Return the brightness of the ground in the shadow of a wall, from distance 0.3 outwards in steps of 0.1."""
    wall = Solid(shapes.BOX, (0.0, 0.0, 0.0), 1.0, 0, 0, par=(0.1, 8.0, 1.0, 0.001))
    lamp = Light((-4.0, 0.0, 5.0), (60.0, 60.0, 60.0), width=width, spread=False)
    rgb, ids = render(stage(wall, lights=(lamp,)), above())
    assert (ids[60, 63:] == 0).all()
    return rgb[58:62, 63:].mean(axis=(0, 2))


def penumbra_width(profile: np.ndarray) -> int:
    """Return the number of pixels between full shadow and full light."""
    return int(profile.argmax()) - int(np.flatnonzero(profile < profile[0] + 3).max())


def test_shadows_are_dark_behind_the_wall_and_soft_at_their_edges():
    sharp, soft = shadow_profile(0.02), shadow_profile(3.0)
    assert sharp[0] < 0.6 * sharp[20]
    assert soft[0] == pytest.approx(sharp[0], abs=5)
    assert penumbra_width(sharp) <= 6
    assert penumbra_width(soft) >= penumbra_width(sharp) + 5


def test_a_shadow_ends_where_the_ray_over_the_edge_reaches_the_ground():
    edge = 3 + int(np.diff(shadow_profile(0.02)).argmax())
    assert edge == pytest.approx(11, abs=2)  # the ray from (-4, 5) over (0.1, 1) reaches the ground at x = 1.125


def test_the_far_side_of_a_lit_ball_is_darker():
    rgb, ids = render(stage(BALL, lights=(Light((-8.0, -2.0, 4.0), (60.0, 60.0, 60.0)),)), camera())
    rows, columns = np.nonzero(ids == 1)
    middle = (columns.min() + columns.max()) / 2
    left = rgb[rows[columns < middle - 4], columns[columns < middle - 4]].mean()
    right = rgb[rows[columns > middle + 4], columns[columns > middle + 4]].mean()
    assert left > right + 30


def test_a_mirror_reflects_the_solid_next_to_it():
    ball = replace(BALL, material=2)
    neighbour = Solid(shapes.BOX, (2.2, 0.0, 1.0), 1.0, 1, 1, par=(1.0, 1.0, 1.0, 0.1))
    alone, ids = render(stage(ball), camera())
    beside, _ = render(stage(ball, neighbour), camera())
    red = [rgb[ids == 1, 0].astype(int) - rgb[ids == 1, 1] for rgb in (alone, beside)]
    assert (red[1] - red[0] > 40).sum() > 20


def test_a_matte_ball_has_the_colour_of_its_material():
    rgb, ids = render(stage(replace(BALL, material=1)), camera())
    red, green, blue = rgb[ids == 1].mean(axis=0)
    assert red > 2 * green
    assert green == pytest.approx(blue, abs=2)


def test_a_metal_ball_has_a_highlight_at_the_reflection_of_the_lamp():
    lamp = Light((0.0, -10.0, 12.0), (60.0, 60.0, 60.0), width=0.3)
    rgb, ids = render(stage(replace(BALL, material=2), lights=(lamp,)), camera(width=240, height=160))
    eye, spot = np.array([0.0, -10.0, 4.0]), np.array([0.0, 0.0, 1.0])
    half = (eye - spot) / np.linalg.norm(eye - spot) + (lamp.place - spot) / np.linalg.norm(lamp.place - spot)
    point = spot + half / np.linalg.norm(half)
    for _ in range(20):
        half = (eye - point) / np.linalg.norm(eye - point) + (lamp.place - point) / np.linalg.norm(lamp.place - point)
        point = spot + half / np.linalg.norm(half)
    row = 80 - 100 * (point[2] - 4.0) / (point[1] + 10.0)
    bright = np.where(ids == 1, rgb.min(axis=2), 0)
    assert bright.max() > 240
    assert np.argwhere(bright > 240).mean(axis=0) == pytest.approx([row - 0.5, 119.5], abs=1.5)


def test_a_mesh_of_a_ball_looks_like_a_ball():
    mesh = parse_mesh(sphere_obj(32, 64))
    for material, allowed in ((0, 1.5), (2, 4.0)):
        facets = Solid(shapes.MESH, (0, 0, 1.0), 1.0, 0, material, mesh=mesh)
        smooth, one = render(stage(replace(BALL, material=material)), camera(width=240, height=160))
        rough, two = render(stage(facets), camera(width=240, height=160))
        assert (one == two).mean() > 0.998
        same = (one == 1) & (two == 1)
        assert abs(smooth[same].astype(float) - rough[same]).mean() < allowed


def test_two_different_meshes_are_not_confused():
    ball = parse_mesh(sphere_obj())
    roof = parse_mesh("v -1 -1 0\nv 1 -1 0\nv 0 1 0\nv 0 0 1\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", up="z")
    both = stage(
        Solid(shapes.MESH, (-2, 0, 1), 1.0, 0, 0, mesh=ball),
        Solid(shapes.MESH, (2, 0, 1), 1.0, 1, 0, mesh=roof),
        Solid(shapes.MESH, (0, 3, 1), 1.0, 2, 0, mesh=ball),
    )
    ids = object_ids(both, camera())
    for number, solid in enumerate(both.solids):
        assert np.array_equal(object_ids(stage(solid), camera()) == number + 1, ids == number + 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": 0.0}, "above 0"),
        ({"centre": (math.nan, 0, 0)}, "finite"),
        ({"material": 3}, "from 0 to 2"),
        ({"kind": 9}, "known kind"),
        ({"kind": shapes.MESH}, "mesh"),
        ({"object": -1}, "65534"),
    ],
)
def test_an_invalid_solid_is_refused(change, message):
    with pytest.raises(BadScene, match=message) as caught:
        object_ids(stage(BALL, replace(BALL, **change)), camera())
    assert caught.value.where == "solids[1]"


def test_the_noise_is_uniform_and_depends_on_all_of_its_arguments():
    drawn = np.array([[chance(a, 3, c) for a in range(60)] for c in range(60)])
    counts, _ = np.histogram(drawn, bins=10, range=(0, 1))
    assert counts.min() > 280
    assert abs(np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]) < 0.06
    assert abs(np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]) < 0.06
    assert chance(5, 3, 7) != chance(5, 4, 7)


def test_the_sky_is_visible_above_the_horizon():
    rgb, _ = render(Stage((), (WHITE,), (LAMP,), Surroundings(zenith=(0, 0, 0.5), horizon=(0, 0, 0.5))), camera())
    assert rgb[10, 60, 2] > rgb[10, 60, 0] + 100
    assert rgb[-1, 60, 2] < rgb[-1, 60, 0] + 80
