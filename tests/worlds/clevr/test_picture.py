"""CLEVR's pictures: every solid, the look of the release, and an orange cone."""

import json
import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from PIL import Image, ImageFilter

from generation.engine.errors import BadScene
from generation.engine.render.mesh import Mesh, parse_mesh
from generation.engine.worlds.clevr.camera import View, project, solve_view
from generation.engine.worlds.clevr.picture import draw, draw_ids, primitives
from generation.engine.worlds.clevr.scene import read_published
from generation.engine.worlds.clevr.vocabulary import Color
from tests.proof import SHARE
from tests.shared_data import shared_path

COLOURS = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
    "orange": (255, 70, 0),
}
GLINTING = ("cube", "large", "metal")
PYRAMID = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nv 0 2 0\nf 1 2 3 4\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n"


@dataclass(frozen=True)
class Finish:
    kind: str
    roughness: float | None = None


@dataclass(frozen=True)
class Size:
    scale: float


@dataclass(frozen=True)
class Shape:
    solid: str
    mesh: str | None = None


@dataclass(frozen=True)
class Words:
    colors: dict[str, Color] = field(
        default_factory=lambda: {name: Color(rgb=rgb, space="linear") for name, rgb in COLOURS.items()}
    )
    materials: dict[str, Finish] = field(default_factory=lambda: {"rubber": Finish("matte"), "metal": Finish("metal")})
    sizes: dict[str, Size] = field(default_factory=lambda: {"large": Size(0.7), "small": Size(0.35)})
    shapes: dict[str, Shape] = field(
        default_factory=lambda: {name: Shape(name) for name in ("cube", "sphere", "cylinder", "cone", "torus")}
    )
    meshes: dict[str, Mesh] = field(default_factory=dict)


@dataclass(frozen=True)
class Thing:
    shape: str = "cube"
    size: str = "large"
    material: str = "rubber"
    color: str = "gray"
    coords: tuple[float, float, float] = (0.0, 0.0, 0.7)
    rotation: float = 0.0


WORDS = Words()


def row_of(**change) -> list[Thing]:
    """Return one large object of each shape, from left to right in front of the default camera."""
    names = list(WORDS.shapes)
    return [
        Thing(shape=name, coords=(-2.6 + 1.3 * k, -2.6 + 1.3 * k, 0.7), rotation=20.0 * k, **change)
        for k, name in enumerate(names)
    ]


@pytest.mark.parametrize("material", ["rubber", "metal"])
def test_every_shape_is_drawn_and_ids_without_a_picture_are_the_same(material):
    things = row_of(material=material)
    rgb, ids = draw(things, View(), WORDS)
    assert rgb.shape == (320, 480, 3)
    assert np.array_equal(ids, draw_ids(things, View(), WORDS))
    for number, thing in enumerate(things):
        rows, columns = np.nonzero(ids == number + 1)
        assert len(rows) > 500
        px, py, _ = project(View(), thing.coords)
        assert abs(columns.mean() - px) < 4
        assert rows.min() - 1 < py < rows.max() + 1 or thing.shape == "torus"


def test_objects_stand_on_the_ground():
    for thing in row_of():
        ids = draw_ids([thing], View(), WORDS)
        x, y, _ = thing.coords
        near = project(View(), (x + 0.7 * 0.7545, y - 0.7 * 0.6563, 0.0))[1]
        under = project(View(), (x, y, 0.0))[1]
        assert under - 2 < np.nonzero(ids)[0].max() < near + 8


def test_sizes_and_rotations_change_the_picture():
    large, small = Thing(), Thing(size="small", coords=(0.0, 0.0, 0.35))
    assert (draw_ids([large], View(), WORDS) > 0).sum() > 3.3 * (draw_ids([small], View(), WORDS) > 0).sum()
    turned = draw_ids([replace(large, rotation=45.0)], View(), WORDS)
    assert not np.array_equal(turned, draw_ids([large], View(), WORDS))
    assert np.array_equal(turned, draw_ids([replace(large, rotation=45.0 + 360.0)], View(), WORDS))
    assert np.array_equal(turned, draw_ids([replace(large, rotation=135.0)], View(), WORDS))


def test_rotations_are_in_degrees():
    solids, _ = primitives([Thing(rotation=30.0)], WORDS)
    assert solids[0].turn[0] == pytest.approx((math.cos(math.pi / 6), -0.5, 0.0))


