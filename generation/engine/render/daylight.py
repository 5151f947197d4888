"""Pictures of outdoor scenes in daylight: a sun, a sky, haze, a ground with painted marks, walls with windows.

`tracer` draws a few solids with soft shadows and mirrors. This renderer draws hundreds of solids in milliseconds: it
finds the first hit of several rays in each pixel, shades each surface that a pixel shows at most twice, and looks up
the sun's shadows in a map of what the sun sees.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generation.engine.render.jit import compiled
from generation.engine.render.pixel_random import chance
from generation.engine.render.rays import (
    ground_distance,
    hit_solid,
    pixel_ray,
    rectangle,
    unturned,
)
from generation.engine.render.render_scene import (
    KIND,
    MATERIAL,
    OWNER,
    PAR,
    REACH,
    SCALE,
    Camera,
    PackedSolids,
    Vector,
    pack_camera,
)
from generation.engine.render.shadows import surface_at
from generation.engine.render.shapes import BOX, CYLINDER, FAR, NEAR, slab, tube
from generation.engine.render.srgb import encode_table
from generation.engine.render.tracer import encode

TABLE = encode_table()
MOST_SIDE = 8
BEND = 0.15  # the change of slope from which a bent surface counts as an edge
SUN_AWAY = 400.0
LAMP_LIGHT = (1.0, 0.72, 0.36)


@dataclass(frozen=True)
class Windows:
    """Rows of windows on the upright sides of a box.

    Attributes
    ----------
    cell : (width, height)
        Metres from one window to the next; the width is adapted to the wall.
    size : (width, height)
        Metres.
    base : float
        Metres from the bottom of the box to the lowest windows' cells.
    colour : (r, g, b)
        The glass, linear.
    lit : float
        The share of the windows that are lit.
    """

    cell: tuple[float, float]
    size: tuple[float, float]
    base: float
    colour: Vector
    lit: float = 0.0


@dataclass(frozen=True)
class Surface:
    """How a surface looks.

    Attributes
    ----------
    colour : (r, g, b)
        Share of light that is reflected, linear, 0 to 1.
    gloss : float
        The share of light that is mirrored, 0 to 1.
    glow : (r, g, b)
        The light that it emits.
    windows : Windows or None
        For boxes alone.
    snow : float
        How much of the snow that falls stays where the surface faces up, 0 to 1.
    """

    colour: Vector
    gloss: float = 0.04
    glow: Vector = (0.0, 0.0, 0.0)
    windows: Windows | None = None
    snow: float = 1.0


@dataclass(frozen=True)
class Mark:
    """A painted rectangle on the ground; with `period`, only the first `dash` metres of each period along x."""

    x: tuple[float, float]
    y: tuple[float, float]
    colour: Vector
    period: float = 0.0
    dash: float = 0.0


@dataclass(frozen=True)
class Daylight:
    """Sun, sky and air.

    Attributes
    ----------
    sun_from : unit vector
        The direction of the sun.
    sun : (r, g, b)
        The light on a surface that faces the sun; zeros for no sun and no shadows.
    zenith, horizon : (r, g, b)
        The light of the sky.
    bounce : (r, g, b)
        The light that comes from below.
    haze : (r, g, b)
        The colour of the air.
    density : float
        How much of the light the haze takes away, per metre.
    clouds : float
        The share of the sky that clouds cover.
    cloud : (r, g, b)
        The light of clouds.
    wet : float
        How strongly the ground mirrors the sky, 0 to 1.
    snow : float
        How white the upper sides of solids are, 0 to 1.
    """

    sun_from: Vector
    sun: Vector
    zenith: Vector
    horizon: Vector
    bounce: Vector
    haze: Vector
    density: float = 0.0
    clouds: float = 0.0
    cloud: Vector = (1.0, 1.0, 1.0)
    wet: float = 0.0
    snow: float = 0.0


@dataclass(frozen=True)
class Ground:
    """The ground plane z = 0: its colour, its marks (later ones cover earlier ones), and soft shadows of contact.

    Attributes
    ----------
    colour : (r, g, b)
    marks : sequence of Mark
    contacts : sequence of (x, y, half length, half width)
        The rectangles that objects cover on the ground; no sky light comes below them and little beside them.
    """

    colour: Vector
    marks: Sequence[Mark] = ()
    contacts: Sequence[tuple[float, float, float, float]] = ()


def pack_surfaces(surfaces: Sequence[Surface]) -> np.ndarray:
    """Return (n, 18): colour, gloss, glow, snow, 1 for windows, cell, size, base, colour and lit share of windows."""
    return np.array([_pack_surface(one) for one in surfaces], dtype=np.float64).reshape(len(surfaces), 18)


def _pack_surface(one: Surface) -> tuple[float, ...]:
    windows = one.windows
    own = (*one.colour, one.gloss, *one.glow, one.snow)
    if windows is None:
        return (*own, *[0.0] * 10)
    return (*own, 1.0, *windows.cell, *windows.size, windows.base, *windows.colour, windows.lit)


def pack_ground(ground: Ground) -> tuple[np.ndarray, np.ndarray]:
    """Return the marks (n + 1, 9), of which the first is the whole ground, and the contacts (m, 4)."""
    everywhere = (-FAR, FAR, -FAR, FAR, *ground.colour, 0.0, 0.0)
    rows = [everywhere, *((*mark.x, *mark.y, *mark.colour, mark.period, mark.dash) for mark in ground.marks)]
    contacts = np.array(ground.contacts, dtype=np.float64).reshape(len(ground.contacts), 4)
    return np.array(rows, dtype=np.float64), contacts


def pack_daylight(light: Daylight) -> np.ndarray:
    """Return 25 floats: the attributes of `Daylight` in their order."""
    vectors = (light.sun_from, light.sun, light.zenith, light.horizon, light.bounce, light.haze)
    rest = (light.density, light.clouds, *light.cloud, light.wet, light.snow)
    return np.array([*(value for vector in vectors for value in vector), *rest], dtype=np.float64)


def object_ids(packed: PackedSolids, camera: Camera) -> np.ndarray:
    """Return (height, width) uint16: 0 for nothing or ground, i + 1 for object i, at each pixel's centre."""
    who, _ = _first_hits(packed, pack_camera(camera), camera.height, camera.width)
    return _owners(packed, who)


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
    return shown, depth, _owners(packed, who)


