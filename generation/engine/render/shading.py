"""Light on surfaces: lamps with soft shadows, sky, ground, sheen and highlights. Compiled, scalar."""

import math

from generation.engine.render.jit import compiled
from generation.engine.render.rays import blocked, hit_solid, passes
from generation.engine.render.render_scene import BALL, MATERIAL, REACH


@compiled
def irradiance(lights, k, x, y, z, nx, ny, nz):
    """Return the light on a surface from the centre of a lamp, as a share of its power, and the unit vector to it."""
    lx, ly, lz = lights[k, 0] - x, lights[k, 1] - y, lights[k, 2] - z
    square = lx * lx + ly * ly + lz * lz
    far = math.sqrt(square)
    lx, ly, lz = lx / far, ly / far, lz / far
    facing = nx * lx + ny * ly + nz * lz
    if facing <= 0.0:
        return 0.0, lx, ly, lz
    if lights[k, 15] > 0.0:
        facing *= max(0.0, -(lx * lights[k, 9] + ly * lights[k, 10] + lz * lights[k, 11]))
    return facing / square, lx, ly, lz


@compiled
def shaders(solids, lights, k, skip, x, y, z, some):
    """Fill `some` with the solids that may shade a point from a lamp, except `skip`; return their number."""
    lx, ly, lz = lights[k, 0] - x, lights[k, 1] - y, lights[k, 2] - z
    square = lx * lx + ly * ly + lz * lz
    lamp, inverse = lights[k, 16], 1.0 / square
    count = 0
    for i in range(solids.shape[0]):
        px, py, pz = solids[i, 0] - x, solids[i, 1] - y, solids[i, 2] - z
        share = min(max((px * lx + py * ly + pz * lz) * inverse, 0.0), 1.0)
        px, py, pz = px - share * lx, py - share * ly, pz - share * lz
        reach = solids[i, REACH] + lamp * share
        if i != skip and px * px + py * py + pz * pz < reach * reach:
            some[count] = i
            count += 1
    return count


@compiled
def lamp_seen(solids, nodes, faces, lights, k, some, count, x, y, z, u, v):
    """Return whether the solids in `some` leave the spot (u, v) of a lamp, each 0 to 1, visible from a point."""
    a, b = 2.0 * u - 1.0, 2.0 * v - 1.0
    lx = lights[k, 0] + a * lights[k, 3] + b * lights[k, 6] - x
    ly = lights[k, 1] + a * lights[k, 4] + b * lights[k, 7] - y
    lz = lights[k, 2] + a * lights[k, 5] + b * lights[k, 8] - z
    far = math.sqrt(lx * lx + ly * ly + lz * lz)
    return not blocked(solids, nodes, faces, some, count, x, y, z, lx / far, ly / far, lz / far, far)


@compiled
def spot_seen(solids, nodes, faces, lights, k, skip, x, y, z, u, v):
    """Return whether all solids except `skip` leave the spot (u, v) of lamp `k` visible from a point."""
    a, b = 2.0 * u - 1.0, 2.0 * v - 1.0
    lx = lights[k, 0] + a * lights[k, 3] + b * lights[k, 6] - x
    ly = lights[k, 1] + a * lights[k, 4] + b * lights[k, 7] - y
    lz = lights[k, 2] + a * lights[k, 5] + b * lights[k, 8] - z
    far = math.sqrt(lx * lx + ly * ly + lz * lz)
    lx, ly, lz = lx / far, ly / far, lz / far
    for i in range(solids.shape[0]):
        if i != skip and passes(solids, i, x, y, z, lx, ly, lz, far):
            t, _ = hit_solid(solids, nodes, faces, i, x, y, z, lx, ly, lz, far)
            if t < far:
                return False
    return True


