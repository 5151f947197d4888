"""The input of renderers: solids, materials, lights, ground and camera, and their packed arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from generation.engine.errors import BadScene
from generation.engine.render.mesh import Mesh
from generation.engine.render.shapes import BOX, CONE, CYLINDER, MESH, SPHERE, TORUS

Vector = tuple[float, float, float]
Turn = tuple[Vector, Vector, Vector]

UPRIGHT: Turn = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Solid:
    """One primitive of one object.

    Parameters
    ----------
    kind : int
        SPHERE, BOX, CYLINDER, CONE, TORUS or MESH of `shapes`.
    centre : (x, y, z)
        Scene units.
    scale : float
        Scene units per unit of the solid's own space.
    turn : 3 rows of 3
        Rotation from the solid's space to the scene's.
    par : up to 4 floats
        The solid's size in its own space; see the table in `shapes`.
    object : int
        The number of the object that it belongs to, from 0. Several solids may form one object.
    material : int
        Index of its material.
    mesh : Mesh or None
        The triangles of a MESH.
    """

    kind: int
    centre: Vector
    scale: float
    object: int
    material: int
    par: tuple[float, ...] = ()
    turn: Turn = UPRIGHT
    mesh: Mesh | None = None


@dataclass(frozen=True)
class SurfaceMaterial:
    """How a surface reflects light.

    Parameters
    ----------
    colour : (r, g, b)
        Share of light that is reflected, linear, 0 to 1.
    metal : bool
        Mirror-like metal, or matte.
    roughness : float
        Metal: how far reflections spread, 0 for a perfect mirror. Matte: 0 to 1, the width of the sheen.
    gloss : float
        Matte only: the strength of the sheen.
    brushed : float
        Metal cylinders and cones only: how far the grooves of a lathe tilt the surface. They stretch reflections along
        the sides and turn highlights into wedges on the caps.
    shine : float
        Metal only: how strongly it mirrors the lamps, relative to the physical value. The rims of cylinders always have
        1.
    """

    colour: Vector
    metal: bool = False
    roughness: float = 0.05
    gloss: float = 0.04
    brushed: float = 0.0
    shine: float = 1.0


@dataclass(frozen=True)
class Light:
    """A square lamp.

    Parameters
    ----------
    place, target : (x, y, z)
        Its position, and the point that it faces.
    power : (r, g, b)
        Light on a surface that faces it at distance 1 along its axis.
    width : float
        Its side in scene units.
    spread : bool
        True: a flat panel, which gives less light to its sides. False: the same light in all directions.
    """

    place: Vector
    power: Vector
    width: float = 0.5
    target: Vector = (0.0, 0.0, 0.0)
    spread: bool = True


@dataclass(frozen=True)
class Surroundings:
    """The ground plane and what is above it.

    Parameters
    ----------
    ground : (r, g, b)
        Share of light that the ground reflects.
    height : float
        Its z.
    zenith, horizon : (r, g, b)
        Light from the zenith and from the horizon.
    bounce : (r, g, b)
        Light from the ground where it is not traced.
    glow : (r, g, b)
        Light of a backdrop in addition to the sky's; only mirrors show it.
    glow_from : unit vector
        The direction of the backdrop's middle; it fades from 40 to 70 degrees away.
    """

    ground: Vector = (0.5, 0.5, 0.5)
    height: float = 0.0
    zenith: Vector = (0.1, 0.1, 0.1)
    horizon: Vector = (0.1, 0.1, 0.1)
    bounce: Vector = (0.2, 0.2, 0.2)
    glow: Vector = (0.0, 0.0, 0.0)
    glow_from: Vector = (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Camera:
    """A pinhole camera.

    Parameters
    ----------
    place : (x, y, z)
        Scene units.
    right, up, forward : unit vectors
        Its axes.
    focal : float
        Focal length in pixels.
    width, height : int
        Size of the picture in pixels; the axis goes through the middle.
    """

    place: Vector
    right: Vector
    up: Vector
    forward: Vector
    focal: float
    width: int
    height: int


@dataclass(frozen=True)
class Stage:
    """Everything in one picture."""

    solids: Sequence[Solid]
    materials: Sequence[SurfaceMaterial]
    lights: Sequence[Light] = field(default_factory=tuple)
    surroundings: Surroundings = field(default_factory=Surroundings)


class PackedSolids(NamedTuple):
    """A stage's solids as three float64 arrays; compiled code takes them in this order.

    Parameters
    ----------
    solids : (n, 23)
        The columns are named below, from CENTRE on. Positions and lengths are in scene units.
    nodes : (m, 8)
        The trees of all meshes: low corner, high corner, two links (`shapes.hit_mesh`).
    faces : (k, 18)
        Their triangles: three corners, three normals.
    """

    solids: np.ndarray
    nodes: np.ndarray
    faces: np.ndarray


# Columns of PackedSolids.solids. TURN is nine numbers, row by row. BALL is the radius of a ball that hides as much
# light. REACH is the radius of the ball around the centre that contains the whole solid.
CENTRE, TURN, SCALE, PAR, REACH, BALL, KIND, MATERIAL, ROOT, OWNER = 0, 3, 12, 13, 17, 18, 19, 20, 21, 22
COLUMNS = 23
SHARPEST = 1e-3  # the smallest bevel: on a perfectly sharp edge the normal would depend on rounding


def pack_solids(stage: Stage) -> PackedSolids:
    """Return the stage's solids as arrays.

    Raises
    ------
    BadScene
        If a solid has numbers that are not finite, a size not above 0, or an unknown material.
    """
    solids = stage.solids
    for index, solid in enumerate(solids):
        _check(solid, len(stage.materials), where=f"solids[{index}]")
    meshes = {id(solid.mesh): solid.mesh for solid in solids if solid.mesh is not None}
    roots, nodes, faces = _pack_meshes(list(meshes.values()))
    first = dict(zip(meshes, roots, strict=True))
    rows = [_pack_solid(solid, first.get(id(solid.mesh), 0)) for solid in solids]
    return PackedSolids(np.array(rows, dtype=np.float64).reshape(len(rows), COLUMNS), nodes, faces)


def _pack_solid(solid: Solid, root: int) -> tuple[float, ...]:
    """Return one solid's row."""
    turn = (value for row in solid.turn for value in row)
    par = [*solid.par, 0.0, 0.0, 0.0, 0.0][:4]
    if solid.kind in (BOX, CYLINDER):
        bevel = 3 if solid.kind == BOX else 2
        par[bevel] = max(par[bevel], SHARPEST)
    sizes = (unit_reach(solid) * solid.scale, unit_ball(solid) * solid.scale)
    return (*solid.centre, *turn, solid.scale, *par, *sizes, solid.kind, solid.material, root, solid.object)


