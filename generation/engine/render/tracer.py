"""Pictures of solids on a ground plane: colours, and the object at each pixel.

The tracer knows nothing about worlds. It works in passes, so that expensive sampling happens only where it is visible:
first hits through pixel centres; the visible share of each lamp there, sampled at possible shadow edges and then
smoothed within a surface; shading; and finally several rays for pixels at edges and on metal. Random numbers are
computed from pixel, sample and seed, so a picture does not depend on the order of the work. The tracer uses one
thread; run several processes to use several cores.
"""

import math

import numpy as np

from generation.engine.render.jit import compiled
from generation.engine.render.light_paths import encoded, refine, shade_centres
from generation.engine.render.pixel_random import chance
from generation.engine.render.rays import first_hits, ground_distance, pixel_ray
from generation.engine.render.render_scene import (
    OWNER,
    Camera,
    PackedSolids,
    Stage,
    pack_camera,
    pack_lights,
    pack_materials,
    pack_solids,
    pack_surroundings,
)
from generation.engine.render.shadows import lamp_shares, smooth_shares
from generation.engine.render.srgb import encode_table

TABLE = encode_table()
GRAIN = 0.4


def object_ids(stage: Stage, camera: Camera) -> np.ndarray:
    """Return the object at each pixel's centre.

    Parameters
    ----------
    stage : Stage
        Solids; materials and lights have no effect.
    camera : Camera
        The point of view.

    Returns
    -------
    (height, width) uint16
        Indexed [row, column]: 0 for nothing or ground, i + 1 for object i.

    Raises
    ------
    BadScene
        If a solid cannot be drawn.
    """
    packed = pack_solids(stage)
    who, _ = _first_hits(packed, pack_camera(camera), camera, stage.surroundings.height)
    return owners_of(packed, who)


def render(stage: Stage, camera: Camera, *, samples: int = 16, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the picture of a stage, and the object at each pixel's centre.

    Parameters
    ----------
    stage : Stage
        Solids, materials, lights and surroundings.
    camera : Camera
        The point of view.
    samples : int
        Rays per pixel at an edge, and samples per lamp at a shadow's edge; the square root is rounded up.
    seed : int
        Seed of the noise. The same seed gives the same picture.

    Returns
    -------
    rgb : (height, width, 3) uint8
        sRGB, indexed [row, column].
    ids : (height, width) uint16
        As returned by `object_ids`.

    Raises
    ------
    BadScene
        If a solid cannot be drawn.
    """
    packed = pack_solids(stage)
    frame, height = pack_camera(camera), stage.surroundings.height
    who, depth = _first_hits(packed, frame, camera, height)
    materials, lights = pack_materials(stage.materials), pack_lights(stage.lights)
    around = pack_surroundings(stage.surroundings)
    side = max(2, math.isqrt(max(samples, 1) - 1) + 1)
    shares = lamp_shares(*packed, materials, lights, frame, who, depth, side, seed)
    shares = smooth_shares(shares, who)
    light = shade_centres(*packed, materials, lights, around, height, frame, who, depth, shares)
    shown = light.copy()
    refine(*packed, materials, lights, around, height, frame, who, depth, shares, light, shown, side, seed, TABLE)
    rgb = np.empty((*who.shape, 3), dtype=np.uint8)
    encode(shown, TABLE, seed, rgb)
    return rgb, owners_of(packed, who)


def _first_hits(
    packed: PackedSolids, frame: np.ndarray, camera: Camera, height: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return (height, width) the solid at each pixel (int32, -1 for none) and the distance to it or to the ground."""
    who = np.full((camera.height, camera.width), -1, dtype=np.int32)
    depth = np.empty((camera.height, camera.width))
    ground_depth(frame, height, depth)
    first_hits(*packed, frame, depth, who)
    return who, depth


def owners_of(packed: PackedSolids, who: np.ndarray) -> np.ndarray:
    """Return the object, 0 for none, of the solid at each pixel."""
    names = np.concatenate([packed.solids[:, OWNER] + 1, [0]]).astype(np.uint16)
    return names[who]


@compiled
def ground_depth(camera, height, depth):
    """Fill `depth` with the distance to the ground through each pixel's centre; FAR above the horizon."""
    for row in range(depth.shape[0]):
        for column in range(depth.shape[1]):
            _, _, dz = pixel_ray(camera, column + 0.5, row + 0.5)
            depth[row, column] = ground_distance(height, camera[2], dz)


@compiled
def encode(light, table, seed, rgb):
    """Fill `rgb` (height, width, 3) uint8 with the sRGB values of linear light, rounded up or down at random.

    The random grain is smaller than one step; it prevents visible bands in slow gradients.
    """
    height, width, _ = light.shape
    for row in range(height):
        for column in range(width):
            grain = 0.5 + GRAIN * (2.0 * chance(row * width + column, seed, 1000) - 1.0)
            for channel in range(3):
                value = encoded(light[row, column, channel], table) + grain
                rgb[row, column, channel] = int(min(max(value, 0.0), 255.0))
