"""Drawing of microworlds: flat shapes with soft edges, pixel noise, and object ids.

Arrays are indexed `[row, column]`; a pixel's centre lies at `((column + 0.5) / width, (row + 0.5) / height)`.
"""

from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from generation.engine.worlds.shapeworld.jit import compiled
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.shape_geometry import CODES, is_inside, reach, turn
from generation.engine.worlds.shapeworld.vocabulary import ShapeVocabulary

FINE = 4  # sample points of a pixel along each side
LEVELS = 4096  # different values of noise
EACH = 5  # values that take their noise from one random number
CUT = 2.0  # standard deviations at which noise is cut
X, Y, WIDTH, HEIGHT, COS, SIN, ACROSS, ALONG = range(8)  # columns of `places`


def draw(scene: FlatScene, words: ShapeVocabulary) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Return a microworld's picture and object ids.

    Returns
    -------
    rgb : ndarray
        `(height, width, 3)` uint8 sRGB; edges are smoothed with `FINE` by `FINE` sample points in a pixel.
    ids : ndarray
        `(height, width)` uint16: number + 1 of the topmost entity at the pixel's centre, 0 for none.
    """
    forms = np.array([CODES[entity.shape] for entity in scene.entities])
    places = np.array(
        [(entity.x, entity.y, entity.width, entity.height, *turn(entity), *reach(entity)) for entity in scene.entities]
    )
    colors = np.array([words.colors[entity.color].shaded(entity.shade) for entity in scene.entities], np.uint8)
    rgb = np.empty((scene.height, scene.width, 3), np.uint8)
    rgb[:] = words.background
    ids = np.zeros((scene.height, scene.width), np.uint16)
    _paint(forms, places, colors, rgb, ids)
    if scene.noise:
        _add_noise(rgb, scene.noise_seed, noise_levels(scene.noise))
    return rgb, ids


@cache
def noise_levels(deviation: float) -> NDArray[np.int16]:
    """Return the possible values of noise `(LEVELS,)`, which are equally likely.

    They follow a normal distribution that is cut at `CUT` standard deviations, in units of a pixel's value.

    Parameters
    ----------
    deviation : float
        The standard deviation before the cut, as a share of the full range of 255.
    """
    normal = NormalDist()
    low, high = normal.cdf(-CUT), normal.cdf(CUT)
    shares = [low + (high - low) * (level + 0.5) / LEVELS for level in range(LEVELS)]
    return np.array([round(255.0 * deviation * normal.inv_cdf(share)) for share in shares], np.int16)


@compiled
def _paint(
    forms: NDArray[np.int64],
    places: NDArray[np.float64],
    colors: NDArray[np.uint8],
    rgb: NDArray[np.uint8],
    ids: NDArray[np.uint16],
) -> None:
    """Paint entities in order, given shapes `(n,)`, places `(n, 8)` and sRGB colours `(n, 3)`."""
    rows, columns = ids.shape
    whole = FINE * FINE
    for number in range(len(forms)):
        form, at = forms[number], places[number]
        right, down = 2.0 / at[WIDTH], 2.0 / at[HEIGHT]
        for row in range(max(0, int((at[Y] - at[ALONG]) * rows) - 1), min(rows, int((at[Y] + at[ALONG]) * rows) + 2)):
            for column in range(
                max(0, int((at[X] - at[ACROSS]) * columns) - 1), min(columns, int((at[X] + at[ACROSS]) * columns) + 2)
            ):
                x, y = (column + 0.5) / columns - at[X], (row + 0.5) / rows - at[Y]
                if is_inside(form, (x * at[COS] + y * at[SIN]) * right, (y * at[COS] - x * at[SIN]) * down):
                    ids[row, column] = number + 1
                count = 0
                for fine in range(whole):
                    x = (column + (fine % FINE + 0.5) / FINE) / columns - at[X]
                    y = (row + (fine // FINE + 0.5) / FINE) / rows - at[Y]
                    if is_inside(form, (x * at[COS] + y * at[SIN]) * right, (y * at[COS] - x * at[SIN]) * down):
                        count += 1
                if count:
                    for channel in range(3):
                        mixed = count * colors[number, channel] + (whole - count) * rgb[row, column, channel]
                        rgb[row, column, channel] = (2 * mixed + whole) // (2 * whole)


@compiled
def _add_noise(rgb: NDArray[np.uint8], seed: int, levels: NDArray[np.int16]) -> None:
    """Add noise to a picture, and cut values to 0 to 255; one random number gives 12 bits for each of five values."""
    values = rgb.reshape(-1)
    state = np.uint64(seed) << np.uint64(32)
    for first in range(0, len(values), EACH):
        bits = _mixed(state + np.uint64(first))
        for at in range(first, min(first + EACH, len(values))):
            value = np.int32(values[at]) + np.int32(levels[bits & np.uint64(LEVELS - 1)])
            values[at] = min(max(value, np.int32(0)), np.int32(255))
            bits >>= np.uint64(12)


@compiled
def _mixed(state: np.uint64) -> np.uint64:
    """Return 64 pseudo-random bits for a number (the output function of SplitMix64)."""
    bits = state * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