def unit_reach(solid: Solid) -> float:
    """Return the radius of the ball around the solid's centre that contains it, in the solid's own space."""
    par = solid.par
    if solid.kind == BOX:
        a, b, c, skin = par
        core = math.sqrt((a - skin) ** 2 + (b - skin) ** 2 + (c - skin) ** 2)
        return core + skin + 1e-6
    if solid.kind == CYLINDER:
        return math.sqrt((par[0] - par[2]) ** 2 + (par[1] - par[2]) ** 2) + par[2] + 1e-6
    if solid.kind == CONE:
        return math.sqrt(max(par[0], par[1]) ** 2 + par[2] ** 2) + 1e-6
    if solid.kind == TORUS:
        return par[0] + par[1] + 1e-6
    if solid.kind == MESH and solid.mesh is not None:
        return solid.mesh.reach + 1e-6
    return 1.0 + 1e-6


def unit_ball(solid: Solid) -> float:
    """Return the radius of a ball of about the same volume, in the solid's own space."""
    par = solid.par
    if solid.kind == BOX:
        return (par[0] * par[1] * par[2] * 6.0 / math.pi) ** (1.0 / 3.0)
    if solid.kind == CYLINDER:
        return (par[0] * par[0] * par[1] * 1.5) ** (1.0 / 3.0)
    if solid.kind == CONE:
        return ((par[0] ** 2 + par[0] * par[1] + par[1] ** 2) * par[2] / 2.0) ** (1.0 / 3.0)
    if solid.kind == TORUS:
        return (1.5 * math.pi * par[0] * par[1] ** 2) ** (1.0 / 3.0)
    if solid.kind == MESH and solid.mesh is not None:
        low, high = solid.mesh.bounds[0, :3], solid.mesh.bounds[0, 3:]
        return min(1.0, float(0.4 * np.prod(high - low)) ** (1.0 / 3.0) * 0.62)
    return 1.0


