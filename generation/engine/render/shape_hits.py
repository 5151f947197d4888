"""Intersections of rays and the solids of `shapes`. Compiled, scalar, the same on every machine.

A ray is an origin and a unit direction in the unit space of the solid, and a hit is the distance along it.
"""

import math

import numpy as np

from generation.engine.render.jit import compiled
from generation.engine.render.shapes import BOX, CONE, CYLINDER, FAR, NEAR, SPHERE, TORUS

STEPS = 96
TOUCH = 1e-5


@compiled
def core_offset(kind, a, b, c, d, x, y, z):
    """Return the vector from the nearest point of the solid's core to (x, y, z), and the skin's thickness.

    Bevelled boxes, bevelled cylinders and tori are all points within `skin` of a core: a smaller box, a smaller
    cylinder, or a ring. The vector's length minus the skin is the distance to the surface; its direction is the normal.
    """
    if kind == BOX:
        a, b, c = a - d, b - d, c - d
        return x - min(max(x, -a), a), y - min(max(y, -b), b), z - min(max(z, -c), c), d
    out = math.sqrt(x * x + y * y)
    if kind == CYLINDER:
        radius, half = a - c, b - c
        share = 0.0 if out <= radius else (out - radius) / out
        return x * share, y * share, z - min(max(z, -half), half), c
    share = 1.0 - a / out if out > 1e-12 else 0.0
    return x * share, y * share, z, b


@compiled
def march(kind, a, b, c, d, ox, oy, oz, dx, dy, dz, start, end):
    """Return the distance at which a ray hits a solid with a core, searched from `start` to `end`; FAR for a miss."""
    t = start
    gap = 0.0
    for _ in range(STEPS):
        x, y, z, skin = core_offset(kind, a, b, c, d, ox + t * dx, oy + t * dy, oz + t * dz)
        gap = math.sqrt(x * x + y * y + z * z) - skin
        if gap < TOUCH:
            return t
        t += gap
        if t > end:
            return FAR
    return t if gap < 100 * TOUCH else FAR


@compiled
def hit_sphere(ox, oy, oz, dx, dy, dz):
    """Return the distance to the unit sphere; FAR for a miss."""
    b = ox * dx + oy * dy + oz * dz
    x, y, z = ox - b * dx, oy - b * dy, oz - b * dz
    rest = 1.0 - (x * x + y * y + z * z)
    if rest < 0.0:
        return FAR
    root = math.sqrt(rest)
    if -b - root > NEAR:
        return -b - root
    return -b + root if -b + root > NEAR else FAR


@compiled
def slab(o, d, half):
    """Return where a ray enters and leaves the layer -half..half along one axis."""
    if abs(d) < 1e-12:
        return (-FAR, FAR) if abs(o) <= half else (FAR, -FAR)
    a, b = (-half - o) / d, (half - o) / d
    return (a, b) if a < b else (b, a)


@compiled
def hit_box(a, b, c, d, ox, oy, oz, dx, dy, dz):
    """Return the distance to a bevelled box; FAR for a miss."""
    ax, bx = slab(ox, dx, a)
    ay, by = slab(oy, dy, b)
    az, bz = slab(oz, dz, c)
    start, end = max(ax, ay, az), min(bx, by, bz)
    if start > end or end < NEAR:
        return FAR
    if start > NEAR:
        flat_x = abs(ox + start * dx) <= a - d
        flat_y = abs(oy + start * dy) <= b - d
        flat_z = abs(oz + start * dz) <= c - d
        if flat_x + flat_y + flat_z >= 2:
            return start
    return march(BOX, a, b, c, d, ox, oy, oz, dx, dy, dz, max(start, NEAR), end)


