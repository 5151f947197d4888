"""The camera and the lights of a CLEVR scene, and the projection of points into the picture.

World coordinates: x and y span the ground plane, z points up, in scene units. The camera looks at the origin and never
rolls. Pixel coordinates are continuous: (0, 0) is the upper left corner of the image, so the centre of the first pixel
is (0.5, 0.5). Only plain float arithmetic is used, so that every machine gets the same numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from generation.engine.errors import BadScene

Point = tuple[float, float, float]

CAMERA: Point = (7.48113, -6.50764, 5.34367)
KEY: Point = (6.44671, -2.90517, 4.2584)
FILL: Point = (-4.67112, -4.0136, 3.01122)
BACK: Point = (-1.1685, 2.64602, 5.81574)
FOCAL = 525.0
WIDTH = 480
HEIGHT = 320


class RandomSource(Protocol):
    """A source of random numbers."""

    def random(self) -> float:
        """Return a float in [0, 1)."""
        ...


@dataclass(frozen=True)
class View:
    """The camera and the three lights of one picture.

    Parameters
    ----------
    camera, key, fill, back : (float, float, float)
        Positions in scene units.
    focal : float
        Focal length in pixels of a picture 480 wide; wider pictures scale it.
    width, height : int
        Size of the picture in pixels.
    """

    camera: Point = CAMERA
    key: Point = KEY
    fill: Point = FILL
    back: Point = BACK
    focal: float = FOCAL
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def focal_pixels(self) -> float:
        """The focal length in pixels of this picture."""
        return self.focal * self.width / WIDTH

    def to_json(self) -> dict[str, Any]:
        """Return the view as JSON."""
        places = {name: list(getattr(self, name)) for name in ("camera", "key", "fill", "back")}
        return {**places, "focal": self.focal, "width": self.width, "height": self.height}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "View":
        """Return the view that `to_json` wrote.

        Raises
        ------
        BadScene
            If a key is missing, or a value is not made of finite numbers.
        """
        try:
            places = {name: _point(data[name]) for name in ("camera", "key", "fill", "back")}
            view = cls(**places, focal=float(data["focal"]), width=int(data["width"]), height=int(data["height"]))
        except (KeyError, TypeError, ValueError) as error:
            raise BadScene(
                f"Expected camera, key, fill and back (three finite numbers each), focal, width and "
                f"height; got {data!r}.",
                where="view",
            ) from error
        if not (math.isfinite(view.focal) and view.focal > 0 and view.width > 0 and view.height > 0):
            raise BadScene(
                f"Expected focal, width and height above 0, got {view.focal}, {view.width} and {view.height}.",
                where="view",
            )
        return view


def sample_view(
    stream: RandomSource,
    *,
    camera_jitter: float = 0.5,
    key_jitter: float = 1.0,
    fill_jitter: float = 1.0,
    back_jitter: float = 1.0,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> View:
    """Return a view whose camera and lights are moved at random around CLEVR's own positions.

    Parameters
    ----------
    stream : Stream
        Gives twelve numbers: x, y and z of the camera, the key, the fill and the back light.
    camera_jitter, key_jitter, fill_jitter, back_jitter : float
        The largest movement along each axis, in scene units; movements are uniform.
    width, height : int
        Size of the picture in pixels.

    Returns
    -------
    View
        All positions rounded to 6 decimals.

    References
    ----------
    Johnson et al. 2017, CLEVR, appendix A.
    """
    return View(
        camera=_jitter(stream, CAMERA, jitter=camera_jitter),
        key=_jitter(stream, KEY, jitter=key_jitter),
        fill=_jitter(stream, FILL, jitter=fill_jitter),
        back=_jitter(stream, BACK, jitter=back_jitter),
        width=width,
        height=height,
    )


def axes(view: View) -> tuple[Point, Point, Point]:
    """Return the unit vectors that point to the right of the camera, up and forward.

    Raises
    ------
    BadScene
        If the camera is straight above or below the origin, where left and right are undefined.
    """
    x, y, z = view.camera
    flat = math.sqrt(x * x + y * y)
    if flat < 1e-6:
        raise BadScene(
            f"Expected a camera beside the vertical axis, got {view.camera}. Move it along x or y.", where="view.camera"
        )
    far = math.sqrt(x * x + y * y + z * z)
    forward = (-x / far, -y / far, -z / far)
    right = (-y / flat, x / flat, 0.0)
    up = (-x / flat * (z / far), -y / flat * (z / far), flat / far)
    return right, up, forward


def project(view: View, point: Sequence[float]) -> Point:
    """Return where a point appears in the picture, and its depth: (px, py, depth).

    Parameters
    ----------
    view : View
        The camera.
    point : sequence of 3 floats
        In scene units.

    Returns
    -------
    (float, float, float)
        Continuous pixel coordinates, and the distance along the viewing direction in scene units. `pixel_coords` in the
        release are the same numbers with px and py rounded to the nearest integer.
    """
    right, up, forward = axes(view)
    offset = (point[0] - view.camera[0], point[1] - view.camera[1], point[2] - view.camera[2])
    depth = _along(offset, forward)
    scale = view.focal_pixels / depth
    return view.width / 2 + scale * _along(offset, right), view.height / 2 - scale * _along(offset, up), depth


def pixel_coords(view: View, point: Sequence[float]) -> tuple[int, int, float]:
    """Return `project` in the release's form: px and py rounded to integers, depth to 6 decimals."""
    px, py, depth = project(view, point)
    return round(px), round(py), round(depth, 6)