def _near_first(packed: PackedSolids, camera: Camera) -> PackedSolids:
    """Return the solids in the order of their distance: what is hidden behind others is then rejected early."""
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
    edges, numbers = all_pixels(height, width)
    rays = fine_rays(frame, edges, 1)
    depth = fine_ground(frame, rays) if has_ground else np.full((height * width, 1), FAR)
    who = fine_hits(*packed, frame, numbers, rays, depth)
    return who.reshape(height, width), depth.reshape(height, width)


def _owners(packed: PackedSolids, who: np.ndarray) -> np.ndarray:
    names = np.concatenate([packed.solids[:, OWNER] + 1, [0]]).astype(np.uint16)
    return names[who]


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


# Columns of the packed surfaces and of the packed daylight
GLOSS, GLOW, HOLDS_SNOW, WINDOWS, CELL, SIZE, BASE, GLASS, LIT = 3, 4, 7, 8, 9, 11, 13, 14, 17
SUN_FROM, SUN, ZENITH, HORIZON, BOUNCE, HAZE, DENSITY, CLOUDS, CLOUD, WET, SNOW = 0, 3, 6, 9, 12, 15, 18, 19, 20, 23, 24


@compiled
def cover(value, low, high, width):
    """Return how much of an interval of `width` around a value lies between `low` and `high`."""
    inside = min(value + width / 2, high) - max(value - width / 2, low)
    return min(max(inside / width, 0.0), 1.0)


