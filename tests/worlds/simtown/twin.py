"""SimTown computed in slow and obvious ways: the camera by hand, relations by geometry, pictures by brute force."""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numba
import numpy as np
from numpy.typing import NDArray

from generation.engine.render.rays import hit_solid
from generation.engine.render.render_scene import (
    KIND,
    OWNER,
    PAR,
    REACH,
    SCALE,
    TURN,
    Camera,
    PackedSolids,
    Solid,
    Stage,
    SurfaceMaterial,
    pack_solids,
)
from generation.engine.render.shapes import BOX, CYLINDER
from generation.engine.worlds.simtown.camera import FOCAL, PLACE, TARGET
from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.parts import Part
from generation.engine.worlds.simtown.road import sizes
from generation.engine.worlds.simtown.scene import SimTownScene, Vehicle

Floats = NDArray[np.float64]

EYE = np.array(PLACE)
FORWARD = (np.array(TARGET) - EYE) / np.linalg.norm(np.array(TARGET) - EYE)
RIGHT = np.cross(FORWARD, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(FORWARD, [0.0, 0.0, 1.0]))
UP = np.cross(RIGHT, FORWARD)
AWAY = np.cross([0.0, 0.0, 1.0], RIGHT)  # level, away from the camera
DIRECTIONS = {"right": RIGHT, "left": -RIGHT, "behind": AWAY, "front": -AWAY}


def metres(one: Vehicle, two: Vehicle, relation: str) -> float:
    """Return how far one vehicle is left of another, or right of, behind, in front of it; millimetres decide."""
    places = [round(float(np.array([each.x, each.y, 0.0]) @ DIRECTIONS[relation]), 3) for each in (one, two)]
    return round(places[0] - places[1], 3)


def is_true(scene: SimTownScene, subject: str, relation: str, other: str, *, margin: float) -> bool:
    """Return the answer to a question: both vehicles are there, and far enough apart in the right direction."""
    known = {one.entity: one for one in scene.vehicles}
    if subject not in known or other not in known:
        return False
    return metres(known[subject], known[other], relation) >= margin


def project(points: Floats) -> Floats:
    """Return where points (n, 3) appear (n, 2): right of and below the picture's middle, in widths of the picture."""
    away = points - EYE
    return FOCAL * np.stack([away @ RIGHT, -(away @ UP)], axis=1) / (away @ FORWARD)[:, None]


def box_in_picture(vehicle: Vehicle) -> tuple[float, float, float, float]:
    """Return the box (left, top, right, bottom) around the projected corners of a vehicle's box, in widths."""
    length, width, height = sizes()[vehicle.entity]
    corners = [
        (vehicle.x + a * length / 2, vehicle.y + b * width / 2, c * height)
        for a, b, c in product((-1, 1), (-1, 1), (0, 1))
    ]
    seen = project(np.array(corners))
    left, top = seen.min(axis=0)
    right, bottom = seen.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


@cache
def parts_of(entity: str) -> tuple[Part, ...]:
    return tuple(next(one for one in ENTITIES if one.name == entity).parts())


def placed(vehicles: Sequence[Vehicle]) -> PackedSolids:
    """Return the solids of vehicles; those in the far lane are turned by half a turn and drive towards -x."""
    solids = []
    for number, vehicle in enumerate(vehicles):
        heading = np.diag([-1.0, -1.0, 1.0]) if vehicle.lane == "far" else np.eye(3)
        for part in parts_of(vehicle.entity):
            x, y, z = heading @ np.array(part.centre) + np.array([vehicle.x, vehicle.y, 0.0])
            turn = tuple(tuple(map(float, row)) for row in heading @ np.array(part.turn))
            centre = (float(x), float(y), float(z))
            solids.append(
                Solid(part.kind, centre, part.scale, number, 0, par=part.par, turn=turn, mesh=part.mesh)  # type: ignore[arg-type]
            )
    return pack_solids(Stage(solids, [SurfaceMaterial((1.0, 1.0, 1.0))]))


@numba.njit(error_model="numpy")
def _sharp(kind, px, py, pz, vx, vy, vz, a, b, c):  # type: ignore[no-untyped-def]
    """Return where a ray enters a box, or a cylinder of radius `a` and half length `b`: the nearest of its faces."""
    place, way, best = (px, py, pz), (vx, vy, vz), 1e9
    half = (a, b, c) if kind == BOX else (a, a, b)
    if kind == BOX and abs(px) <= a and abs(py) <= b and abs(pz) <= c:
        return best
    if kind != BOX and px * px + py * py <= a * a and abs(pz) <= b:
        return best
    for axis in range(0 if kind == BOX else 2, 3):
        for side in (-1.0, 1.0):
            t = (side * half[axis] - place[axis]) / way[axis]
            x, y, z = px + t * vx, py + t * vy, pz + t * vz
            if kind != BOX:
                on = x * x + y * y <= a * a
            else:
                on = (axis == 0 or abs(x) <= a) and (axis == 1 or abs(y) <= b) and (axis == 2 or abs(z) <= c)
            if on and 0.0 < t < best:
                best = t
    if kind != BOX:
        flat, middle = vx * vx + vy * vy, px * vx + py * vy
        under = middle * middle - flat * (px * px + py * py - a * a)
        if under >= 0.0:
            for side in (-1.0, 1.0):
                t = (side * np.sqrt(under) - middle) / flat
                if 0.0 < t < best and abs(pz + t * vz) <= b:
                    best = t
    return best