@compiled
def tube(ox, oy, dx, dy, radius):
    """Return where a ray enters and leaves the infinite upright cylinder; for a miss, the entry is after the exit."""
    a = dx * dx + dy * dy
    if a < 1e-16:
        return (-FAR, FAR) if ox * ox + oy * oy <= radius * radius else (FAR, -FAR)
    b = (ox * dx + oy * dy) / a
    x, y = ox - b * dx, oy - b * dy
    rest = (radius * radius - x * x - y * y) / a
    if rest < 0.0:
        return FAR, -FAR
    root = math.sqrt(rest)
    return -b - root, -b + root


@compiled
def hit_cylinder(a, b, c, ox, oy, oz, dx, dy, dz):
    """Return the distance to a cylinder with bevelled rims; FAR for a miss."""
    ar, br = tube(ox, oy, dx, dy, a)
    az, bz = slab(oz, dz, b)
    start, end = max(ar, az), min(br, bz)
    if start > end or end < NEAR:
        return FAR
    if start > NEAR:
        x, y, inner = ox + start * dx, oy + start * dy, a - c
        if x * x + y * y <= inner * inner or abs(oz + start * dz) <= b - c:
            return start
    return march(CYLINDER, a, b, c, 0.0, ox, oy, oz, dx, dy, dz, max(start, NEAR), end)


@compiled
def hit_torus(a, b, ox, oy, oz, dx, dy, dz):
    """Return the distance to a torus; FAR for a miss."""
    ar, br = tube(ox, oy, dx, dy, a + b)
    az, bz = slab(oz, dz, b)
    start, end = max(ar, az, NEAR), min(br, bz)
    if start > end:
        return FAR
    return march(TORUS, a, b, 0.0, 0.0, ox, oy, oz, dx, dy, dz, start, end)


@compiled
def hit_disc(ox, oy, oz, dx, dy, dz, height, radius):
    """Return the distance to a horizontal disc; FAR for a miss."""
    if abs(dz) < 1e-12:
        return FAR
    t = (height - oz) / dz
    x, y = ox + t * dx, oy + t * dy
    return t if t > NEAR and x * x + y * y <= radius * radius else FAR


@compiled
def hit_cone(low, high, half, ox, oy, oz, dx, dy, dz):
    """Return the distance to a cone or frustum; FAR for a miss."""
    slope = (high - low) / (2.0 * half)
    middle = 0.5 * (low + high)
    best = min(hit_disc(ox, oy, oz, dx, dy, dz, -half, low), hit_disc(ox, oy, oz, dx, dy, dz, half, high))
    wide = middle + slope * oz
    a = dx * dx + dy * dy - slope * slope * dz * dz
    b = ox * dx + oy * dy - wide * slope * dz
    c = ox * ox + oy * oy - wide * wide
    rest = b * b - a * c
    if rest < 0.0:
        return best
    root = math.sqrt(rest)
    for sign in (-1.0, 1.0):
        if abs(a) > 1e-12:
            t = (-b + sign * root) / a
        elif abs(b) > 1e-12:
            t = -0.5 * c / b
        else:
            continue
        z = oz + t * dz
        if NEAR < t < best and abs(z) <= half and middle + slope * z >= 0.0:
            best = t
    return best


@compiled
def hit_triangle(faces, k, ox, oy, oz, dx, dy, dz):
    """Return the distance to triangle `k`, from either side; FAR for a miss."""
    ax, ay, az = faces[k, 3] - faces[k, 0], faces[k, 4] - faces[k, 1], faces[k, 5] - faces[k, 2]
    bx, by, bz = faces[k, 6] - faces[k, 0], faces[k, 7] - faces[k, 1], faces[k, 8] - faces[k, 2]
    px, py, pz = dy * bz - dz * by, dz * bx - dx * bz, dx * by - dy * bx
    det = ax * px + ay * py + az * pz
    if abs(det) < 1e-14:
        return FAR
    sx, sy, sz = ox - faces[k, 0], oy - faces[k, 1], oz - faces[k, 2]
    u = (sx * px + sy * py + sz * pz) / det
    if u < 0.0 or u > 1.0:
        return FAR
    qx, qy, qz = sy * az - sz * ay, sz * ax - sx * az, sx * ay - sy * ax
    v = (dx * qx + dy * qy + dz * qz) / det
    if v < 0.0 or u + v > 1.0:
        return FAR
    t = (bx * qx + by * qy + bz * qz) / det
    return t if t > NEAR else FAR