@compiled
def noise(x, y, seed):
    """Return smooth noise in the plane, 0 to 1, with a period of one unit."""
    column, row = math.floor(x), math.floor(y)
    u, v = x - column, y - row
    u, v = u * u * (3.0 - 2.0 * u), v * v * (3.0 - 2.0 * v)
    i, j = int(column) + 4096, int(row) + 4096
    low = chance(i, j, seed) * (1.0 - u) + chance(i + 1, j, seed) * u
    high = chance(i, j + 1, seed) * (1.0 - u) + chance(i + 1, j + 1, seed) * u
    return low * (1.0 - v) + high * v


@compiled
def sky_light(air, dx, dy, dz, seed):
    """Return the light of the sky from a direction, with clouds."""
    up = math.sqrt(min(max(dz, 0.0) * 1.6, 1.0))
    r = air[HORIZON] + up * (air[ZENITH] - air[HORIZON])
    g = air[HORIZON + 1] + up * (air[ZENITH + 1] - air[HORIZON + 1])
    b = air[HORIZON + 2] + up * (air[ZENITH + 2] - air[HORIZON + 2])
    if air[CLOUDS] > 0.0 and dz > 0.0:
        far = 1.0 / (dz + 0.12)
        x, y = dx * far, dy * far * 1.5
        thick = (
            0.55 * noise(x, y, seed) + 0.3 * noise(2.1 * x + 7.0, 2.1 * y, seed) + 0.15 * noise(4.3 * x, 4.3 * y, seed)
        )
        share = min(max((thick - 0.72 + 0.5 * air[CLOUDS]) * 5.0, 0.0), 0.9)
        r, g, b = r + share * (air[CLOUD] - r), g + share * (air[CLOUD + 1] - g), b + share * (air[CLOUD + 2] - b)
    return r, g, b


@compiled
def ground_colour(marks, x, y, wide, deep):
    """Return the colour of the ground, averaged over a rectangle of `wide` by `deep` around a point."""
    r, g, b = marks[0, 4], marks[0, 5], marks[0, 6]
    for k in range(1, marks.shape[0]):
        if y < marks[k, 2] - deep or y > marks[k, 3] + deep or x < marks[k, 0] - wide or x > marks[k, 1] + wide:
            continue
        share = cover(y, marks[k, 2], marks[k, 3], deep) * cover(x, marks[k, 0], marks[k, 1], wide)
        if marks[k, 7] > 0.0:
            place = x - marks[k, 7] * math.floor(x / marks[k, 7])
            share *= cover(place, 0.0, marks[k, 8], wide)
        r, g, b = r + share * (marks[k, 4] - r), g + share * (marks[k, 5] - g), b + share * (marks[k, 6] - b)
    return r, g, b


@compiled
def contact(contacts, x, y):
    """Return the share of the sky's light that comes to a point of the ground near or below objects."""
    share = 1.0
    for k in range(contacts.shape[0]):
        dx = max(abs(x - contacts[k, 0]) - contacts[k, 2], 0.0)
        dy = max(abs(y - contacts[k, 1]) - contacts[k, 3], 0.0)
        near = dx * dx + dy * dy
        if near < 1.0:
            share *= 1.0 - 0.75 * (1.0 - near) ** 4
    return share


@compiled
def sun_share(frame, depth, x, y, z, nx, ny, nz):
    """Return the share of the sun that is visible from a point with a normal, from the shadow map."""
    size = depth.shape[0]
    texel = SUN_AWAY / frame[12]
    lift = 0.02 + 1.2 * texel
    px, py, pz = x + lift * nx - frame[0], y + lift * ny - frame[1], z + lift * nz - frame[2]
    along = px * frame[9] + py * frame[10] + pz * frame[11]
    scale = frame[12] / along
    column = frame[13] + scale * (px * frame[3] + py * frame[4] + pz * frame[5]) - 0.5
    row = frame[14] - scale * (px * frame[6] + py * frame[7] + pz * frame[8]) - 0.5
    if row < 0.0 or column < 0.0 or row >= size - 1 or column >= size - 1:
        return 1.0
    far = math.sqrt(px * px + py * py + pz * pz) - 0.03
    a, c = int(row), int(column)
    v, u = row - a, column - c
    return (1.0 - v) * ((1.0 - u) * (depth[a, c] > far) + u * (depth[a, c + 1] > far)) + v * (
        (1.0 - u) * (depth[a + 1, c] > far) + u * (depth[a + 1, c + 1] > far)
    )


