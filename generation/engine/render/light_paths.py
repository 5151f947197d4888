"""Light along rays from the camera, followed over mirrors. Compiled, scalar."""

import math

import numpy as np

from generation.engine.render.jit import compiled
from generation.engine.render.pixel_random import chance
from generation.engine.render.rays import ground_distance, nearest, normal_at, pixel_ray
from generation.engine.render.reflections import beyond, glare, groove, reflected, shine_at, spread, tilted
from generation.engine.render.render_scene import KIND, MATERIAL
from generation.engine.render.shading import irradiance, matte_light, spot_seen
from generation.engine.render.shadows import LIFT, borrowed, itself, surface_at
from generation.engine.render.shapes import CONE, CYLINDER, FAR
from generation.engine.render.srgb import STEPS

BOUNCES = 3
CONTRAST = 10.0
SHIFTS = (0.0, 0.382, 0.764, 0.146)


@compiled
def wrapped(value):
    """Return a number of [0, 2) modulo 1."""
    return value - 1.0 if value >= 1.0 else value


@compiled
def heavy(value):
    """Return a number from -1 to 1 stretched, mostly near its ends."""
    return value / math.sqrt(max(1.0 - value * value, 0.05))


@compiled
def pixel_showing(camera, who, depth, i, x, y, z):
    """Return row and column of the pixel that shows a point of solid `i` (-1 for the ground); (-1, -1) if none."""
    px, py, pz = x - camera[0], y - camera[1], z - camera[2]
    along = px * camera[9] + py * camera[10] + pz * camera[11]
    if along < 1e-3:
        return -1, -1
    scale = camera[12] / along
    column = camera[13] + scale * (px * camera[3] + py * camera[4] + pz * camera[5])
    row = camera[14] - scale * (px * camera[6] + py * camera[7] + pz * camera[8])
    if row < 0.0 or column < 0.0 or row >= who.shape[0] or column >= who.shape[1]:
        return -1, -1
    a, b = int(row), int(column)
    if who[a, b] != i or (i >= 0 and abs(depth[a, b] - math.sqrt(px * px + py * py + pz * pz)) > 0.05):
        return -1, -1
    return a, b


