"""Light in daylight: sky, ground, walls with windows, shadows of the sun, haze. Compiled, scalar."""

import math

import numpy as np

from generation.engine.render.daylight.daylight_scene import (
    BASE,
    BOUNCE,
    CELL,
    CLOUD,
    CLOUDS,
    DENSITY,
    GLASS,
    GLOSS,
    GLOW,
    HAZE,
    HOLDS_SNOW,
    HORIZON,
    LIT,
    SIZE,
    SNOW,
    SUN,
    SUN_FROM,
    WET,
    WINDOWS,
    ZENITH,
)
from generation.engine.render.jit import compiled, inlined
from generation.engine.render.pixel_random import chance
from generation.engine.render.rays import pixel_ray, unturned
from generation.engine.render.render_scene import KIND, MATERIAL, OWNER, PAR, SCALE
from generation.engine.render.shadows import surface_at
from generation.engine.render.shapes import BOX, FAR

MOST_SIDE = 8  # samples in each direction of a pixel
SUN_AWAY = 400.0
LAMP_LIGHT = (1.0, 0.72, 0.36)


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


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
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


@inlined
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