@compiled
def lamp_share(solids, nodes, faces, lights, k, skip, x, y, z, side, u, v, odd, some):
    """Return the share of a lamp that is visible from a point, sampled in side * side strata shifted by (u, v).

    The corners are sampled first. If the corners and the middle agree, the rest is assumed to agree. Otherwise the even
    or the `odd` half of the other strata stands for all of them: neighbouring pixels take different halves, and
    smoothing averages them.
    """
    count = shaders(solids, lights, k, skip, x, y, z, some)
    if count == 0:
        return 1.0
    last = side - 1
    corners = 0
    for n in range(4):
        a, b = (n & 1) * last, (n >> 1) * last
        corners += lamp_seen(solids, nodes, faces, lights, k, some, count, x, y, z, (a + u) / side, (b + v) / side)
    if corners == 0 or corners == 4:
        middle = lamp_seen(solids, nodes, faces, lights, k, some, count, x, y, z, 0.5, 0.5)
        if middle == (corners == 4):
            return corners / 4.0
    if side == 2:
        return corners / 4.0
    seen, tried = 0, 0
    for a in range(side):
        for b in range(side):
            if (a + b) % 2 == odd and ((a != 0 and a != last) or (b != 0 and b != last)):
                seen += lamp_seen(solids, nodes, faces, lights, k, some, count, x, y, z, (a + u) / side, (b + v) / side)
                tried += 1
    rest = side * side - 4
    return (corners + rest * seen / tried) / (side * side)


@compiled
def ambient(solids, materials, around, skip, x, y, z, nx, ny, nz):
    """Return the light that reaches a point from the sky, the ground and neighbouring solids, as three numbers.

    Each solid except `skip` counts as a ball of the same volume. It hides the sky and the ground behind it and reflects
    some of the ambient light in its own colour.
    """
    up = 0.5 + 0.5 * nz
    r = up * around[1, 0] + (1.0 - up) * around[3, 0]
    g = up * around[1, 1] + (1.0 - up) * around[3, 1]
    b = up * around[1, 2] + (1.0 - up) * around[3, 2]
    hidden, tr, tg, tb = 0.0, 0.0, 0.0, 0.0
    for i in range(solids.shape[0]):
        if i == skip:
            continue
        px, py, pz = solids[i, 0] - x, solids[i, 1] - y, solids[i, 2] - z
        square = px * px + py * py + pz * pz
        ball = solids[i, BALL] * solids[i, BALL]
        if square > 36.0 * ball:
            continue
        far = math.sqrt(square)
        share = min(ball / square, 1.0) - 1.0 / 36.0
        share *= max(0.0, (nx * px + ny * py + nz * pz) / far)
        hidden += share
        surface = int(solids[i, MATERIAL])
        tr += share * materials[surface, 0]
        tg += share * materials[surface, 1]
        tb += share * materials[surface, 2]
    open_ = 1.0 / (1.0 + hidden * 1.15)
    lit = 0.35 * open_
    return (
        r * open_ + tr * lit * around[3, 0],
        g * open_ + tg * lit * around[3, 1],
        b * open_ + tb * lit * around[3, 2],
    )


@compiled
def matte_light(solids, materials, lights, around, seen, skip, surface, x, y, z, nx, ny, nz, dx, dy, dz):
    """Return the light that a matte surface reflects along a ray.

    `surface` is the index of a material, -1 for the ground. `seen` is the visible share of each lamp at the point.
    (dx, dy, dz) is the direction of the ray that hit the surface.
    """
    r, g, b = ambient(solids, materials, around, skip, x, y, z, nx, ny, nz)
    sr, sg, sb = 0.0, 0.0, 0.0
    gloss = materials[surface, 5] if surface >= 0 else 0.0
    narrow = 0.0
    if gloss > 0.0:
        rough = max(materials[surface, 4], 0.05)
        narrow = 2.0 / (rough * rough)
    for k in range(lights.shape[0]):
        if seen[k] <= 0.0:
            continue
        strength, lx, ly, lz = irradiance(lights, k, x, y, z, nx, ny, nz)
        if strength <= 0.0:
            continue
        strength *= seen[k]
        r += strength * lights[k, 12]
        g += strength * lights[k, 13]
        b += strength * lights[k, 14]
        if gloss > 0.0:
            hx, hy, hz = lx - dx, ly - dy, lz - dz
            turn = (nx * hx + ny * hy + nz * hz) / math.sqrt(hx * hx + hy * hy + hz * hz)
            sheen = strength * gloss * (narrow + 8.0) / 8.0 * math.exp(-narrow * (1.0 - turn))
            sr += sheen * lights[k, 12]
            sg += sheen * lights[k, 13]
            sb += sheen * lights[k, 14]
    if surface < 0:
        return r * around[0, 0], g * around[0, 1], b * around[0, 2]
    return r * materials[surface, 0] + sr, g * materials[surface, 1] + sg, b * materials[surface, 2] + sb