def test_an_orange_cone_is_orange_and_a_cone():
    cone = Thing(shape="cone", color="orange")
    rgb, ids = draw([cone], View(), WORDS)
    red, green, blue = rgb[ids == 1].mean(axis=0)
    assert red > 1.5 * green > 2 * blue
    wide = [(ids[row] == 1).sum() for row in np.unique(np.nonzero(ids)[0])]
    assert wide[3] < wide[len(wide) // 2] / 3


def test_a_mesh_is_found_by_its_digest():
    words = replace(WORDS, shapes={"pyramid": Shape("mesh", mesh="abc")}, meshes={"abc": parse_mesh(PYRAMID)})
    ids = draw_ids([Thing(shape="pyramid", rotation=10.0)], View(), words)
    rows = np.unique(np.nonzero(ids)[0])
    assert (ids[rows[2]] == 1).sum() < (ids[rows[-8]] == 1).sum() / 3


@pytest.mark.slow
def test_metal_and_rubber_of_one_colour_look_different():
    """A metal object has bright highlights and dark reflections, also if it is small. A rubber object has neither."""
    for color in ("gray", "cyan", "blue", "yellow")[:: 1 if SHARE == 1 else 2]:
        for shape in ("cube", "sphere", "cylinder"):
            spreads = []
            for material in ("rubber", "metal"):
                thing = Thing(shape, "small", material, color, coords=(0.0, 0.0, 0.35), rotation=15.0)
                rgb, ids = draw([thing], View(), WORDS)
                light = rgb[ids == 1].astype(float).mean(axis=1)
                spreads.append(np.percentile(light, 97) - np.percentile(light, 10))
            assert spreads[1] > 1.1 * spreads[0], (color, shape, spreads)


def test_an_unknown_solid_is_refused():
    words = replace(WORDS, shapes={"teapot": Shape("teapot")})
    with pytest.raises(BadScene, match=r"shapes\.teapot"):
        draw_ids([Thing(shape="teapot")], View(), words)


@pytest.fixture(scope="module")
def beside():
    """Return the objects and view of a published scene, its published picture, our picture and our object ids."""
    scene = json.loads(shared_path("data", "clevr-v1", "CLEVR_val_000013.json").read_text())["scenes"][0]
    with Image.open(shared_path("data", "clevr-v1", "images", "CLEVR_val_000013.png")) as image:
        real = np.asarray(image.convert("RGB")).astype(float)
    objects = scene["objects"]
    view = solve_view([o["3d_coords"] for o in objects], [o["pixel_coords"] for o in objects])
    # the lamps of this picture, computed from the directions of their highlights
    view = replace(view, key=(6.069, -2.546, 5.049), fill=(-4.955, -3.584, 3.064), back=(-1.374, 3.059, 5.464))
    things = read_published(scene).objects
    rgb, ids = draw(things, view, WORDS)
    return things, view, real, rgb.astype(float), ids


def test_a_published_scene_looks_like_its_published_picture(beside):
    things, _, real, rgb, ids = beside
    cubes = np.isin(ids, [number + 1 for number, thing in enumerate(things) if thing.shape == "cube"])
    assert np.abs(rgb - real)[cubes].mean() < 6.5
    for number in range(len(things)):
        ours, theirs = rgb[ids == number + 1].mean(axis=0), real[ids == number + 1].mean(axis=0)
        assert np.abs(ours - theirs).max() < 12
    for top in range(0, 320, 64):
        for left in range(0, 480, 80):
            block = np.s_[top : top + 64, left : left + 80]
            ground = ids[block] == 0
            assert abs(rgb[block][ground].mean() - real[block][ground].mean()) < 8
    assert np.abs(rgb - real).mean() < 3


def test_the_background_is_as_bright_as_in_the_published_picture(beside):
    _, _, real, rgb, _ = beside
    assert abs(rgb[:20].mean() - real[:20].mean()) < 4


def test_caps_of_metal_cylinders_have_no_strong_wedges(beside):
    """Around a cap, the brightness varies about as much as in the published picture: by 25 and 28 of 255."""
    things, view, real, rgb, _ = beside
    caps = [thing for thing in things if (thing.shape, thing.material) == ("cylinder", "metal")]
    assert len(caps) == 2
    for thing in caps:
        assert contrast_around(rgb, thing, view) < contrast_around(real, thing, view) + 35


def contrast_around(picture, thing, view) -> float:
    """Return how much the brightness varies along a circle on the cap of a cylinder."""
    x, y, z = thing.coords
    turns = [math.radians(degrees) for degrees in range(0, 360, 5)]
    seen = [project(view, (x + 0.6 * z * math.cos(turn), y + 0.6 * z * math.sin(turn), 2 * z)) for turn in turns]
    low, high = np.percentile([picture[int(row), int(column)].mean() for column, row, _ in seen], [5, 95])
    return float(high - low)


def test_edges_of_metal_cubes_shine_as_in_the_published_picture(beside):
    things, _, real, rgb, ids = beside
    [number] = [n for n, thing in enumerate(things) if (thing.shape, thing.size, thing.material) == GLINTING]
    ours, theirs = (glint_of(picture, ids == number + 1) for picture in (rgb, real))
    assert 0.75 * theirs < ours < 1.25 * theirs


def glint_of(picture, silhouette) -> float:
    """Return how much brighter than the median the pixels of an object are in total, in a blurred picture."""
    soft = Image.fromarray(picture.astype(np.uint8)).filter(ImageFilter.GaussianBlur(1.0))
    light = np.asarray(soft).astype(float).mean(axis=2)[silhouette]
    return float(np.clip(light - np.median(light) - 15, 0, None).sum())
