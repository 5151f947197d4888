"""The visible share of each lamp at the surfaces that the camera sees. Compiled, scalar."""

import numpy as np

from generation.engine.render.jit import compiled, inlined
from generation.engine.render.rays import hit_solid, normal_at, pixel_ray
from generation.engine.render.render_scene import KIND, MATERIAL
from generation.engine.render.shading import irradiance, lamp_share
from generation.engine.render.shapes import CONE, FAR

LIFT = 2e-4


@inlined
def surface_at(solids, nodes, faces, who, camera, dx, dy, dz, t):
    """Return the point where a ray from the camera ends, lifted slightly off the surface, and the normal there."""
    x, y, z = camera[0] + t * dx, camera[1] + t * dy, camera[2] + t * dz
    if who < 0:
        return x, y, z + LIFT, 0.0, 0.0, 1.0
    face = -1
    if solids[who, KIND] > CONE:
        _, face = hit_solid(solids, nodes, faces, who, camera[0], camera[1], camera[2], dx, dy, dz, FAR)
    nx, ny, nz = normal_at(solids, nodes, faces, who, face, x, y, z, dx, dy, dz)
    return x + LIFT * nx, y + LIFT * ny, z + LIFT * nz, nx, ny, nz


@compiled
def itself(solids, who):
    """Return `who` if the solid is convex, so that it cannot shade itself, else -1."""
    return who if who >= 0 and solids[who, KIND] <= CONE else -1


@compiled
def agreed(shares, k, who, row, column, level):
    """Return the share, 0 or 1, on which the four surrounding pixels of coarser levels agree; -2 if they do not.

    Level 0 is the pixels with even row and column, level 1 those with odd row and column, level 2 the rest.
    """
    height, width = who.shape
    if level == 0 or row == 0 or column == 0 or row == height - 1 or column == width - 1:
        return -2.0
    value = shares[k, row - 1, column - 1] if level == 1 else shares[k, row - 1, column]
    if value != 0.0 and value != 1.0:
        return -2.0
    for n in range(4):
        if level == 1:
            a, b = row - 1 + 2 * (n & 1), column - 1 + 2 * (n >> 1)
        else:
            a, b = row + (n == 0) - (n == 1), column + (n == 2) - (n == 3)
        if shares[k, a, b] != value or who[a, b] != who[row, column]:
            return -2.0
    return value


@compiled
def lamp_shares(solids, nodes, faces, materials, lights, camera, who, depth, side, seed):
    """Return (lights, height, width) float32: the visible share of each lamp at each pixel's surface, -1 if unlit.

    A quarter of the pixels is sampled first; the others only if surrounding pixels disagree or are half in shadow.
    """
    height, width = who.shape
    shares = np.full((lights.shape[0], height, width), np.float32(-1.0))
    some = np.empty(solids.shape[0], np.int64)
    for level in range(3):
        for row in range(1 if level == 1 else 0, height, 1 if level == 2 else 2):
            first = 1 - row % 2 if level == 2 else row % 2
            for column in range(first, width, 2):
                i = who[row, column]
                if depth[row, column] == FAR or (i >= 0 and materials[int(solids[i, MATERIAL]), 3] > 0.0):
                    continue
                dx, dy, dz = pixel_ray(camera, column + 0.5, row + 0.5)
                x, y, z, nx, ny, nz = surface_at(solids, nodes, faces, i, camera, dx, dy, dz, depth[row, column])
                tile = (row & 3) * 4 + (column & 3)
                u = (tile * 7 + seed * 5) % 16 / 16.0 + 1.0 / 32.0
                v = (tile * 5 + tile // 4 * 3 + seed * 3) % 16 / 16.0 + 1.0 / 32.0
                for k in range(lights.shape[0]):
                    strength, _, _, _ = irradiance(lights, k, x, y, z, nx, ny, nz)
                    if strength <= 0.0:
                        continue
                    share = agreed(shares, k, who, row, column, level)
                    if share < 0.0:
                        share = lamp_share(
                            solids,
                            nodes,
                            faces,
                            lights,
                            k,
                            itself(solids, i),
                            x,
                            y,
                            z,
                            side,
                            u,
                            v,
                            (row + column) & 1,
                            some,
                        )
                    shares[k, row, column] = share
    return shares


@compiled
def smoothed(shares, k, who, row, column):
    """Return the mean of a lamp's shares over the 5 x 5 pixels around a pixel that show the same solid.

    The outermost pixels count half, so that the window is exactly one period of the sampling pattern wide.
    """
    if shares[k, row, column] < 0.0:
        return -1.0
    total, weight = 0.0, 0.0
    height, width = who.shape
    for a in range(max(row - 2, 0), min(row + 3, height)):
        for b in range(max(column - 2, 0), min(column + 3, width)):
            if shares[k, a, b] >= 0.0 and who[a, b] == who[row, column]:
                w = (0.5 if abs(a - row) == 2 else 1.0) * (0.5 if abs(b - column) == 2 else 1.0)
                total += w * shares[k, a, b]
                weight += w
    return total / weight


@compiled
def is_even(shares, k, row, column):
    """Return whether a lamp's share is the same two pixels away in all directions, so that it needs no smoothing."""
    height, width = shares.shape[1:]
    own = shares[k, row, column]
    a, b = max(row - 2, 0), min(row + 2, height - 1)
    c, d = max(column - 2, 0), min(column + 2, width - 1)
    return (
        shares[k, a, c] == own
        and shares[k, a, d] == own
        and shares[k, b, c] == own
        and shares[k, b, d] == own
        and shares[k, row, c] == own
        and shares[k, row, d] == own
        and shares[k, a, column] == own
        and shares[k, b, column] == own
    )


@compiled
def smooth_shares(shares, who):
    """Return smoothed shares: without the sampling pattern, but with sharp edges between solids."""
    lamps, height, width = shares.shape
    smooth = np.empty_like(shares)
    for k in range(lamps):
        for row in range(height):
            for column in range(width):
                if is_even(shares, k, row, column):
                    smooth[k, row, column] = shares[k, row, column]
                else:
                    smooth[k, row, column] = smoothed(shares, k, who, row, column)
    return smooth


@compiled
def borrowed(shares, who, k, i, row, column):
    """Return the share of lamp `k` at solid `i` near a pixel; -1 if no pixel around it has one."""
    if who[row, column] == i and shares[k, row, column] >= 0.0:
        return shares[k, row, column]
    height, width = who.shape
    for a in range(max(row - 1, 0), min(row + 2, height)):
        for b in range(max(column - 1, 0), min(column + 2, width)):
            if who[a, b] == i and shares[k, a, b] >= 0.0:
                return shares[k, a, b]
    return -1.0
