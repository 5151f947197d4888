"""Pictures of CLEVR scenes: objects and a view become a stage for the tracer."""

import math
from collections.abc import Sequence

import numpy as np

from generation.engine.errors import BadScene
from generation.engine.render import blender, shapes, tracer
from generation.engine.render.stage import Camera, Light, Material, Solid, Stage, Surroundings, Turn
from generation.engine.worlds.clevr.camera import Point, View, axes
from generation.engine.worlds.clevr.scene import SceneObject
from generation.engine.worlds.clevr.vocabulary import Vocabulary

# Fitted to a released picture: its four highlights give the lamps' directions, its ground their powers.
KEY_POWER = (6.27, 5.79, 4.89)
FILL_POWER = (1.43, 1.42, 2.03)
BACK_POWER = (2.64, 2.64, 2.8)
SUN: Point = (116.608, -66.2799, 258.232)
SUN_POWER = (14850.0, 14850.0, 14850.0)
SURROUNDINGS = Surroundings(
    ground=(0.8, 0.8, 0.8),
    zenith=(0.022, 0.022, 0.022),
    horizon=(0.022, 0.022, 0.022),
    bounce=(0.2, 0.2, 0.2),
    glow=(0.1, 0.1, 0.1),
    glow_from=(-0.7545, 0.6563, 0.0),
)
METAL_ROUGHNESS = 0.053
METAL_BRUSHED = 0.2
METAL_SHINE = {"cube": 1.7, "cylinder": 0.25, "cone": 0.25}
MATTE_ROUGHNESS = 0.5
MATTE_GLOSS = 0.05

TORUS_TUBE = 0.38
SOLIDS: dict[str, tuple[int, tuple[float, ...]]] = {
    "sphere": (shapes.SPHERE, ()),
    "cube": (shapes.BOX, (0.985, 0.985, 1.0, 0.15)),
    "cylinder": (shapes.CYLINDER, (1.0, 1.0, 0.04)),
    "cone": (shapes.CONE, (1.0, 0.0, 1.0)),
    "torus": (shapes.TORUS, (1.0 - TORUS_TUBE, TORUS_TUBE)),
    "mesh": (shapes.MESH, ()),
}


def draw(
    objects: Sequence[SceneObject], view: View, vocabulary: Vocabulary, *, samples: int = 16, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the picture of a scene and which object each pixel shows.

    Parameters
    ----------
    objects : sequence of SceneObject
        The scene.
    view : View
        Camera, lights and the picture's size.
    vocabulary : Vocabulary
        What the objects' names mean.
    samples : int
        Rays at edges and spots on lamps.
    seed : int
        Of the noise.

    Returns
    -------
    rgb : (height, width, 3) uint8
        sRGB.
    ids : (height, width) uint16
        0 for nothing, i + 1 for object i.
    """
    return tracer.render(stage_of(objects, view, vocabulary), camera(view), samples=samples, seed=seed)


def draw_by_blender(
    objects: Sequence[SceneObject],
    view: View,
    vocabulary: Vocabulary,
    *,
    samples: int = blender.SAMPLES,
    denoise: bool = False,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `draw` does, drawn by Blender; `samples` are paths through each pixel."""
    stage = stage_of(objects, view, vocabulary)
    return blender.render(stage, camera(view), samples=samples, denoise=denoise, seed=seed)


def stage_of(objects: Sequence[SceneObject], view: View, vocabulary: Vocabulary) -> Stage:
    """Return a scene as renderers take it."""
    solids, materials = primitives(objects, vocabulary)
    return Stage(solids=solids, materials=materials, lights=lamps(view), surroundings=SURROUNDINGS)


def draw_ids(objects: Sequence[SceneObject], view: View, vocabulary: Vocabulary) -> np.ndarray:
    """Return which object each pixel's centre shows, (height, width) uint16, as `draw` does but much faster."""
    solids, materials = primitives(objects, vocabulary)
    return tracer.object_ids(Stage(solids=solids, materials=materials), camera(view))


def primitives(objects: Sequence[SceneObject], vocabulary: Vocabulary) -> tuple[list[Solid], list[Material]]:
    """Return one solid and one material for each object, in the objects' order."""
    solids = [_solid(thing, vocabulary, number=number) for number, thing in enumerate(objects)]
    return solids, [_material(thing, vocabulary) for thing in objects]


def camera(view: View) -> Camera:
    """Return the tracer's camera for a view."""
    right, up, forward = axes(view)
    return Camera(
        place=view.camera,
        right=right,
        up=up,
        forward=forward,
        focal=view.focal_pixels,
        width=view.width,
        height=view.height,
    )


def lamps(view: View) -> list[Light]:
    """Return the lamps of a view: key, fill and back, and a soft one far away that never moves."""
    return [
        Light(place=view.key, power=KEY_POWER, width=0.5),
        Light(place=view.fill, power=FILL_POWER, width=0.5),
        Light(place=view.back, power=BACK_POWER, width=1.0),
        Light(place=SUN, power=SUN_POWER, width=35.0, spread=False),
    ]


def turned(degrees: float) -> Turn:
    """Return the rotation about z by some degrees, its numbers rounded so that every machine gets the same."""
    angle = math.radians(degrees % 360.0)
    cos, sin = round(math.cos(angle), 9), round(math.sin(angle), 9)
    return (cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)


def _solid(thing: SceneObject, vocabulary: Vocabulary, *, number: int) -> Solid:
    """Return the solid of one object."""
    shape = vocabulary.shapes[thing.shape]
    if shape.solid not in SOLIDS:
        known = ", ".join(SOLIDS)
        raise BadScene(f"Expected a solid out of {known}, got {shape.solid!r}.", where=f"shapes.{thing.shape}")
    kind, par = SOLIDS[shape.solid]
    mesh = vocabulary.meshes[shape.mesh] if shape.mesh is not None else None
    scale = float(vocabulary.sizes[thing.size].scale)
    x, y, z = (float(value) for value in thing.coords)
    if kind == shapes.TORUS:
        z -= scale * (1.0 - TORUS_TUBE)  # it lies on the ground
    return Solid(
        kind=kind,
        centre=(x, y, z),
        scale=scale,
        object=number,
        material=number,
        par=par,
        turn=turned(thing.rotation),
        mesh=mesh,
    )


def _material(thing: SceneObject, vocabulary: Vocabulary) -> Material:
    """Return the material of one object."""
    finish = vocabulary.materials[thing.material]
    metal = finish.kind == "metal"
    solid = vocabulary.shapes[thing.shape].solid
    rough = finish.roughness
    if rough is None:
        rough = METAL_ROUGHNESS if metal else MATTE_ROUGHNESS
    return Material(
        colour=vocabulary.colors[thing.color].light,
        metal=metal,
        roughness=rough,
        gloss=MATTE_GLOSS,
        brushed=METAL_BRUSHED,
        shine=METAL_SHINE.get(solid, 1.0),
    )
