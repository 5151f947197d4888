"""Pictures of outdoor scenes in daylight: a sun, a sky, haze, a ground with painted marks, walls with windows.

`tracer` draws a few solids with soft shadows and mirrors. This renderer draws hundreds of solids in milliseconds: it
finds the first hit of several rays in each pixel, shades each surface that a pixel shows at most twice, and looks up
the sun's shadows in a map of what the sun sees.
"""

import math
from functools import lru_cache

import numpy as np

from generation.engine.render.daylight.daylight_scene import Daylight, pack_daylight
from generation.engine.render.daylight.pixel_hits import all_pixels, find_edges, fine_ground, fine_hits, fine_rays
from generation.engine.render.daylight.shading import MOST_SIDE, SUN_AWAY, shade
from generation.engine.render.render_scene import Camera, PackedSolids, Vector, pack_camera
from generation.engine.render.shapes import FAR
from generation.engine.render.srgb import encode_table
from generation.engine.render.tracer import encode, owners_of

TABLE = encode_table()
SMALL = 1 << 16  # pixels of a picture whose rays are kept: many small pictures are seen by the same camera


def object_ids(packed: PackedSolids, camera: Camera) -> np.ndarray:
    """Return (height, width) uint16: 0 for nothing or ground, i + 1 for object i, at each pixel's centre."""
    who, _ = _first_hits(packed, pack_camera(camera), camera.height, camera.width)
    return owners_of(packed, who)


def render(
    packed: PackedSolids,
    surfaces: np.ndarray,
    ground: tuple[np.ndarray, np.ndarray],
    *,
    light: Daylight,
    camera: Camera,
    reach: tuple[Vector, float],
    samples: int = 16,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the picture, its depth, and the object at each pixel's centre.

    Parameters
    ----------
    packed : PackedSolids
        From `pack_solids`; the column MATERIAL is a row of `surfaces`.
    surfaces, ground
        From `pack_surfaces` and `pack_ground`.
    light : Daylight
    camera : Camera
    reach : (centre, radius)
        The ball that contains everything that casts a shadow into the picture, in scene units.
    samples : int
        Rays for each pixel; the square root is rounded up, at most 8 by 8.
    seed : int
        Seed of clouds, lit windows and grain.

    Returns
    -------
    light : (height, width, 3) float32
        Linear; `develop` makes a picture of it.
    depth : (height, width) float64
        The distance to what the centre of each pixel shows; FAR for the sky.
    ids : (height, width) uint16
        As returned by `object_ids`.
    """
    side = min(max(1, math.isqrt(max(samples, 1) - 1) + 1), MOST_SIDE)
    packed = _near_first(packed, camera)
    frame = pack_camera(camera)
    who, depth = _first_hits(packed, frame, camera.height, camera.width)
    edges, numbers = find_edges(who, depth, frame)
    rays = fine_rays(frame, edges, side)
    fine_depth = fine_ground(frame, rays)
    fine_who = fine_hits(*packed, frame, numbers, rays, fine_depth)
    sun_frame, sun_depth = _shadow_map(packed, light, reach, size=6 * camera.width // 5)
    shown = shade(
        *packed,
        surfaces,
        *ground,
        pack_daylight(light),
        frame,
        who,
        depth,
        numbers,
        rays,
        fine_who,
        fine_depth,
        sun_frame,
        sun_depth,
        seed,
    )
    return shown, depth, owners_of(packed, who)


def _near_first(packed: PackedSolids, camera: Camera) -> PackedSolids:
    away = np.square(packed.solids[:, :3] - camera.place).sum(axis=1)
    return packed._replace(solids=packed.solids[np.argsort(away, kind="stable")])


def develop(light: np.ndarray, *, seed: int) -> np.ndarray:
    """Return linear light as a picture, (height, width, 3) uint8 sRGB."""
    rgb = np.empty(light.shape, dtype=np.uint8)
    encode(light, TABLE, seed, rgb)
    return rgb


def _first_hits(
    packed: PackedSolids, frame: np.ndarray, height: int, width: int, *, has_ground: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return (height, width) the solid at each pixel's centre, int32, -1 for none, and its distance."""
    numbers, rays, ground = _centres(frame.tobytes(), height, width)
    depth = ground.copy() if has_ground else np.full((height * width, 1), FAR)
    who = fine_hits(*packed, frame, numbers, rays, depth)
    return who.reshape(height, width), depth.reshape(height, width)


def _centres(frame: bytes, height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rays through the centres of a picture's pixels, as `fine_hits` takes them, and where they end."""
    return (_kept_centres if height * width <= SMALL else _centre_rays)(frame, height, width)


def _centre_rays(frame: bytes, height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    camera = np.frombuffer(frame).copy()
    edges, numbers = all_pixels(height, width)
    rays = fine_rays(camera, edges, 1)
    return numbers, rays, fine_ground(camera, rays)


_kept_centres = lru_cache(maxsize=16)(_centre_rays)


def _shadow_map(
    packed: PackedSolids, light: Daylight, reach: tuple[Vector, float], *, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sun's point of view as `pack_camera` does, and the distance that each of its pixels sees."""
    (x, y, z), radius = reach
    a, b, c = light.sun_from
    flat = math.hypot(a, b)
    right = (-b / flat, a / flat, 0.0)
    up = (-c * a / flat, -c * b / flat, flat)
    frame = Camera(
        place=(x + SUN_AWAY * a, y + SUN_AWAY * b, z + SUN_AWAY * c),
        right=right,
        up=up,
        forward=(-a, -b, -c),
        focal=SUN_AWAY * size / (2 * radius),
        width=size,
        height=size,
    )
    packed_frame = pack_camera(frame)
    if max(light.sun) <= 0:
        return packed_frame, np.full((1, 1), FAR)
    return packed_frame, _first_hits(packed, packed_frame, size, size, has_ground=False)[1]