def directions(view: View) -> dict[str, Point]:
    """Return the unit vectors left, right, behind, front, above and below; the first four lie in the ground plane.

    The release writes the directions of the camera that was not moved, `directions(View())`, in every scene.
    """
    right, _, forward = axes(view)
    flat = math.sqrt(forward[0] * forward[0] + forward[1] * forward[1])
    behind = (round(forward[0] / flat, 6), round(forward[1] / flat, 6), 0.0)
    rightward = (round(right[0], 6), round(right[1], 6), 0.0)
    return {
        "left": (-rightward[0], -rightward[1], 0.0),
        "right": rightward,
        "behind": behind,
        "front": (-behind[0], -behind[1], 0.0),
        "above": (0.0, 0.0, 1.0),
        "below": (0.0, 0.0, -1.0),
    }


def solve_view(
    coords: Sequence[Sequence[float]],
    pixels: Sequence[Sequence[float]],
    *,
    focal: float = FOCAL,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> View:
    """Return the view in which the given points appear at the given pixels; the lights are CLEVR's own.

    Parameters
    ----------
    coords : sequence of (x, y, z)
        Points in scene units, two or more.
    pixels : sequence of (px, py, depth)
        The `pixel_coords` of each point.
    focal, width, height
        As in `View`.

    Raises
    ------
    BadScene
        If there are fewer than two points, or the search does not converge.

    Notes
    -----
    Gauss-Newton over the three coordinates of the camera. Depths weigh 1,000 times as much as px and py, which are
    rounded to integers.
    """
    seen = np.asarray(pixels, dtype=np.float64)  # (n, 3)
    if len(coords) < 2 or seen.shape != (len(coords), 3):
        raise BadScene(
            f"Expected two or more points, each with px, py and depth, got {len(coords)} points and "
            f"pixels of shape {seen.shape}.",
            where="objects",
        )
    weights = np.array([1.0, 1.0, 1000.0])
    place = np.array(CAMERA)
    for _ in range(50):
        residual = _misses(place, coords, seen, focal=focal, width=width, height=height) * weights
        columns = []
        for axis in range(3):
            moved = place.copy()
            moved[axis] += 1e-6
            shifted = _misses(moved, coords, seen, focal=focal, width=width, height=height) * weights
            columns.append((shifted - residual).ravel() / 1e-6)
        step = np.linalg.lstsq(np.stack(columns, axis=1), residual.ravel(), rcond=None)[0]
        place = place - step
        if float(np.abs(step).max()) < 1e-9:
            return View(camera=_point(place.tolist()), focal=focal, width=width, height=height)
    raise BadScene(
        f"Expected points seen by a camera that looks at the origin; no such camera found for "
        f"{len(coords)} points after 50 steps.",
        where="objects",
    )


def _misses(
    place: np.ndarray, coords: Sequence[Sequence[float]], seen: np.ndarray, *, focal: float, width: int, height: int
) -> np.ndarray:
    view = View(camera=_point(place.tolist()), focal=focal, width=width, height=height)
    return np.array([project(view, point) for point in coords]) - seen


def _jitter(stream: RandomSource, place: Point, *, jitter: float) -> Point:
    x, y, z = (round(value + jitter * (2.0 * stream.random() - 1.0), 6) for value in place)
    return (x, y, z)


def _point(values: Sequence[float]) -> Point:
    """Return three finite floats; raise ValueError if a value is not finite."""
    x, y, z = (float(value) for value in values)
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise ValueError("not finite")
    return (x, y, z)


def _along(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