@compiled
def windows(solids, surfaces, i, surface, x, y, z, nx, ny, nz, width, seed):
    """Return how much of a wall around a point is glass, how much is frame, and whether the window is lit."""
    ox, oy, oz = unturned(solids, i, x - solids[i, 0], y - solids[i, 1], z - solids[i, 2])
    mx, my, mz = unturned(solids, i, nx, ny, nz)
    if abs(mz) > 0.5:
        return 0.0, 0.0, False
    scale = solids[i, SCALE]
    half = solids[i, PAR] * scale if abs(my) > abs(mx) else solids[i, PAR + 1] * scale
    along = (ox if abs(my) > abs(mx) else oy) + half
    above = oz + solids[i, PAR + 2] * scale - surfaces[surface, BASE]
    height = 2.0 * solids[i, PAR + 2] * scale - surfaces[surface, BASE]
    columns = max(int(2.0 * half / surfaces[surface, CELL]), 1)
    cell, tall = 2.0 * half / columns, surfaces[surface, CELL + 1]
    row, column = math.floor(above / tall), math.floor(along / cell)
    if row < 0 or (row + 1) * tall > height + 0.01:
        return 0.0, 0.0, False
    u, v = along - (column + 0.5) * cell, above - (row + 0.5) * tall
    a, b = surfaces[surface, SIZE] / 2, surfaces[surface, SIZE + 1] / 2
    glass = cover(u, -a, a, width) * cover(v, -b, b, width)
    frame = cover(u, -a - 0.12, a + 0.12, width) * cover(v, -b - 0.14, b + 0.12, width)
    lit = chance(int(solids[i, OWNER]) * 64 + int(column) + 8, int(row) + 8, seed) < surfaces[surface, LIT]
    return glass, frame, lit