@compiled
def path_light(
    solids,
    nodes,
    faces,
    materials,
    lights,
    around,
    floor,
    camera,
    who,
    depth,
    shares,
    row,
    column,
    dx,
    dy,
    dz,
    u,
    v,
    seen,
):
    """Return the light that comes along a ray from the camera through the pixel (row, column).

    The visible share of a lamp is taken from `shares` if a pixel, or a pixel next to it, shows the same point.
    Otherwise one spot on the lamp is sampled. (u, v) select the spots and the spread of reflections; `seen` is working
    memory.
    """
    ox, oy, oz = camera[0], camera[1], camera[2]
    r, g, b = 0.0, 0.0, 0.0
    tr, tg, tb = 1.0, 1.0, 1.0
    blur = 0.0  # reflections of reflections are drawn rougher, because otherwise their highlights flicker
    for bounce in range(BOUNCES):
        t, i, face = nearest(solids, nodes, faces, ox, oy, oz, dx, dy, dz)
        down = ground_distance(floor, oz, dz)
        if i < 0 and down == FAR:
            break
        if down < t:
            i, t = -1, down
        x, y, z = ox + t * dx, oy + t * dy, oz + t * dz
        nx, ny, nz = 0.0, 0.0, 1.0
        if i >= 0:
            nx, ny, nz = normal_at(solids, nodes, faces, i, face, x, y, z, dx, dy, dz)
        x, y, z = x + LIFT * nx, y + LIFT * ny, z + LIFT * nz
        surface = int(solids[i, MATERIAL]) if i >= 0 else -1
        if surface >= 0 and materials[surface, 3] > 0.0:
            rough = materials[surface, 4] + blur
            brushed = materials[surface, 6]
            mx, my, mz = groove(solids, i, x, y, z, nx, ny, nz)
            if mx == 0.0 and my == 0.0 and mz == 0.0:
                brushed = 0.0
            shine = shine_at(solids, materials, i, brushed)
            tr, tg, tb = tr * materials[surface, 0], tg * materials[surface, 1], tb * materials[surface, 2]
            gr, gg, gb = glare(
                solids, nodes, faces, lights, i, rough, brushed, x, y, z, nx, ny, nz, mx, my, mz, dx, dy, dz
            )
            r, g, b = r + shine * tr * gr, g + shine * tg * gg, b + shine * tb * gb
            if brushed > 0.0:
                nx, ny, nz = tilted(nx, ny, nz, mx, my, mz, brushed * heavy(u + v - 1.0))
                blur += 0.5 * brushed
            dx, dy, dz = reflected(dx, dy, dz, nx, ny, nz)
            dx, dy, dz = spread(dx, dy, dz, materials[surface, 4], u, v)
            blur += 0.1
            ox, oy, oz = x, y, z
            continue
        if bounce > 0:
            row, column = pixel_showing(camera, who, depth, i, x, y, z)
        for k in range(lights.shape[0]):
            strength, _, _, _ = irradiance(lights, k, x, y, z, nx, ny, nz)
            seen[k] = 0.0
            if strength > 0.0:
                seen[k] = borrowed(shares, who, k, i, row, column) if row >= 0 else -1.0
                if seen[k] < 0.0:
                    a, c = wrapped(u + SHIFTS[k & 3]), wrapped(v + SHIFTS[(k + 1) & 3])
                    near = itself(solids, i)
                    seen[k] = 1.0 if spot_seen(solids, nodes, faces, lights, k, near, x, y, z, a, c) else 0.0
        mr, mg, mb = matte_light(solids, materials, lights, around, seen, i, surface, x, y, z, nx, ny, nz, dx, dy, dz)
        return r + tr * mr, g + tg * mg, b + tb * mb
    br, bg, bb = beyond(around, dx, dy, dz)
    return r + tr * br, g + tg * bg, b + tb * bb


@compiled
def shade_centres(solids, nodes, faces, materials, lights, around, floor, camera, who, depth, shares):
    """Return (height, width, 3) float32: linear light through each pixel's centre."""
    height, width = who.shape
    light = np.empty((height, width, 3), np.float32)
    seen = np.empty(lights.shape[0])
    for row in range(height):
        for column in range(width):
            i = who[row, column]
            dx, dy, dz = pixel_ray(camera, column + 0.5, row + 0.5)
            if i >= 0 and materials[int(solids[i, MATERIAL]), 3] > 0.0:
                r, g, b = path_light(
                    solids,
                    nodes,
                    faces,
                    materials,
                    lights,
                    around,
                    floor,
                    camera,
                    who,
                    depth,
                    shares,
                    row,
                    column,
                    dx,
                    dy,
                    dz,
                    0.5,
                    0.5,
                    seen,
                )
            elif depth[row, column] == FAR:
                r, g, b = beyond(around, dx, dy, dz)
            else:
                for k in range(lights.shape[0]):
                    seen[k] = shares[k, row, column]
                x, y, z, nx, ny, nz = surface_at(solids, nodes, faces, i, camera, dx, dy, dz, depth[row, column])
                surface = int(solids[i, MATERIAL]) if i >= 0 else -1
                r, g, b = matte_light(
                    solids, materials, lights, around, seen, i, surface, x, y, z, nx, ny, nz, dx, dy, dz
                )
            light[row, column, 0], light[row, column, 1], light[row, column, 2] = r, g, b
    return light


@compiled
def encoded(value, table):
    """Return the sRGB value, 0 to 255, of linear light, interpolated in a table."""
    place = min(max(value, 0.0), 1.0) * STEPS
    low = min(int(place), STEPS - 1)
    return table[low] + (place - low) * (table[low + 1] - table[low])


