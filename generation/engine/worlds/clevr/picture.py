"""Pictures of scenes, and samples of single colours."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene
from generation.engine.render import blender, shapes, tracer
from generation.engine.render.render_scene import Camera, Light, Solid, Stage, SurfaceMaterial, Surroundings, Turn
from generation.engine.worlds.clevr.camera import CAMERA, FOCAL, WIDTH, Point, View, axes
from generation.engine.worlds.clevr.scene import SceneObject
from generation.engine.worlds.clevr.vocabulary import ClevrVocabulary

# Fitted to a released picture: its four highlights give the directions of the lamps, its ground their powers.
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
    objects: Sequence[SceneObject], view: View, vocabulary: ClevrVocabulary, *, samples: int = 16, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the picture of a scene, and the object that each pixel shows.

    Parameters
    ----------
    objects : sequence of SceneObject
        The scene.
    view : View
        Camera, lights and the picture's size.
    vocabulary : Vocabulary
        The meaning of the objects' names.
    samples : int
        Number of rays at edges, and of points on each lamp.
    seed : int
        Seed of the noise.

    Returns
    -------
    rgb : (height, width, 3) uint8
        sRGB.
    ids : (height, width) uint16
        0 for no object, i + 1 for object i.
    """
    return tracer.render(stage_of(objects, view, vocabulary), camera(view), samples=samples, seed=seed)


def draw_by_blender(
    objects: Sequence[SceneObject],
    view: View,
    vocabulary: ClevrVocabulary,
    *,
    samples: int = blender.SAMPLES,
    denoise: bool = False,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as `draw`, drawn by Blender; `samples` is the number of paths through each pixel."""
    stage = stage_of(objects, view, vocabulary)
    return blender.render(stage, camera(view), samples=samples, denoise=denoise, seed=seed)


def stage_of(objects: Sequence[SceneObject], view: View, vocabulary: ClevrVocabulary) -> Stage:
    """Return a scene in the form that renderers take."""
    solids, materials = primitives(objects, vocabulary)
    return Stage(solids=solids, materials=materials, lights=lamps(view), surroundings=SURROUNDINGS)


def draw_ids(objects: Sequence[SceneObject], view: View, vocabulary: ClevrVocabulary) -> np.ndarray:
    """Return the ids that `draw` gives, (height, width) uint16, from pixel centres only, which is much faster."""
    solids, materials = primitives(objects, vocabulary)
    return tracer.object_ids(Stage(solids=solids, materials=materials), camera(view))


def primitives(
    objects: Sequence[SceneObject], vocabulary: ClevrVocabulary
) -> tuple[list[Solid], list[SurfaceMaterial]]:
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


def rotation(degrees: float) -> Turn:
    """Return the rotation about z by `degrees`; numbers are rounded so that every machine gets the same."""
    angle = math.radians(degrees % 360.0)
    cos, sin = round(math.cos(angle), 9), round(math.sin(angle), 9)
    return (cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)


def _solid(thing: SceneObject, vocabulary: ClevrVocabulary, *, number: int) -> Solid:
    shape = vocabulary.shapes[thing.shape]
    if shape.solid not in SOLIDS:
        known = ", ".join(SOLIDS)
        raise BadScene(f"Expected a solid out of {known}, got {shape.solid!r}.", where=f"shapes.{thing.shape}")
    kind, par = SOLIDS[shape.solid]
    mesh = vocabulary.meshes[shape.mesh] if shape.mesh is not None else None
    scale = float(vocabulary.sizes[thing.size].scale)
    x, y, z = (float(value) for value in thing.coords)
    if kind == shapes.TORUS:
        z -= scale * (1.0 - TORUS_TUBE)  # the torus lies on the ground
    return Solid(
        kind=kind,
        centre=(x, y, z),
        scale=scale,
        object=number,
        material=number,
        par=par,
        turn=rotation(thing.rotation),
        mesh=mesh,
    )


def _material(thing: SceneObject, vocabulary: ClevrVocabulary) -> SurfaceMaterial:
    finish = vocabulary.materials[thing.material]
    metal = finish.kind == "metal"
    solid = vocabulary.shapes[thing.shape].solid
    rough = finish.roughness
    if rough is None:
        rough = METAL_ROUGHNESS if metal else MATTE_ROUGHNESS
    return SurfaceMaterial(
        colour=vocabulary.colors[thing.color].light,
        metal=metal,
        roughness=rough,
        gloss=MATTE_GLOSS,
        brushed=METAL_BRUSHED,
        shine=METAL_SHINE.get(solid, 1.0),
    )


FILLS = 0.8  # share of the picture's width
SAMPLES = 32


def draw_swatch(color: str, vocabulary: ClevrVocabulary, *, which: int, size: int) -> NDArray[np.uint8]:
    """Return a picture of a sphere on the ground of CLEVR's scenes; without spheres, of the vocabulary's first shape.

    Parameters
    ----------
    color : str
        A colour's name.
    vocabulary : Vocabulary
    which : int
        The number of the material; numbers past the last material start again from the first.
    size : int
        Width and height in pixels.

    Returns
    -------
    (size, size, 3) uint8
        sRGB.
    """
    thing = _thing(color, vocabulary, which)
    distance = float(np.linalg.norm(np.array(CAMERA) - np.array(thing.coords)))
    pixels = FILLS * size / 2 * distance / thing.coords[2]
    view = View(focal=pixels * WIDTH / size, width=size, height=size)
    assert view.focal > FOCAL
    rgb, _ = draw([thing], view, vocabulary, samples=SAMPLES)
    return rgb


def _thing(color: str, vocabulary: ClevrVocabulary, which: int) -> SceneObject:
    """Return an object on the ground in the middle of the picture; it lies between the camera and the origin."""
    materials, sizes, names = (vocabulary.values(kind) for kind in ("material", "size", "shape"))
    size = max(sizes, key=lambda name: vocabulary.sizes[name].scale)
    shape = next((name for name in names if vocabulary.shapes[name].solid == "sphere"), names[0])
    height = float(vocabulary.sizes[size].scale)
    x, y, z = (axis * height / CAMERA[2] for axis in CAMERA)
    return SceneObject(shape, size, materials[which % len(materials)], color, (x, y, z), 0.0, (0.0, 0.0, 0.0))
