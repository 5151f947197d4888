"""OBJ text becomes a mesh of unit size, or causes an error that names the line."""

import math

import numpy as np
import pytest

from generation.engine.errors import BadMesh
from generation.engine.render.mesh import MAX_FACES, parse_mesh

SQUARE = "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\n"


def sphere_obj(rings: int = 24, sides: int = 48) -> str:
    """Return a sphere with radius 3 and centre (5, 5, 5) as OBJ text."""
    lines = []
    for ring in range(rings + 1):
        for side in range(sides):
            a, b = math.pi * ring / rings, 2 * math.pi * side / sides
            x, y, z = math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)
            lines.append(f"v {5 + 3 * x:.9f} {5 + 3 * y:.9f} {5 + 3 * z:.9f}")
    for ring in range(rings):
        for side in range(sides):
            a, b = ring * sides + side + 1, ring * sides + (side + 1) % sides + 1
            lines.append(f"f {a} {b} {b + sides} {a + sides}")
    return "\n".join(lines)


def test_polygons_are_split_into_triangles():
    mesh = parse_mesh(SQUARE + "f 1 2 3 4\n", up="z")
    assert mesh.triangles.shape == (2, 9)
    assert np.allclose(np.abs(mesh.normals.reshape(-1, 3)[:, 2]), 1)


def test_negative_indices_count_from_the_end_and_textures_and_normals_are_ignored():
    plain = parse_mesh(SQUARE + "f 1 2 3\n")
    fancy = parse_mesh("# x\no thing\n" + SQUARE + "vt 0 0\nvn 0 0 1\nusemtl red\ns 1\nf -4/1/1 2//1 -2/1 # end\n")
    assert np.array_equal(plain.triangles, fancy.triangles)


def test_a_mesh_is_moved_and_scaled_to_fit_into_the_unit_cylinder():
    points = parse_mesh(sphere_obj()).triangles.reshape(-1, 3)
    assert points[:, 2].min() == pytest.approx(-1)
    assert points[:, 2].max() == pytest.approx(1)
    assert np.hypot(points[:, 0], points[:, 1]).max() == pytest.approx(1, abs=0.01)


def test_a_flat_mesh_lies_on_the_floor_of_the_unit_cylinder():
    points = parse_mesh("v 0 0 0\nv 9 0 0\nv 0 9 1\nf 1 2 3\n", up="z").triangles.reshape(-1, 3)
    assert points[:, 2].min() == pytest.approx(-1)
    assert np.hypot(points[:, 0], points[:, 1]).max() == pytest.approx(1)


def test_the_y_axis_points_up_by_default():
    tower = "v 0 0 0\nv 1 0 0\nv 0 10 0\nf 1 2 3\n"
    assert parse_mesh(tower).triangles.reshape(-1, 3)[:, 2].max() == pytest.approx(1)
    assert parse_mesh(tower, up="z").triangles.reshape(-1, 3)[:, 2].max() == pytest.approx(-1)


def test_corners_are_smooth_on_a_sphere_and_sharp_on_a_box():
    ball = parse_mesh(sphere_obj(), up="z")
    corners, normals = ball.triangles.reshape(-1, 3), ball.normals.reshape(-1, 3)
    assert np.abs((corners * normals).sum(axis=1)).min() > 0.99
    folded = parse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", up="z")
    assert np.allclose(np.sort(np.abs(folded.normals.reshape(-1, 3)), axis=1), [0, 0, 1])


def test_every_triangle_is_in_exactly_one_leaf_and_in_its_boxes():
    mesh = parse_mesh(sphere_obj())
    seen = np.zeros(len(mesh.triangles), dtype=int)
    for box, (left, right) in zip(mesh.bounds, mesh.links.tolist(), strict=True):
        if right < 0:
            seen[left : left - right] += 1
            corners = mesh.triangles[left : left - right].reshape(-1, 3)
            assert (corners >= box[:3]).all()
            assert (corners <= box[3:]).all()
        else:
            for child in (left, right):
                assert (mesh.bounds[child, :3] >= box[:3]).all()
                assert (mesh.bounds[child, 3:] <= box[3:]).all()
    assert (seen == 1).all()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("v 0 0\nf 1 1 1\n", 1, "three numbers"),
        ("v 0 0 x\n", 1, "three numbers"),
        (SQUARE + "v 0 nan 0\n", 5, "finite"),
        (SQUARE + "v 0 inf 0\n", 5, "finite"),
        (SQUARE + "v 0 1e300 0\n", 5, "1e12"),
        (SQUARE + "f 1 2\n", 5, "three or more"),
        (SQUARE + "f 1 2 5\n", 5, "from 1 to 4"),
        (SQUARE + "f 1 2 0\n", 5, "from 1 to 4"),
        (SQUARE + "f 1 2 -5\n", 5, "from 1 to 4"),
        (SQUARE + "\n# text\nf 1 two 3\n", 7, "7/1/3"),
    ],
)
def test_a_broken_line_is_refused_and_its_number_is_named(text, line, message):
    with pytest.raises(BadMesh, match=message) as caught:
        parse_mesh(text, name="cup.obj")
    assert caught.value.where == f"cup.obj:{line}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SQUARE, "at least one face"),
        ("v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", "extent"),
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "area"),
        ("", "at least one face"),
    ],
)
def test_a_mesh_without_visible_faces_is_refused(text, message):
    with pytest.raises(BadMesh, match=message) as caught:
        parse_mesh(text, name="cup.obj")
    assert caught.value.where == "cup.obj"


def test_more_than_five_thousand_triangles_are_refused():
    parse_mesh(SQUARE + "f 1 2 3\n" * MAX_FACES)
    with pytest.raises(BadMesh, match="5000") as caught:
        parse_mesh(SQUARE + "f 1 2 3 4\n" * (MAX_FACES // 2 + 1), name="cup.obj")
    assert caught.value.where == f"cup.obj:{4 + MAX_FACES // 2 + 1}"
