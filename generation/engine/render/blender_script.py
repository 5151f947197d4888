"""The program that draws with Blender. The Python of `.venv-blender` runs it; our code never imports it.

    python blender_script.py FOLDER

Each line on standard input is an order and each line on standard output an answer, both in JSON. Pictures are PNG
files in FOLDER. The first answer says that the program is ready. The program ends immediately when its standard input
is closed, because then no process waits for its answers.

All values are in the scene's units and in linear light, as in the stage. This program knows nothing about worlds.
"""

import base64
import json
import math
import os
import queue
import shutil
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

BOUNCES = 8
FAR, NEAR = 5000.0, 60.0  # half the side of the ground, and of its middle part, where rounding must not be visible
POWER = math.pi**2  # watts of a lamp that gives light 1 on a surface that faces it at distance 1
GROOVES = 0.4  # how far a lathe's grooves tilt the surface, as a share of the tilt in the tracer
BACKDROP = (0.35, 0.77)  # cosines of the angles from the middle of the glow between which it fades


class BlenderScene:
    """Blender's scene, in which one order after another is set up and drawn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.surfaces: dict[str, Any] = {}
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.layer = bpy.context.view_layer
        _settle(self.scene)
        self.flat = _flat()
        self.ground = self._ground()

    def draw(self, order: dict[str, Any]) -> dict[str, Any]:
        """Draw a picture and its object ids; return the files' names."""
        for name, surface in order["surfaces"].items():
            self.surfaces[name] = _mesh(name, surface)
        made = self._set_up(order)
        try:
            picture, ids = self._picture(order), self._ids()
        finally:
            _take_down(made)
        return {"picture": picture, "ids": ids}

    def _set_up(self, order: dict[str, Any]) -> list[Any]:
        """Create and place everything; return what must be deleted afterwards."""
        around = order["surroundings"]
        materials = [_material(material) for material in order["materials"]]
        soil = _matte((*around["ground"], 1.0))
        self.ground.material_slots[0].material = soil
        self.ground.location = (0.0, 0.0, around["height"])
        solids = [self._solid(solid, materials) for solid in order["solids"]]
        lamps = [_lamp(light) for light in order["lights"]]
        camera = _camera(order["camera"])
        self.scene.camera = camera
        self.scene.world = _world(around)
        for made in (*solids, *lamps, camera):
            self.scene.collection.objects.link(made)
        self.scene.render.resolution_x, self.scene.render.resolution_y = order["camera"]["size"]
        return [*solids, *lamps, camera, *materials, soil, self.scene.world]

    def _solid(self, solid: dict[str, Any], materials: list[Any]) -> Any:
        made = bpy.data.objects.new("solid", self.surfaces[solid["surface"]])
        made.material_slots[0].link = "OBJECT"
        made.material_slots[0].material = materials[solid["material"]]
        turn, scale = np.array(solid["turn"]), solid["scale"]
        place = np.eye(4)
        place[:3, :3], place[:3, 3] = turn * scale, solid["centre"]
        made.matrix_world = Matrix(place.tolist())
        number = solid["object"] + 1
        made.color = (number % 256 / 255.0, number // 256 / 255.0, 0.0, 1.0)
        return made

    def _ground(self) -> Any:
        sides = (-FAR, -NEAR, NEAR, FAR)
        points = [(x, y, 0.0) for y in sides for x in sides]
        cells = [(k, k + 1, k + 5, k + 4) for k in (0, 1, 2, 4, 5, 6, 8, 9, 10)]
        mesh = bpy.data.meshes.new("ground")
        mesh.from_pydata(points, [], cells)
        mesh.materials.append(None)
        ground = bpy.data.objects.new("ground", mesh)
        ground.material_slots[0].link = "OBJECT"
        ground.color = (0.0, 0.0, 0.0, 1.0)
        self.scene.collection.objects.link(ground)
        return ground

    def _picture(self, order: dict[str, Any]) -> str:
        """Return the name of the file with the picture."""
        cycles, view = self.scene.cycles, self.scene.view_settings
        cycles.samples, cycles.seed = order["samples"], order["seed"]
        cycles.use_denoising = order["denoise"]
        cycles.max_bounces = BOUNCES
        cycles.pixel_filter_type, cycles.filter_width = "BLACKMAN_HARRIS", 1.5
        self.scene.render.threads = order["threads"]
        self.layer.material_override = None
        view.view_transform = "Standard"
        return self._render("picture.png", dither=1.0)

    def _ids(self) -> str:
        """Return the name of the file with the object ids: low byte red, high byte green, one ray per pixel centre."""
        cycles, view = self.scene.cycles, self.scene.view_settings
        cycles.samples, cycles.seed = 1, 0
        cycles.use_denoising = False
        cycles.max_bounces = 0
        cycles.pixel_filter_type, cycles.filter_width = "BOX", 0.01
        self.layer.material_override = self.flat
        view.view_transform = "Raw"
        world, self.scene.world = self.scene.world, None
        try:
            return self._render("ids.png", dither=0.0)
        finally:
            self.scene.world = world

    def _render(self, name: str, *, dither: float) -> str:
        self.scene.render.dither_intensity = dither
        self.scene.render.filepath = str(self.folder / name)
        bpy.ops.render.render(write_still=True)
        return name


def _settle(scene: Any) -> None:
    """Set the options that are the same for all orders."""
    render, cycles = scene.render, scene.cycles
    render.engine, cycles.device = "CYCLES", "CPU"
    render.resolution_percentage = 100
    render.pixel_aspect_x = render.pixel_aspect_y = 1.0
    render.threads_mode = "FIXED"
    render.film_transparent = render.use_compositing = render.use_sequencer = False
    image = render.image_settings
    image.file_format, image.color_mode, image.color_depth, image.compression = "PNG", "RGB", "8", 15
    scene.display_settings.display_device = "sRGB"
    scene.view_settings.look = "None"
    scene.view_settings.exposure, scene.view_settings.gamma = 0.0, 1.0
    cycles.use_adaptive_sampling = False
    cycles.use_light_tree = False  # with few lamps it takes a third longer and removes no noise
    cycles.denoiser = "OPENIMAGEDENOISE"
    for kind in ("diffuse_bounces", "glossy_bounces", "transmission_bounces", "transparent_max_bounces"):
        setattr(cycles, kind, BOUNCES)
    cycles.blur_glossy = 1.0
    cycles.use_animated_seed = False


def _mesh(name: str, surface: dict[str, Any]) -> Any:
    """Return a mesh with a surface's triangles and its smooth normals."""
    points = _array(surface["points"], np.float32)
    normals = _array(surface["normals"], np.float32)
    triangles = _array(surface["triangles"], np.int32)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], triangles.tolist(), shade_flat=False)
    mesh.normals_split_custom_set_from_vertices(normals.tolist())
    mesh.materials.append(None)
    mesh.use_fake_user = True
    return mesh


