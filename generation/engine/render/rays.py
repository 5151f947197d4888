"""Rays through the packed solids of a stage: nearest hits, blocked paths, normals. Compiled, scalar."""

import math

from generation.engine.render.jit import compiled, inlined
from generation.engine.render.render_scene import KIND, PAR, REACH, ROOT, SCALE, TURN
from generation.engine.render.shape_hits import (
    hit_box,
    hit_cone,
    hit_cylinder,
    hit_mesh,
    hit_sphere,
    hit_torus,
    mesh_normal,
    solid_normal,
)
from generation.engine.render.shapes import BOX, CONE, CYLINDER, FAR, MESH, NEAR, SPHERE


@inlined
def unturned(solids, i, x, y, z):
    """Return a vector of the scene in the axes of solid `i`."""
    return (
        solids[i, TURN] * x + solids[i, TURN + 3] * y + solids[i, TURN + 6] * z,
        solids[i, TURN + 1] * x + solids[i, TURN + 4] * y + solids[i, TURN + 7] * z,
        solids[i, TURN + 2] * x + solids[i, TURN + 5] * y + solids[i, TURN + 8] * z,
    )


@inlined
def hit_solid(solids, nodes, faces, i, ox, oy, oz, dx, dy, dz, limit):
    """Return the distance at which a ray with unit direction hits solid `i`, and the face; (FAR, -1) for a miss.

    Hits nearer than NEAR times the solid's scale do not count, so that rays can start on a surface.
    """
    scale, kind = solids[i, SCALE], int(solids[i, KIND])
    px, py, pz = unturned(solids, i, ox - solids[i, 0], oy - solids[i, 1], oz - solids[i, 2])
    px, py, pz = px / scale, py / scale, pz / scale
    vx, vy, vz = unturned(solids, i, dx, dy, dz)
    a, b, c, d = solids[i, PAR], solids[i, PAR + 1], solids[i, PAR + 2], solids[i, PAR + 3]
    face = -1
    if kind == SPHERE:
        t = hit_sphere(px, py, pz, vx, vy, vz)
    elif kind == BOX:
        t = hit_box(a, b, c, d, px, py, pz, vx, vy, vz)
    elif kind == CYLINDER:
        t = hit_cylinder(a, b, c, px, py, pz, vx, vy, vz)
    elif kind == CONE:
        t = hit_cone(a, b, c, px, py, pz, vx, vy, vz)
    elif kind == MESH:
        t, face = hit_mesh(int(solids[i, ROOT]), nodes, faces, px, py, pz, vx, vy, vz, limit / scale)
    else:
        t = hit_torus(a, b, px, py, pz, vx, vy, vz)
    return (FAR if t == FAR else t * scale), face


@inlined
def passes(solids, i, ox, oy, oz, dx, dy, dz, limit):
    """Return whether a ray passes through the ball around solid `i` before `limit`."""
    x, y, z = solids[i, 0] - ox, solids[i, 1] - oy, solids[i, 2] - oz
    along = x * dx + y * dy + z * dz
    reach = solids[i, REACH]
    if x * x + y * y + z * z - along * along > reach * reach:
        return False
    return -reach <= along <= limit + reach


@compiled
def nearest(solids, nodes, faces, ox, oy, oz, dx, dy, dz):
    """Return the distance to the nearest solid, its index and the face; (FAR, -1, -1) if there is none."""
    best, who, face = FAR, -1, -1
    for i in range(solids.shape[0]):
        if passes(solids, i, ox, oy, oz, dx, dy, dz, best):
            t, f = hit_solid(solids, nodes, faces, i, ox, oy, oz, dx, dy, dz, best)
            if t < best:
                best, who, face = t, i, f
    return best, who, face


@compiled
def blocked(solids, nodes, faces, some, count, ox, oy, oz, dx, dy, dz, limit):
    """Return whether one of the first `count` solids in `some` blocks a ray before `limit`."""
    for k in range(count):
        i = some[k]
        if passes(solids, i, ox, oy, oz, dx, dy, dz, limit):
            t, _ = hit_solid(solids, nodes, faces, i, ox, oy, oz, dx, dy, dz, limit)
            if t < limit:
                return True
    return False


@compiled
def ground_distance(height, oz, dz):
    """Return the distance at which a ray hits the ground plane; FAR if it does not."""
    if dz > -1e-9:
        return FAR
    t = (height - oz) / dz
    return t if t > NEAR else FAR


@inlined
def normal_at(solids, nodes, faces, i, face, x, y, z, dx, dy, dz):
    """Return the unit normal of solid `i` at a point. The normal of a mesh points against the ray (dx, dy, dz)."""
    scale = solids[i, SCALE]
    px, py, pz = unturned(solids, i, x - solids[i, 0], y - solids[i, 1], z - solids[i, 2])
    px, py, pz = px / scale, py / scale, pz / scale
    if face >= 0:
        nx, ny, nz = mesh_normal(faces, face, px, py, pz)
    else:
        a, b, c, d = solids[i, PAR], solids[i, PAR + 1], solids[i, PAR + 2], solids[i, PAR + 3]
        nx, ny, nz = solid_normal(int(solids[i, KIND]), a, b, c, d, px, py, pz)
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length < 1e-12:
        return -dx, -dy, -dz
    ax = (solids[i, TURN] * nx + solids[i, TURN + 1] * ny + solids[i, TURN + 2] * nz) / length
    ay = (solids[i, TURN + 3] * nx + solids[i, TURN + 4] * ny + solids[i, TURN + 5] * nz) / length
    az = (solids[i, TURN + 6] * nx + solids[i, TURN + 7] * ny + solids[i, TURN + 8] * nz) / length
    if face >= 0 and ax * dx + ay * dy + az * dz > 0.0:
        return -ax, -ay, -az
    return ax, ay, az