@compiled
def surface_light(
    solids, nodes, faces, surfaces, marks, contacts, air, camera, sun_frame, sun_depth, i, dx, dy, dz, t, width, seed
):
    """Return the light that comes from solid `i`, or from the ground for -1, at distance `t` along a ray."""
    x, y, z, nx, ny, nz = surface_at(solids, nodes, faces, i, camera, dx, dy, dz, t)
    open_, gloss, er, eg, eb = 1.0, 0.0, 0.0, 0.0, 0.0
    if i < 0:
        r, g, b = ground_colour(marks, x, y, width, width / max(-dz, 0.05))
        open_ = contact(contacts, x, y)
        gloss = air[WET] * open_
    else:
        surface = int(solids[i, MATERIAL])
        r, g, b = surfaces[surface, 0], surfaces[surface, 1], surfaces[surface, 2]
        gloss = surfaces[surface, GLOSS]
        er, eg, eb = surfaces[surface, GLOW], surfaces[surface, GLOW + 1], surfaces[surface, GLOW + 2]
        if air[SNOW] > 0.0 and nz > 0.3:
            white = air[SNOW] * surfaces[surface, HOLDS_SNOW] * min((nz - 0.3) * 2.5, 1.0)
            r, g, b = r + white * (0.9 - r), g + white * (0.92 - g), b + white * (0.95 - b)
        if surfaces[surface, WINDOWS] > 0.0 and solids[i, KIND] == BOX:
            glass, frame, lit = windows(solids, surfaces, i, surface, x, y, z, nx, ny, nz, width, seed)
            r, g, b = r + frame * 0.6 * (0.9 - r), g + frame * 0.6 * (0.9 - g), b + frame * 0.6 * (0.88 - b)
            r += glass * (surfaces[surface, GLASS] - r)
            g += glass * (surfaces[surface, GLASS + 1] - g)
            b += glass * (surfaces[surface, GLASS + 2] - b)
            gloss += glass * 0.3
            if lit:
                er, eg, eb = er + glass * LAMP_LIGHT[0], eg + glass * LAMP_LIGHT[1], eb + glass * LAMP_LIGHT[2]
    up = 0.5 + 0.5 * nz
    ir = open_ * (up * air[ZENITH] + (1.0 - up) * air[BOUNCE])
    ig = open_ * (up * air[ZENITH + 1] + (1.0 - up) * air[BOUNCE + 1])
    ib = open_ * (up * air[ZENITH + 2] + (1.0 - up) * air[BOUNCE + 2])
    turn = dx * nx + dy * ny + dz * nz
    mx, my, mz = dx - 2.0 * turn * nx, dy - 2.0 * turn * ny, dz - 2.0 * turn * nz
    sheen = 0.0
    facing = nx * air[SUN_FROM] + ny * air[SUN_FROM + 1] + nz * air[SUN_FROM + 2]
    if facing > 0.0 and air[SUN] > 0.0:
        seen = sun_share(sun_frame, sun_depth, x, y, z, nx, ny, nz)
        ir, ig, ib = ir + seen * facing * air[SUN], ig + seen * facing * air[SUN + 1], ib + seen * facing * air[SUN + 2]
        spot = mx * air[SUN_FROM] + my * air[SUN_FROM + 1] + mz * air[SUN_FROM + 2]
        if spot > 0.9:
            sheen = seen * ((spot - 0.9) * 10.0) ** 4
    r, g, b = r * ir + er, g * ig + eg, b * ib + eb
    if gloss > 0.0:
        edge = gloss + (1.0 - gloss) * min(gloss * 2.0, 0.3) * max(1.0 + turn, 0.0) ** 4
        lift = min(max(mz, 0.0) * 1.6, 1.0) if mz > 0.0 else 0.0
        dark = 1.0 if mz > -0.1 else 0.4
        r += edge * (dark * (air[HORIZON] + lift * (air[ZENITH] - air[HORIZON])) + 2.0 * sheen * air[SUN])
        g += edge * (
            dark * (air[HORIZON + 1] + lift * (air[ZENITH + 1] - air[HORIZON + 1])) + 2.0 * sheen * air[SUN + 1]
        )
        b += edge * (
            dark * (air[HORIZON + 2] + lift * (air[ZENITH + 2] - air[HORIZON + 2])) + 2.0 * sheen * air[SUN + 2]
        )
    if air[DENSITY] > 0.0:
        lost = 1.0 - math.exp(-air[DENSITY] * t)
        r, g, b = r + lost * (air[HAZE] - r), g + lost * (air[HAZE + 1] - g), b + lost * (air[HAZE + 2] - b)
    return r, g, b


@compiled
def find_edges(who, depth, camera):
    """Return the pixels at edges (n, 2), and (height, width) int32: each pixel's number among them, -1 for others.

    A pixel is at an edge if a neighbour shows another solid, or if the surface bends there: over a plane, the inverse
    of the depth is linear in the picture.
    """
    height, width = who.shape
    inverse = np.empty((height, width))
    for row in range(height):
        for column in range(width):
            dx, dy, dz = pixel_ray(camera, column + 0.5, row + 0.5)
            inverse[row, column] = 1.0 / (depth[row, column] * (dx * camera[9] + dy * camera[10] + dz * camera[11]))
    numbers = np.full((height, width), -1, np.int32)
    edges = np.empty((height * width, 2), np.int32)
    found = 0
    for row in range(height):
        for column in range(width):
            own = who[row, column]
            a, b = max(row - 1, 0), min(row + 1, height - 1)
            c, d = max(column - 1, 0), min(column + 1, width - 1)
            is_edge = who[a, column] != own or who[b, column] != own or who[row, c] != own or who[row, d] != own
            if own < 0 and not is_edge:
                is_edge = (depth[a, column] == FAR) != (depth[b, column] == FAR)
            if own >= 0 and not is_edge and a < row < b and c < column < d:
                bend = abs(inverse[a, column] + inverse[b, column] - 2.0 * inverse[row, column])
                bend = max(bend, abs(inverse[row, c] + inverse[row, d] - 2.0 * inverse[row, column]))
                is_edge = bend * camera[12] > BEND * inverse[row, column]
            if is_edge:
                edges[found, 0], edges[found, 1] = row, column
                numbers[row, column] = found
                found += 1
    return edges[:found], numbers


