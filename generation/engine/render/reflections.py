"""Reflections in metal: directions, light of lamps, sky. Compiled, scalar."""

import math

from generation.engine.render.jit import compiled
from generation.engine.render.rays import unturned
from generation.engine.render.render_scene import KIND, MATERIAL, TURN
from generation.engine.render.shading import spot_seen
from generation.engine.render.shapes import CONE, CYLINDER

RIM = 0.01  # tolerance for the normals of a cylinder's side and caps, in contrast to its rims


@compiled
def groove(solids, i, x, y, z, nx, ny, nz):
    """Return the unit tangent of a cylinder or cone across the grooves of a lathe; zeros without grooves.

    It points up along the sides, and away from the axis on the caps. The rounded rims of a cylinder have no grooves.
    """
    if solids[i, KIND] != CYLINDER and solids[i, KIND] != CONE:
        return 0.0, 0.0, 0.0
    px, py, _ = unturned(solids, i, x - solids[i, 0], y - solids[i, 1], z - solids[i, 2])
    vx, vy, vz = unturned(solids, i, nx, ny, nz)
    out = math.sqrt(px * px + py * py)
    if out < 1e-9 or (solids[i, KIND] == CYLINDER and RIM < abs(vz) < 1.0 - RIM):
        return 0.0, 0.0, 0.0
    px, py = px / out, py / out
    side = vx * px + vy * py
    ax, ay, az = -vz * px, -vz * py, side
    return (
        solids[i, TURN] * ax + solids[i, TURN + 1] * ay + solids[i, TURN + 2] * az,
        solids[i, TURN + 3] * ax + solids[i, TURN + 4] * ay + solids[i, TURN + 5] * az,
        solids[i, TURN + 6] * ax + solids[i, TURN + 7] * ay + solids[i, TURN + 8] * az,
    )


@compiled
def shine_at(solids, materials, i, brushed):
    """Return how strongly solid `i` mirrors the lamps at a point. The rims of a brushed cylinder are smooth."""
    if brushed == 0.0 and solids[i, KIND] == CYLINDER:
        return 1.0
    return materials[int(solids[i, MATERIAL]), 7]


@compiled
def reflected(dx, dy, dz, nx, ny, nz):
    """Return a direction reflected by a surface."""
    away = 2.0 * (dx * nx + dy * ny + dz * nz)
    return dx - away * nx, dy - away * ny, dz - away * nz


@compiled
def spread(dx, dy, dz, rough, u, v):
    """Return a unit direction near another: `rough` is the radius of the spread, (u, v) selects the direction."""
    if abs(dz) < 0.9:
        ax, ay, az = dy, -dx, 0.0
    else:
        ax, ay, az = 0.0, dz, -dy
    length = math.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax / length, ay / length, az / length
    bx, by, bz = dy * az - dz * ay, dz * ax - dx * az, dx * ay - dy * ax
    a, b = rough * (2.0 * u - 1.0), rough * (2.0 * v - 1.0)
    x, y, z = dx + a * ax + b * bx, dy + a * ay + b * by, dz + a * az + b * bz
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@compiled
def tilted(nx, ny, nz, mx, my, mz, amount):
    """Return a unit normal tilted along a tangent."""
    x, y, z = nx + amount * mx, ny + amount * my, nz + amount * mz
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@compiled
def glare(solids, nodes, faces, lights, i, rough, brushed, x, y, z, nx, ny, nz, mx, my, mz, dx, dy, dz):
    """Return the light of the lamps that solid `i` mirrors back along the ray (dx, dy, dz).

    The surface is modelled as tiny mirrors with random tilts of about `rough` (GGX distribution; Walter et al. 2007)
    and further tilts of `brushed` along (mx, my, mz). The size of a lamp adds to the tilts. A power is the light that a
    white matte surface reflects, so a mirror reflects pi times as much.
    """
    r, g, b = 0.0, 0.0, 0.0
    facing = max(-(nx * dx + ny * dy + nz * dz), 0.1)
    for k in range(lights.shape[0]):
        lx, ly, lz = lights[k, 0] - x, lights[k, 1] - y, lights[k, 2] - z
        inverse = 1.0 / (lx * lx + ly * ly + lz * lz)
        near = math.sqrt(inverse)
        lx, ly, lz = lx * near, ly * near, lz * near
        rise = lx * nx + ly * ny + lz * nz
        if rise <= 0.0:
            continue
        hx, hy, hz = lx - dx, ly - dy, lz - dz
        up = hx * nx + hy * ny + hz * nz
        along = (hx * mx + hy * my + hz * mz) / up
        across = (hx * hx + hy * hy + hz * hz) / (up * up) - 1.0 - along * along
        wide = rough * rough + lights[k, 16] * lights[k, 16] * inverse * 0.06
        long = wide + brushed * brushed
        tilt = 1.0 + across / wide + along * along / long
        value = (1.0 + across + along * along) ** 2 / (math.sqrt(wide * long) * tilt * tilt * 4.0 * facing)
        value *= inverse * min(1.0, 4.0 * rise)
        if lights[k, 15] > 0.0:
            value *= max(0.0, -(lx * lights[k, 9] + ly * lights[k, 10] + lz * lights[k, 11]))
        if value * lights[k, 13] < 0.002 or not spot_seen(solids, nodes, faces, lights, k, i, x, y, z, 0.5, 0.5):
            continue
        r += value * lights[k, 12]
        g += value * lights[k, 13]
        b += value * lights[k, 14]
    return r, g, b


@compiled
def beyond(around, dx, dy, dz):
    """Return the light from the direction of a ray that meets nothing."""
    if dz < 0.0:
        return around[3, 0], around[3, 1], around[3, 2]
    toward = dx * around[5, 0] + dy * around[5, 1] + dz * around[5, 2]
    share = min(max((toward - 0.35) / 0.42, 0.0), 1.0)
    share *= share * (3.0 - 2.0 * share)
    return (
        around[2, 0] + dz * (around[1, 0] - around[2, 0]) + share * around[4, 0],
        around[2, 1] + dz * (around[1, 1] - around[2, 1]) + share * around[4, 1],
        around[2, 2] + dz * (around[1, 2] - around[2, 2]) + share * around[4, 2],
    )