@inlined
def pixel_ray(camera, px, py):
    """Return the unit direction through a point of the picture, given in pixels."""
    u = (px - camera[13]) / camera[12]
    v = (camera[14] - py) / camera[12]
    dx = camera[9] + u * camera[3] + v * camera[6]
    dy = camera[10] + u * camera[4] + v * camera[7]
    dz = camera[11] + u * camera[5] + v * camera[8]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    return dx / length, dy / length, dz / length


@compiled
def span(middle, depth, reach, focal, half, size):
    """Return the range of pixels (first, end) that a ball can cover along one axis of the picture.

    `middle` and `depth` are the coordinates of its centre across and along the camera's axis.
    """
    away = depth * depth - reach * reach
    if depth <= reach or away < 1e-9:
        return 0, size
    root = math.sqrt(max(middle * middle + away, 0.0)) * reach
    low = half + focal * (middle * depth - root) / away
    high = half + focal * (middle * depth + root) / away
    first = min(max(low - 1.0, 0.0), float(size))
    last = min(max(high + 2.0, 0.0), float(size))
    return int(first), int(last)


@compiled
def extents(solids, nodes, i):
    """Return the low and high corner of the box around solid `i`, in its own space."""
    kind = int(solids[i, KIND])
    a, b, c = solids[i, PAR], solids[i, PAR + 1], solids[i, PAR + 2]
    if kind == MESH:
        root = int(solids[i, ROOT])
        return nodes[root, 0], nodes[root, 1], nodes[root, 2], nodes[root, 3], nodes[root, 4], nodes[root, 5]
    if kind == CYLINDER:
        a, b, c = a, a, b
    elif kind == CONE:
        a, b = max(a, b), max(a, b)
    elif kind != BOX:
        a, b, c = (1.0, 1.0, 1.0) if kind == SPHERE else (a + b, a + b, b)
    return -a, -b, -c, a, b, c


@compiled
def rectangle(solids, nodes, i, camera, width, height):
    """Return the rectangle of pixels (top, bottom, left, right) that solid `i` can cover, ends excluded."""
    x, y, z = solids[i, 0] - camera[0], solids[i, 1] - camera[1], solids[i, 2] - camera[2]
    across = x * camera[3] + y * camera[4] + z * camera[5]
    above = x * camera[6] + y * camera[7] + z * camera[8]
    along = x * camera[9] + y * camera[10] + z * camera[11]
    if along < -solids[i, REACH]:
        return 0, 0, 0, 0
    left, right = span(across, along, solids[i, REACH], camera[12], camera[13], width)
    top, bottom = span(-above, along, solids[i, REACH], camera[12], camera[14], height)
    if along <= solids[i, REACH] or top >= bottom or left >= right:
        return top, bottom, left, right
    ax, ay, az, bx, by, bz = extents(solids, nodes, i)
    scale = solids[i, SCALE]
    low_u, high_u, low_v, high_v = FAR, -FAR, FAR, -FAR
    for corner in range(8):
        px = scale * (bx if corner & 1 else ax)
        py = scale * (by if corner & 2 else ay)
        pz = scale * (bz if corner & 4 else az)
        qx = x + solids[i, TURN] * px + solids[i, TURN + 1] * py + solids[i, TURN + 2] * pz
        qy = y + solids[i, TURN + 3] * px + solids[i, TURN + 4] * py + solids[i, TURN + 5] * pz
        qz = z + solids[i, TURN + 6] * px + solids[i, TURN + 7] * py + solids[i, TURN + 8] * pz
        deep = qx * camera[9] + qy * camera[10] + qz * camera[11]
        if deep < 1e-3:
            return top, bottom, left, right
        u = camera[13] + camera[12] * (qx * camera[3] + qy * camera[4] + qz * camera[5]) / deep
        v = camera[14] - camera[12] * (qx * camera[6] + qy * camera[7] + qz * camera[8]) / deep
        low_u, high_u, low_v, high_v = min(low_u, u), max(high_u, u), min(low_v, v), max(high_v, v)
    left, right = max(left, int(max(low_u - 0.01, 0.0))), min(right, int(max(high_u + 1.01, 0.0)))
    top, bottom = max(top, int(max(low_v - 0.01, 0.0))), min(bottom, int(max(high_v + 1.01, 0.0)))
    return top, bottom, left, right


@compiled
def first_hits(solids, nodes, faces, camera, depth, who):
    """Fill `who` (height, width) with the solid at each pixel's centre, -1 for none, and `depth` with its distance.

    Initially `depth` must contain the distance to the ground or FAR, and `who` must be -1. Each solid is tried only in
    the rectangle that it can cover.
    """
    height, width = who.shape
    cx, cy, cz = camera[0], camera[1], camera[2]
    for i in range(solids.shape[0]):
        top, bottom, left, right = rectangle(solids, nodes, i, camera, width, height)
        for row in range(top, bottom):
            for column in range(left, right):
                dx, dy, dz = pixel_ray(camera, column + 0.5, row + 0.5)
                limit = depth[row, column]
                if passes(solids, i, cx, cy, cz, dx, dy, dz, limit):
                    t, _ = hit_solid(solids, nodes, faces, i, cx, cy, cz, dx, dy, dz, limit)
                    if t < limit:
                        depth[row, column] = t
                        who[row, column] = i
