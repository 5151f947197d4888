"""What the samples of each pixel hit first, and the pixels at edges, which need several samples. Compiled, scalar."""

import numpy as np

from generation.engine.render.jit import compiled, inlined
from generation.engine.render.rays import ground_distance, hit_solid, pixel_ray, rectangle, unturned
from generation.engine.render.render_scene import KIND, PAR, REACH, SCALE
from generation.engine.render.shape_hits import slab, tube
from generation.engine.render.shapes import BOX, CYLINDER, FAR, NEAR

BEND = 0.15  # the change of slope from which a bent surface counts as an edge


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


@inlined
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