@compiled
def layer(low, high, o, d, start, end):
    """Return the part of start..end in which a coordinate of the ray lies between two values."""
    if abs(d) < 1e-12:
        return (start, end) if low <= o <= high else (1.0, 0.0)
    a, b = (low - o) / d, (high - o) / d
    return max(start, min(a, b)), min(end, max(a, b))


@compiled
def hit_mesh(root, nodes, faces, ox, oy, oz, dx, dy, dz, limit):
    """Return the distance to the nearest triangle of a tree and that triangle's index; (FAR, -1) for a miss.

    A node is the low and high corner of its box and two links: its children or, in a leaf, the first triangle and
    minus the number of triangles.
    """
    best, face = limit, -1
    stack = np.empty(64, np.int64)
    stack[0] = root
    size = 1
    while size > 0:
        size -= 1
        node = stack[size]
        start, end = layer(nodes[node, 0], nodes[node, 3], ox, dx, 0.0, best)
        start, end = layer(nodes[node, 1], nodes[node, 4], oy, dy, start, end)
        start, end = layer(nodes[node, 2], nodes[node, 5], oz, dz, start, end)
        if start > end:
            continue
        left, right = int(nodes[node, 6]), int(nodes[node, 7])
        if right >= 0:
            stack[size], stack[size + 1] = left, right
            size += 2
            continue
        for k in range(left, left - right):
            t = hit_triangle(faces, k, ox, oy, oz, dx, dy, dz)
            if t < best:
                best, face = t, k
    return (best, face) if face >= 0 else (FAR, -1)


@compiled
def mesh_normal(faces, k, x, y, z):
    """Return the normal at a point of triangle `k`, interpolated from the normals at its corners."""
    ax, ay, az = faces[k, 3] - faces[k, 0], faces[k, 4] - faces[k, 1], faces[k, 5] - faces[k, 2]
    bx, by, bz = faces[k, 6] - faces[k, 0], faces[k, 7] - faces[k, 1], faces[k, 8] - faces[k, 2]
    px, py, pz = x - faces[k, 0], y - faces[k, 1], z - faces[k, 2]
    aa, ab, bb = ax * ax + ay * ay + az * az, ax * bx + ay * by + az * bz, bx * bx + by * by + bz * bz
    pa, pb = px * ax + py * ay + pz * az, px * bx + py * by + pz * bz
    det = aa * bb - ab * ab
    u = (bb * pa - ab * pb) / det
    v = (aa * pb - ab * pa) / det
    w = 1.0 - u - v
    nx = w * faces[k, 9] + u * faces[k, 12] + v * faces[k, 15]
    ny = w * faces[k, 10] + u * faces[k, 13] + v * faces[k, 16]
    nz = w * faces[k, 11] + u * faces[k, 14] + v * faces[k, 17]
    return nx, ny, nz


@compiled
def solid_normal(kind, a, b, c, d, x, y, z):
    """Return the outward normal, of any length, at a point of a solid that is not a mesh."""
    if kind == SPHERE:
        return x, y, z
    if kind == CONE:
        out = math.sqrt(x * x + y * y)
        if out < 1e-9 or (abs(z) > c - 1e-6 and out < (a if z < 0.0 else b) - 1e-9):
            return 0.0, 0.0, 1.0 if z > 0.0 else -1.0
        return x / out, y / out, (a - b) / (2.0 * c)
    nx, ny, nz, _ = core_offset(kind, a, b, c, d, x, y, z)
    return nx, ny, nz