def pack_camera(camera: Camera) -> np.ndarray:
    """Return the camera as 15 floats: place, right, up, forward, focal length, half width, half height."""
    rest = (camera.focal, camera.width / 2, camera.height / 2)
    return np.array([*camera.place, *camera.right, *camera.up, *camera.forward, *rest], dtype=np.float64)


def pack_materials(materials: Sequence[SurfaceMaterial]) -> np.ndarray:
    """Return (n, 8): red, green, blue, metal (1) or matte (0), roughness, gloss, brushed, shine."""
    rows = [(*m.colour, float(m.metal), m.roughness, m.gloss, m.brushed, m.shine) for m in materials]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 8)


def pack_lights(lights: Sequence[Light]) -> np.ndarray:
    """Return (n, 17): place, half side a, half side b, axis, power, spread, half the diagonal."""
    return np.array([_pack_light(light) for light in lights], dtype=np.float64).reshape(len(lights), 17)


def pack_surroundings(around: Surroundings) -> np.ndarray:
    """Return (6, 3): ground, zenith, horizon, bounce, glow, where the glow comes from."""
    rows = (around.ground, around.zenith, around.horizon, around.bounce, around.glow, around.glow_from)
    return np.array(rows, dtype=np.float64)


def _pack_light(light: Light) -> list[float]:
    a, b, axis = _light_frame(light)
    half = light.width / 2
    return [*light.place, *(a * half), *(b * half), *axis, *light.power, float(light.spread), half * math.sqrt(2.0)]


def light_axes(light: Light) -> tuple[Vector, Vector, Vector]:
    """Return a lamp's unit vectors in a camera's form: right, up, and forward, the direction in which it shines."""
    a, b, axis = _light_frame(light)
    right, up, forward = a.tolist(), (-b).tolist(), axis.tolist()
    return tuple(right), tuple(up), tuple(forward)


def _light_frame(light: Light) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the unit vectors along a lamp's two sides, and the direction in which it shines."""
    axis = np.array(light.target) - np.array(light.place)
    axis = axis / math.sqrt(float((axis**2).sum()))
    side = np.array([1.0, 0.0, 0.0]) if abs(axis[2]) > 0.99 else np.array([0.0, 0.0, 1.0])
    a = np.cross(axis, side)
    a = a / math.sqrt(float((a**2).sum()))
    return a, np.cross(axis, a), axis


def _pack_meshes(meshes: Sequence[Mesh]) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return the meshes' root nodes, and the nodes and faces of all meshes in order."""
    roots, nodes, faces = [], [np.empty((0, 8))], [np.empty((0, 18))]
    for mesh in meshes:
        at, behind = sum(map(len, nodes)), sum(map(len, faces))
        leaf = mesh.links[:, 1:] < 0
        links = mesh.links + np.where(leaf, [[behind, 0]], [[at, at]])
        roots.append(at)
        nodes.append(np.concatenate([mesh.bounds, links], axis=1))
        faces.append(np.concatenate([mesh.triangles, mesh.normals], axis=1))
    return roots, np.concatenate(nodes), np.concatenate(faces)


def _check(solid: Solid, materials: int, *, where: str) -> None:
    """Raise BadScene if the tracer cannot draw the solid."""
    numbers = (*solid.centre, solid.scale, *solid.par, *(value for row in solid.turn for value in row))
    if not all(math.isfinite(value) for value in numbers) or solid.scale <= 0:
        raise BadScene(f"Expected finite numbers and a scale above 0, got {solid}.", where=where)
    if solid.kind not in (SPHERE, BOX, CYLINDER, CONE, TORUS, MESH) or (solid.kind == MESH) != (solid.mesh is not None):
        raise BadScene(f"Expected a known kind, and a mesh for MESH alone, got kind {solid.kind}.", where=where)
    if not 0 <= solid.material < materials:
        raise BadScene(f"Expected a material from 0 to {materials - 1}, got {solid.material}.", where=where)
    if not 0 <= solid.object < 65535:
        raise BadScene(f"Expected an object from 0 to 65534, got {solid.object}.", where=where)