def _array(text: str, kind: Any) -> Any:
    return np.frombuffer(base64.b64decode(text), dtype=np.dtype(kind).newbyteorder("<")).reshape(-1, 3)


class _Nodes:
    """The nodes of a material or a world; `add` returns one with its inputs set."""

    def __init__(self, owner: Any) -> None:
        self.tree = owner.node_tree
        self.tree.nodes.clear()

    def add(self, kind: str, /, *, inputs: dict[Any, Any] | None = None, **settings: Any) -> Any:
        node = self.tree.nodes.new(kind)
        for name, value in settings.items():
            setattr(node, name, value)
        for name, value in (inputs or {}).items():
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, node.inputs[name])
            else:
                node.inputs[name].default_value = value
        return node

    def shown(self, kind: str, surface: Any) -> None:
        """Connect a shader to the output of the material or world."""
        self.add(kind, inputs={"Surface": surface})


def _new_material() -> tuple[Any, _Nodes]:
    material = bpy.data.materials.new("material")
    return material, _Nodes(material)


def _material(data: dict[str, Any]) -> Any:
    colour = (*data["colour"], 1.0)
    if data["metal"]:
        return _metal(colour, data["roughness"], data["brushed"])
    return _matte(colour, data["roughness"], data["gloss"])


def _matte(colour: Any, roughness: float = 0.0, gloss: float = 0.0) -> Any:
    """Return a matte material with a wide sheen."""
    material, nodes = _new_material()
    surface = nodes.add("ShaderNodeBsdfDiffuse", inputs={"Color": colour}).outputs[0]
    if gloss > 0.0:
        wide = {"Color": (gloss, gloss, gloss, 1.0), "Roughness": math.sqrt(max(roughness, 0.05))}
        sheen = nodes.add("ShaderNodeBsdfAnisotropic", inputs=wide, distribution="GGX").outputs[0]
        surface = nodes.add("ShaderNodeAddShader", inputs={0: surface, 1: sheen}).outputs[0]
    nodes.shown("ShaderNodeOutputMaterial", surface)
    return material


def _metal(colour: Any, roughness: float, brushed: float) -> Any:
    """Return a mirror of tiny facets, tilted by `roughness`, and by `brushed` more across the grooves of a lathe."""
    material, nodes = _new_material()
    inputs: dict[Any, Any] = {"Color": colour}
    along = math.hypot(roughness, GROOVES * brushed)
    narrow = max(roughness, 1e-4)
    inputs["Roughness"] = math.sqrt(math.sqrt(narrow * along))  # Cycles squares it
    inputs["Anisotropy"] = 1.0 - math.sqrt(narrow / along) if brushed > 0.0 else 0.0
    inputs["Tangent"] = nodes.add("ShaderNodeTangent", direction_type="RADIAL", axis="Z").outputs[0]
    mirror = nodes.add("ShaderNodeBsdfAnisotropic", inputs=inputs, distribution="GGX")
    nodes.shown("ShaderNodeOutputMaterial", mirror.outputs[0])
    return material


