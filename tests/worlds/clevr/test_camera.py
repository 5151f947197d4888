"""The camera is that of CLEVR: it reproduces the pixel coordinates of the release."""

import json
import math

import pytest

from generation.engine.errors import BadScene
from generation.engine.worlds.clevr.camera import (
    BACK,
    CAMERA,
    FILL,
    KEY,
    View,
    directions,
    pixel_coords,
    project,
    sample_view,
    solve_view,
)
from tests.shared_data import shared_path


class Constant:
    """A stream that always gives the same number."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.asked = 0

    def random(self) -> float:
        self.asked += 1
        return self.value


def real_scenes() -> list[dict]:
    scenes = json.loads(shared_path("data", "clevr-v1", "CLEVR_train_scenes.json").read_text())["scenes"]
    return scenes + json.loads(shared_path("data", "clevr-v1", "CLEVR_val_000013.json").read_text())["scenes"]


def solve_scene(scene: dict) -> View:
    return solve_view([o["3d_coords"] for o in scene["objects"]], [o["pixel_coords"] for o in scene["objects"]])


def test_the_pose_of_each_published_scene_projects_within_one_pixel():
    scenes = real_scenes()
    assert len(scenes) >= 301
    for scene in scenes:
        view = solve_scene(scene)
        assert all(abs(a - b) < 0.501 for a, b in zip(view.camera, CAMERA, strict=True))
        for thing in scene["objects"]:
            px, py, depth = project(view, thing["3d_coords"])
            assert abs(px - thing["pixel_coords"][0]) < 0.55
            assert abs(py - thing["pixel_coords"][1]) < 0.55
            assert abs(depth - thing["pixel_coords"][2]) < 1e-3


def test_published_pixels_are_projections_rounded_to_integers():
    same = total = 0
    for scene in real_scenes()[:100]:
        view = solve_scene(scene)
        for thing in scene["objects"]:
            total += 2
            mine = pixel_coords(view, thing["3d_coords"])
            same += sum(a == b for a, b in zip(mine[:2], thing["pixel_coords"][:2], strict=True))
    assert same / total > 0.99


def test_published_directions_are_those_of_the_camera_before_jitter():
    mine = directions(View())
    for scene in real_scenes():
        for name, theirs in scene["directions"].items():
            assert all(abs(a - b) < 1e-5 for a, b in zip(mine[name], theirs, strict=True))


def test_the_origin_is_in_the_middle_of_the_picture():
    px, py, depth = project(View(width=960, height=640), (0.0, 0.0, 0.0))
    assert (round(px, 9), round(py, 9)) == (480.0, 320.0)
    assert depth == pytest.approx(math.dist(CAMERA, (0, 0, 0)))


def test_pixels_scale_with_the_size_of_the_picture():
    small = project(View(), (1.0, 2.0, 0.7))
    large = project(View(width=960, height=640), (1.0, 2.0, 0.7))
    assert large[0] == pytest.approx(2 * small[0])
    assert large[1] == pytest.approx(2 * small[1])
    assert large[2] == small[2]


def test_directions_point_to_the_right_and_upwards_in_the_picture():
    view = View()
    ways = directions(view)
    assert project(view, ways["right"])[0] > 250
    assert project(view, ways["behind"])[1] < 155
    assert project(view, ways["above"])[1] < 155
    assert project(view, ways["right"])[1] == pytest.approx(160)


def test_directions_have_unit_length_and_are_orthogonal():
    for vector in directions(View(camera=(7.9, -6.1, 5.0))).values():
        assert math.hypot(*vector) == pytest.approx(1.0, abs=2e-6)
    ways = directions(View(camera=(7.9, -6.1, 5.0)))
    assert sum(a * b for a, b in zip(ways["left"], ways["front"], strict=True)) == pytest.approx(0, abs=2e-6)


def test_sampling_moves_each_axis_by_up_to_the_jitter():
    low, high = Constant(0.0), Constant(1.0 - 2**-53)
    view = sample_view(low)
    assert low.asked == 12
    assert view.camera == tuple(round(v - 0.5, 6) for v in CAMERA)
    assert view.key == tuple(round(v - 1, 6) for v in KEY)
    far = sample_view(high, camera_jitter=0.0, fill_jitter=2.0)
    assert far.camera == CAMERA
    assert far.fill == tuple(round(v + 2, 6) for v in FILL)
    assert far.back == tuple(round(v + 1, 6) for v in BACK)


def test_a_view_is_unchanged_after_json():
    view = sample_view(Constant(0.3), width=320, height=240)
    assert View.from_json(json.loads(json.dumps(view.to_json()))) == view


@pytest.mark.parametrize("change", [{"camera": [1, 2]}, {"key": [1, 2, float("nan")]}, {"focal": 0}, {"width": None}])
def test_a_broken_view_is_refused(change):
    with pytest.raises(BadScene, match="view"):
        View.from_json(View().to_json() | change)


def test_a_camera_straight_above_is_refused():
    with pytest.raises(BadScene, match=r"view\.camera"):
        project(View(camera=(0.0, 0.0, 9.0)), (1.0, 0.0, 0.0))