@compiled
def hit_sharp(solids, i, px, py, pz, vx, vy, vz):
    """Return the distance at which a ray hits solid `i`, a box or a cylinder, as if it had no bevel; FAR for a miss.

    Rays that pass a bevelled edge closely need many steps. Without bevels the outline of a solid is larger by less
    than the bevel, and `normal_at` still shades its edges round. Origin and direction are in the solid's own axes, in
    units of the scene.
    """
    scale = solids[i, SCALE]
    a, b, c = solids[i, PAR] * scale, solids[i, PAR + 1] * scale, solids[i, PAR + 2] * scale
    if solids[i, KIND] == BOX:
        ax, bx = slab(px, vx, a)
        ay, by = slab(py, vy, b)
        az, bz = slab(pz, vz, c)
        start, end = max(ax, ay, az), min(bx, by, bz)
    else:
        ax, bx = tube(px, py, vx, vy, a)
        az, bz = slab(pz, vz, b)
        start, end = max(ax, az), min(bx, bz)
    return start if NEAR < start <= end else FAR


@compiled
def all_pixels(height, width):
    """Return what `find_edges` returns if all pixels are at edges."""
    edges = np.empty((height * width, 2), np.int32)
    numbers = np.empty((height, width), np.int32)
    for row in range(height):
        for column in range(width):
            n = row * width + column
            edges[n, 0], edges[n, 1], numbers[row, column] = row, column, n
    return edges, numbers


