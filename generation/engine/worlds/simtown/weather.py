"""Weather: light, air, and what falls."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from generation.engine.render.daylight.daylight_scene import Daylight
from generation.engine.render.render_scene import Vector
from generation.engine.seeding import Stream


class Streaks(NamedTuple):
    """What falls through the air in a picture.

    Attributes
    ----------
    number : int
        For a picture of 160 by 120 pixels; larger pictures have more.
    length, slope : float
        The length in heights of the picture, and its shift to the side for each step down.
    colour : (r, g, b)
        Linear.
    share : float
        How much of the picture behind is hidden.
    is_round : bool
        Whether they are flakes, as wide as long.
    """

    number: int
    length: float
    slope: float
    colour: Vector
    share: float
    is_round: bool = False


class Weather(NamedTuple):
    """A kind of weather: its light, its streaks, and the share of windows that are lit."""

    light: Daylight
    streaks: Streaks | None = None
    lit: float = 0.0


def _direction(x: float, y: float, z: float) -> Vector:
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


NONE: Vector = (0.0, 0.0, 0.0)
NEAREST, FARTHEST = 4.0, 22.0  # metres from the camera between which something falls
NOON = _direction(-0.5, -0.75, 0.95)
LOW = _direction(0.95, -0.75, 0.42)

WEATHERS: Mapping[str, Weather] = {
    "clear": Weather(
        Daylight(
            sun_from=NOON,
            sun=(0.86, 0.8, 0.68),
            zenith=(0.26, 0.42, 0.72),
            horizon=(0.66, 0.8, 0.95),
            bounce=(0.2, 0.2, 0.18),
            haze=(0.7, 0.8, 0.92),
            density=0.002,
            clouds=0.5,
            cloud=(0.98, 0.98, 1.0),
        )
    ),
    "overcast": Weather(
        Daylight(
            sun_from=NOON,
            sun=NONE,
            zenith=(0.66, 0.69, 0.74),
            horizon=(0.72, 0.75, 0.8),
            bounce=(0.2, 0.2, 0.2),
            haze=(0.7, 0.73, 0.78),
            density=0.003,
            clouds=0.8,
            cloud=(0.58, 0.61, 0.67),
        )
    ),
    "rain": Weather(
        Daylight(
            sun_from=NOON,
            sun=NONE,
            zenith=(0.44, 0.49, 0.58),
            horizon=(0.5, 0.55, 0.63),
            bounce=(0.2, 0.21, 0.24),
            haze=(0.46, 0.51, 0.58),
            density=0.008,
            clouds=0.9,
            cloud=(0.36, 0.4, 0.47),
            wet=0.2,
        ),
        Streaks(120, 0.06, 0.16, (0.7, 0.76, 0.85), 0.3),
        lit=0.12,
    ),
    "fog": Weather(
        Daylight(
            sun_from=NOON,
            sun=NONE,
            zenith=(0.74, 0.76, 0.78),
            horizon=(0.74, 0.76, 0.78),
            bounce=(0.26, 0.26, 0.26),
            haze=(0.74, 0.76, 0.78),
            density=0.03,
            wet=0.05,
        ),
        lit=0.15,
    ),
    "snow": Weather(
        Daylight(
            sun_from=NOON,
            sun=NONE,
            zenith=(0.68, 0.73, 0.82),
            horizon=(0.8, 0.84, 0.9),
            bounce=(0.34, 0.35, 0.38),
            haze=(0.8, 0.84, 0.9),
            density=0.006,
            clouds=0.7,
            cloud=(0.68, 0.72, 0.8),
            snow=1.0,
        ),
        Streaks(230, 0.01, 0.0, (0.97, 0.98, 1.0), 0.9, is_round=True),
        lit=0.1,
    ),
    "dusk": Weather(
        Daylight(
            sun_from=LOW,
            sun=(0.62, 0.3, 0.14),
            zenith=(0.2, 0.2, 0.4),
            horizon=(0.95, 0.5, 0.34),
            bounce=(0.12, 0.1, 0.13),
            haze=(0.7, 0.42, 0.4),
            density=0.006,
            clouds=0.55,
            cloud=(0.95, 0.45, 0.4),
        ),
        lit=0.5,
    ),
}


def add_streaks(light: np.ndarray, depth: np.ndarray, streaks: Streaks, chance: Stream) -> None:
    """Draw what falls over a picture of linear light (height, width, 3), in place.

    What falls is between the camera and the far end of the street, so more of it is seen before far things.
    """
    height, width, _ = light.shape
    count = round(streaks.number * math.sqrt(width * height / (160 * 120)))
    rows, columns, away = (np.array([chance.random() for _ in range(count)]) for _ in range(3))
    down, right = _stamp(streaks, height)
    a = (rows * (height + down.max()) - down.max()).astype(np.int64)[:, None] + down
    b = (columns * width * 1.2).astype(np.int64)[:, None] + right
    near = np.broadcast_to(NEAREST + (FARTHEST - NEAREST) * away[:, None], a.shape)
    inside = (a >= 0) & (a < height) & (b >= 0) & (b < width)
    a, b, near = a[inside], b[inside], near[inside]
    visible = near < depth[a, b]
    a, b = a[visible], b[visible]
    light[a, b] += np.float32(streaks.share) * (np.array(streaks.colour, np.float32) - light[a, b])


def _stamp(streaks: Streaks, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels of a streak or flake, as steps down and to the right."""
    size = max(round(streaks.length * height), 1)
    if not streaks.is_round:
        steps, thick = np.arange(size), max(round(height / 400), 1)
        down = np.repeat(steps, thick)
        return down, np.tile(np.arange(thick), size) - (down * streaks.slope).astype(np.int64)
    down, right = (place.ravel() for place in np.indices((size, size)))
    middle = (size - 1) / 2
    inside = (down - middle) ** 2 + (right - middle) ** 2 <= (size / 2) ** 2
    return down[inside], right[inside]