@numba.njit
def _turned_back(turn, x, y, z):  # type: ignore[no-untyped-def]
    return (
        turn[0] * x + turn[3] * y + turn[6] * z,
        turn[1] * x + turn[4] * y + turn[7] * z,
        turn[2] * x + turn[5] * y + turn[8] * z,
    )


@numba.njit(error_model="numpy")
def brute(solids, nodes, faces, rays, eye, sharp):  # type: ignore[no-untyped-def]
    """Return the solid that each ray (n, 3) hits first, -1 for none, and where; every ray tries every solid.

    With `sharp`, boxes and cylinders have no bevels.
    """
    found, depth = np.full(rays.shape[0], -1, np.int64), np.full(rays.shape[0], 1e9)
    for n in range(rays.shape[0]):
        if rays[n, 2] < 0.0:
            depth[n] = -eye[2] / rays[n, 2]  # the ground
    for i in range(solids.shape[0]):
        kind, scale = int(solids[i, KIND]), solids[i, SCALE]
        a, b, c = solids[i, PAR] * scale, solids[i, PAR + 1] * scale, solids[i, PAR + 2] * scale
        turn = solids[i, TURN : TURN + 9]
        x, y, z = eye[0] - solids[i, 0], eye[1] - solids[i, 1], eye[2] - solids[i, 2]
        px, py, pz = _turned_back(turn, x, y, z)
        for n in range(rays.shape[0]):
            dx, dy, dz = rays[n, 0], rays[n, 1], rays[n, 2]
            if sharp and kind in (BOX, CYLINDER):
                nearest = x * dx + y * dy + z * dz
                away = (x - nearest * dx) ** 2 + (y - nearest * dy) ** 2 + (z - nearest * dz) ** 2
                if away > solids[i, REACH] ** 2:  # corners end at the ball around the solid with its bevels
                    continue
                vx, vy, vz = _turned_back(turn, dx, dy, dz)
                t = _sharp(kind, px, py, pz, vx, vy, vz, a, b, c)
            else:
                t, _ = hit_solid(solids, nodes, faces, i, eye[0], eye[1], eye[2], dx, dy, dz, 1e9)
            if t < depth[n]:
                depth[n], found[n] = t, i
    return found, depth


def rays_of(camera: Camera) -> Floats:
    """Return the unit directions through all pixels' centres (height * width, 3), row by row."""
    columns, rows = np.meshgrid(np.arange(camera.width) + 0.5, np.arange(camera.height) + 0.5)
    u, v = (columns - camera.width / 2) / camera.focal, (camera.height / 2 - rows) / camera.focal
    rays = np.array(camera.forward) + u[..., None] * np.array(camera.right) + v[..., None] * np.array(camera.up)
    return (rays / np.linalg.norm(rays, axis=2, keepdims=True)).reshape(-1, 3)


def object_ids(vehicles: Sequence[Vehicle], *, width: int, height: int) -> NDArray[np.int64]:
    """Return which vehicle each pixel's centre shows (height, width): 0 for none, 1 for the first.

    Rays are traced near the boxes in which the vehicles appear.
    """
    axes = (tuple(map(float, axis)) for axis in (RIGHT, UP, FORWARD))
    camera = Camera(PLACE, *axes, focal=FOCAL * width, width=width, height=height)  # type: ignore[arg-type]
    packed, near = placed(vehicles), np.zeros((height, width), bool)
    for vehicle in vehicles:
        left, top, right, bottom = pixel_box(vehicle, width=width, height=height)
        near[max(top - 2, 0) : max(bottom + 3, 0), max(left - 2, 0) : max(right + 3, 0)] = True
    who = np.full(width * height, -1)
    who[near.ravel()] = brute(*packed, rays_of(camera)[near.ravel()], EYE, True)[0]
    owners = np.append(packed.solids[:, OWNER].astype(np.int64) + 1, 0)
    return owners[who].reshape(height, width)


def pixel_box(vehicle: Vehicle, *, width: int, height: int) -> tuple[int, int, int, int]:
    """Return the pixels (left, top, right, bottom) in which the corners of `box_in_picture` lie."""
    left, top, right, bottom = (width * value for value in box_in_picture(vehicle))
    places = (width / 2 + left, height / 2 + top, width / 2 + right, height / 2 + bottom)
    return tuple(int(np.floor(place)) for place in places)  # type: ignore[return-value]