@compiled
def fine_rays(camera, edges, side):
    """Return (edges, side * side, 3) float64: the unit directions of the samples of pixels."""
    rays = np.empty((edges.shape[0], side * side, 3))
    for n in range(edges.shape[0]):
        for k in range(side * side):
            column, row = edges[n, 1] + (k % side + 0.5) / side, edges[n, 0] + (k // side + 0.5) / side
            rays[n, k, 0], rays[n, k, 1], rays[n, k, 2] = pixel_ray(camera, column, row)
    return rays


@compiled
def fine_ground(camera, rays):
    """Return (edges, samples) float64: the distance to the ground along each ray; FAR above the horizon."""
    depth = np.empty(rays.shape[:2])
    for n in range(rays.shape[0]):
        for k in range(rays.shape[1]):
            depth[n, k] = ground_distance(0.0, camera[2], rays[n, k, 2])
    return depth


@compiled
def fine_hits(solids, nodes, faces, camera, numbers, rays, depth):
    """Return (edges, samples) int32: the solid that each ray hits first, -1 for none; put its distance into `depth`.

    Initially `depth` must contain the distance to the ground or FAR.
    """
    height, width = numbers.shape
    who = np.full(rays.shape[:2], -1, np.int32)
    cx, cy, cz = camera[0], camera[1], camera[2]
    for i in range(solids.shape[0]):
        top, bottom, left, right = rectangle(solids, nodes, i, camera, width, height)
        x, y, z, reach = solids[i, 0] - cx, solids[i, 1] - cy, solids[i, 2] - cz, solids[i, REACH]
        apart = x * x + y * y + z * z - reach * reach
        px, py, pz = unturned(solids, i, -x, -y, -z)
        is_plain = solids[i, KIND] == BOX or solids[i, KIND] == CYLINDER
        for row in range(top, bottom):
            for column in range(left, right):
                n = numbers[row, column]
                if n < 0:
                    continue
                for k in range(rays.shape[1]):
                    dx, dy, dz = rays[n, k, 0], rays[n, k, 1], rays[n, k, 2]
                    along, limit = x * dx + y * dy + z * dz, depth[n, k]
                    if apart > along * along or along - reach > limit:
                        continue
                    if is_plain:
                        vx, vy, vz = unturned(solids, i, dx, dy, dz)
                        t = hit_sharp(solids, i, px, py, pz, vx, vy, vz)
                    else:
                        t, _ = hit_solid(solids, nodes, faces, i, cx, cy, cz, dx, dy, dz, limit)
                    if t < limit:
                        depth[n, k], who[n, k] = t, i
    return who


@compiled
def shade(
    solids,
    nodes,
    faces,
    surfaces,
    marks,
    contacts,
    air,
    camera,
    who,
    depth,
    numbers,
    rays,
    fine_who,
    fine_depth,
    sun_frame,
    sun_depth,
    seed,
):
    """Return (height, width, 3) float32: the mean light of each pixel, linear.

    A pixel that is not at an edge is shaded at its centre. In the others, the samples that show the same solid are
    shaded at the first of them, and also at the last if they are more than half of all samples.
    """
    height, width = who.shape
    light = np.empty((height, width, 3), np.float32)
    kinds = np.empty(MOST_SIDE * MOST_SIDE, np.int64)
    counts = np.empty(MOST_SIDE * MOST_SIDE, np.int64)
    ends = np.empty((MOST_SIDE * MOST_SIDE, 2), np.int64)
    for row in range(height):
        for column in range(width):
            n = numbers[row, column]
            groups, total = 1, 1
            if n >= 0:
                groups, total = group(fine_who[n], fine_depth[n], kinds, counts, ends), rays.shape[1]
            r, g, b = 0.0, 0.0, 0.0
            for k in range(groups):
                points = 2 if n >= 0 and 2 * counts[k] > total and kinds[k] >= 0 else 1
                weight = counts[k] / points if n >= 0 else 1.0
                for end in range(points):
                    if n >= 0:
                        sample = ends[k, end]
                        kind, t = kinds[k], fine_depth[n, sample]
                        dx, dy, dz = rays[n, sample, 0], rays[n, sample, 1], rays[n, sample, 2]
                    else:
                        kind, t = who[row, column], depth[row, column]
                        dx, dy, dz = pixel_ray(camera, column + 0.5, row + 0.5)
                    if kind < 0 and t == FAR:
                        sr, sg, sb = sky_light(air, dx, dy, dz, seed)
                    else:
                        sr, sg, sb = surface_light(
                            solids,
                            nodes,
                            faces,
                            surfaces,
                            marks,
                            contacts,
                            air,
                            camera,
                            sun_frame,
                            sun_depth,
                            max(kind, -1),
                            dx,
                            dy,
                            dz,
                            t,
                            t / camera[12],
                            seed,
                        )
                    r, g, b = r + weight * sr, g + weight * sg, b + weight * sb
            light[row, column, 0], light[row, column, 1], light[row, column, 2] = r / total, g / total, b / total
    return light


@compiled
def group(who, depth, kinds, counts, ends):
    """Group a pixel's samples by their solid (-1 is the ground, -2 the sky) and return the number of groups.

    `kinds` gets the solid of each group, `counts` its samples, `ends` its first and last sample.
    """
    groups = 0
    for k in range(who.shape[0]):
        kind = -2 if who[k] < 0 and depth[k] == FAR else who[k]
        for n in range(groups + 1):
            if n == groups:
                kinds[n], counts[n], ends[n, 0] = kind, 0, k
                groups += 1
            if kinds[n] == kind:
                counts[n] += 1
                ends[n, 1] = k
                break
    return groups