def _flat() -> Any:
    """Return a material that emits the object's colour."""
    material, nodes = _new_material()
    colour = nodes.add("ShaderNodeObjectInfo").outputs["Color"]
    glow = nodes.add("ShaderNodeEmission", inputs={"Color": colour, "Strength": 1.0})
    nodes.shown("ShaderNodeOutputMaterial", glow.outputs[0])
    material.cycles.emission_sampling = "NONE"  # otherwise each triangle would be prepared as a lamp
    material.use_fake_user = True
    return material


def _lamp(light: dict[str, Any]) -> Any:
    """Return a square lamp that gives light and is visible in mirrors, but not to the camera."""
    data = bpy.data.lights.new("lamp", "AREA")
    data.shape, data.size = "SQUARE", light["width"]
    strongest = max(light["power"])
    data.energy = POWER * strongest
    data.color = [value / strongest for value in light["power"]] if strongest > 0 else (0.0, 0.0, 0.0)
    lamp = bpy.data.objects.new("lamp", data)
    lamp.matrix_world = _matrix(light["place"], light["right"], light["up"], light["forward"])
    lamp.visible_camera = False
    return lamp


def _camera(data: dict[str, Any]) -> Any:
    lens = bpy.data.cameras.new("camera")
    lens.sensor_fit, lens.sensor_width = "HORIZONTAL", 36.0
    lens.lens = data["focal"] * lens.sensor_width / data["size"][0]
    lens.clip_start, lens.clip_end = 1e-3, 10 * FAR
    camera = bpy.data.objects.new("camera", lens)
    camera.matrix_world = _matrix(data["place"], data["right"], data["up"], data["forward"])
    return camera


def _matrix(place: Any, right: Any, up: Any, forward: Any) -> Any:
    """Return the placement of an object that looks along `forward`. Blender's cameras and lamps look along -z."""
    columns = np.eye(4)
    columns[:3, 0], columns[:3, 1], columns[:3, 2], columns[:3, 3] = right, up, -np.array(forward), place
    return Matrix(columns.tolist())


def _world(around: dict[str, Any]) -> Any:
    """Return the sky: a gradient from horizon to zenith, and a glowing backdrop that only mirrors show."""
    world = bpy.data.worlds.new("sky")
    world.cycles.sampling_method = "NONE"
    nodes = _Nodes(world)
    toward = nodes.add("ShaderNodeTexCoord").outputs["Generated"]  # direction of the ray
    height = nodes.add("ShaderNodeSeparateXYZ", inputs={0: toward}).outputs["Z"]
    sky = _mixed(nodes, height, around["horizon"], around["zenith"])
    near = nodes.add("ShaderNodeVectorMath", operation="DOT_PRODUCT", inputs={0: toward, 1: around["glow_from"]})
    low, high = BACKDROP
    fade = nodes.add("ShaderNodeMapRange", interpolation_type="SMOOTHSTEP", inputs={1: low, 2: high})
    nodes.tree.links.new(near.outputs["Value"], fade.inputs[0])
    mirrored = nodes.add("ShaderNodeLightPath").outputs["Is Glossy Ray"]
    share = nodes.add("ShaderNodeMath", operation="MULTIPLY", inputs={0: fade.outputs[0], 1: mirrored}).outputs[0]
    glow = _mixed(nodes, share, (0.0, 0.0, 0.0), around["glow"])
    light = nodes.add("ShaderNodeVectorMath", operation="ADD", inputs={0: sky, 1: glow}).outputs[0]
    shown = nodes.add("ShaderNodeBackground", inputs={"Color": light, "Strength": 1.0})
    nodes.shown("ShaderNodeOutputWorld", shown.outputs[0])
    return world


def _mixed(nodes: _Nodes, share: Any, one: Any, other: Any) -> Any:
    mixed = nodes.add("ShaderNodeMix", data_type="VECTOR", inputs={0: share, 4: tuple(one), 5: tuple(other)})
    return mixed.outputs[1]


def _take_down(made: list[Any]) -> None:
    """Delete what an order created. Surfaces stay for the next orders."""
    data = [thing.data for thing in made if isinstance(thing, bpy.types.Object) and thing.type != "MESH"]
    for thing in [*made, *data]:
        {
            bpy.types.Object: bpy.data.objects,
            bpy.types.Material: bpy.data.materials,
            bpy.types.World: bpy.data.worlds,
            bpy.types.Camera: bpy.data.cameras,
        }.get(type(thing), bpy.data.lights).remove(thing)


def _read(orders: "queue.Queue[str]", folder: Path) -> None:
    """Put orders into the queue. When standard input is closed, delete the files and end this process."""
    for line in sys.stdin:
        orders.put(line)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def main() -> None:
    """Draw orders until standard input is closed."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # Blender also writes to standard output
    orders: queue.Queue[str] = queue.Queue()
    folder = Path(sys.argv[1])
    threading.Thread(target=_read, args=[orders, folder], daemon=True).start()
    studio = BlenderScene(folder)
    answer: dict[str, Any] = {"ready": bpy.app.version_string}
    while True:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
        order = json.loads(orders.get())
        try:
            answer = {"order": order["order"], **studio.draw(order)}
        except Exception:
            answer = {"order": order["order"], "error": traceback.format_exc(limit=-2)}


if __name__ == "__main__":
    main()