@compiled
def brightness(light, table):
    """Return (height, width) float32: the brightness of each pixel, 0 to 255."""
    height, width, _ = light.shape
    grey = np.empty((height, width), np.float32)
    for row in range(height):
        for column in range(width):
            value = 0.3 * light[row, column, 0] + 0.5 * light[row, column, 1] + 0.2 * light[row, column, 2]
            grey[row, column] = encoded(value, table)
    return grey


@compiled
def is_inside(who, row, column):
    """Return whether all neighbours of a pixel show the same solid."""
    height, width = who.shape
    for a in range(max(row - 1, 0), min(row + 2, height)):
        for b in range(max(column - 1, 0), min(column + 2, width)):
            if who[a, b] != who[row, column]:
                return False
    return True


@compiled
def contrast(grey, row, column):
    """Return the range of brightness over a pixel and its neighbours."""
    height, width = grey.shape
    low, high = 1e9, -1e9
    for a in range(max(row - 1, 0), min(row + 2, height)):
        for b in range(max(column - 1, 0), min(column + 2, width)):
            low, high = min(low, grey[a, b]), max(high, grey[a, b])
    return high - low


@compiled
def refine(
    solids, nodes, faces, materials, lights, around, floor, camera, who, depth, shares, light, shown, side, seed, table
):
    """Replace the light of pixels at edges, of solids and of what they mirror, by the mean of up to side * side rays.

    The four corner strata come first, and if they agree, no more rays are used. Eight strata suffice if they nearly
    agree.
    """
    height, width = who.shape
    grey = brightness(light, table)
    seen = np.empty(lights.shape[0])
    for row in range(height):
        for column in range(width):
            inside = is_inside(who, row, column)
            if inside and contrast(grey, row, column) <= tolerance(solids, materials, who[row, column]):
                continue
            enough = CONTRAST * (6.0 if inside else 2.0)
            r, g, b, low, high, count = 0.0, 0.0, 0.0, 1e9, -1e9, 0
            for k in range(side * side):
                if (k == 4 and high - low < enough / 4.0) or (
                    k == 8 and high - low < enough * (3.0 if inside else 1.0)
                ):
                    break
                stratum = spot(k, side)
                a, c = stratum % side, stratum // side
                u = (a + chance(row * width + column, seed, 2 * k)) / side
                v = (c + chance(row * width + column, seed, 2 * k + 1)) / side
                dx, dy, dz = pixel_ray(camera, column + u, row + v)
                other = (stratum * 5 + 3) % (side * side)
                p, q = (other % side + 0.5) / side, (other // side + 0.5) / side
                sr, sg, sb = path_light(
                    solids,
                    nodes,
                    faces,
                    materials,
                    lights,
                    around,
                    floor,
                    camera,
                    who,
                    depth,
                    shares,
                    row,
                    column,
                    dx,
                    dy,
                    dz,
                    p,
                    q,
                    seen,
                )
                sr, sg, sb = min(sr, 3.0), min(sg, 3.0), min(sb, 3.0)
                value = encoded(0.3 * sr + 0.5 * sg + 0.2 * sb, table)
                low, high = min(low, value), max(high, value)
                r, g, b, count = r + sr, g + sg, b + sb, count + 1
            shown[row, column, 0], shown[row, column, 1], shown[row, column, 2] = r / count, g / count, b / count


@compiled
def tolerance(solids, materials, i):
    """Return the difference in brightness between neighbours above which a pixel of solid `i` gets more rays."""
    if i < 0:
        return 256.0
    surface = int(solids[i, MATERIAL])
    if materials[surface, 3] == 0.0:
        return CONTRAST
    return -1.0 if materials[surface, 6] > 0.0 and solids[i, KIND] in (CYLINDER, CONE) else CONTRAST / 2.0


@compiled
def spot(k, side):
    """Return the k-th stratum to try of side * side: the four corners first, then the others in order."""
    last = side - 1
    if k < 4:
        return (k & 1) * last + (k >> 1) * last * side
    place = 0
    for stratum in range(side * side):
        a, b = stratum % side, stratum // side
        if (a == 0 or a == last) and (b == 0 or b == last):
            continue
        if place == k - 4:
            return stratum
        place += 1
    return 0
