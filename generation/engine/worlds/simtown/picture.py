"""Pictures of scenes, and the object at each pixel."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.render import daylight
from generation.engine.render.daylight.daylight_scene import Ground, Surface, pack_ground, pack_surfaces
from generation.engine.render.render_scene import (
    CENTRE,
    OWNER,
    TURN,
    PackedSolids,
    Solid,
    Stage,
    SurfaceMaterial,
    Vector,
    pack_solids,
)
from generation.engine.seeding import Stage as Purpose
from generation.engine.seeding import stream
from generation.engine.worlds.simtown.camera import camera
from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.parts import Part
from generation.engine.worlds.simtown.scene import DIGITS, SimTownScene, Vehicle
from generation.engine.worlds.simtown.street import (
    BUILDINGS,
    GRASS,
    HOUSE_COLOURS,
    SNOW,
    THINGS,
    footprint,
    marks,
)
from generation.engine.worlds.simtown.weather import WEATHERS, add_streaks

REACH: tuple[Vector, float] = ((0.0, 5.5, 2.5), 14.5)  # the ball whose shadows fall into the picture
THOUSAND = 10**DIGITS
VEHICLE_SNOW = 0.35  # the share of their roofs' colour that snow hides, so that they can still be told apart


class PackedModel(NamedTuple):
    """An object whose solids are packed.

    Attributes
    ----------
    rows, turned : (n, columns) float64
        Its solids, and the same after half a turn.
    footprint : (float, float)
        Half the length and width of its contact shadow, in metres.
    """

    rows: NDArray[np.float64]
    turned: NDArray[np.float64]
    footprint: tuple[float, float]


class PackedModels(NamedTuple):
    """All objects that scenes may have, packed once, with their surfaces by weather."""

    of: dict[tuple[str, ...], PackedModel]
    nodes: NDArray[np.float64]
    faces: NDArray[np.float64]
    surfaces: dict[str, NDArray[np.float64]]


@cache
def models() -> PackedModels:
    """Return the packed models of all entities, buildings and things."""
    parts: dict[tuple[str, ...], Sequence[Part]] = {("vehicle", one.name): one.parts() for one in ENTITIES}
    for style, (_, build) in BUILDINGS.items():
        parts |= {("building", style, name): build(colour) for name, colour in HOUSE_COLOURS.items()}
    parts |= {("thing", kind): build() for kind, build in THINGS.items()}
    kinds: dict[tuple[object, ...], int] = {}
    surfaces: list[Part] = []
    owners: list[tuple[str, ...]] = []
    solids = []
    for key, some in parts.items():
        for part in some:
            looks = (part.colour, part.gloss, part.is_lamp, part.windows, key[0] == "vehicle")
            if looks not in kinds:
                kinds[looks] = len(surfaces)
                surfaces.append(part)
                owners.append(key)
            solids.append(
                Solid(part.kind, part.centre, part.scale, 0, kinds[looks], par=part.par, turn=part.turn, mesh=part.mesh)
            )
    packed = pack_solids(Stage(solids, [SurfaceMaterial(part.colour) for part in surfaces]))
    ends = np.cumsum([len(some) for some in parts.values()])[:-1]
    rows = np.split(packed.solids, ends)
    of = {
        key: PackedModel(own, _turned(own), footprint(parts[key]) if key[0] != "building" else (0.0, 0.0))
        for key, own in zip(parts, rows, strict=True)
    }
    by_weather = {
        name: pack_surfaces(
            [
                _surface(part, is_vehicle=key[0] == "vehicle", lit=weather.lit)
                for part, key in zip(surfaces, owners, strict=True)
            ]
        )
        for name, weather in WEATHERS.items()
    }
    return PackedModels(of, packed.nodes, packed.faces, by_weather)


def _turned(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return packed solids after half a turn around the vertical axis."""
    turned = rows.copy()
    turned[:, CENTRE : CENTRE + 2] *= -1.0
    turned[:, TURN : TURN + 6] *= -1.0
    return turned


def _surface(part: Part, *, is_vehicle: bool, lit: float) -> Surface:
    shines = part.is_lamp and lit > 0.0
    return Surface(
        part.colour,
        part.gloss,
        glow=(1.0, 0.86, 0.6) if shines else (0.0, 0.0, 0.0),
        windows=None if part.windows is None else replace(part.windows, lit=lit),
        snow=VEHICLE_SNOW if is_vehicle else 1.0,
    )


class Placed(NamedTuple):
    """An object at a place: a key of `PackedModels.of`, its middle in metres, and whether it is turned round."""

    key: tuple[str, ...]
    x: float
    y: float
    is_turned: bool = False


def solids_of(objects: Iterable[Placed]) -> tuple[PackedSolids, list[tuple[float, float, float, float]]]:
    """Return the solids of objects, numbered in their order, and the contact shadows of those that are no buildings."""
    known, objects = models(), list(objects)
    found = [known.of[one.key] for one in objects]
    counts = [len(model.rows) for model in found]
    solids = np.concatenate(
        [model.turned if one.is_turned else model.rows for one, model in zip(objects, found, strict=True)]
    )
    solids[:, CENTRE : CENTRE + 2] += np.repeat(np.array([(one.x, one.y) for one in objects]), counts, axis=0)
    solids[:, OWNER] = np.repeat(np.arange(len(objects)), counts)
    contacts = [
        (one.x, one.y, *model.footprint) for one, model in zip(objects, found, strict=True) if one.key[0] != "building"
    ]
    return PackedSolids(solids, known.nodes, known.faces), contacts


def objects_of(scene: SimTownScene) -> Iterator[Placed]:
    """Yield the objects of a scene; the vehicles are the first."""
    yield from _vehicles(scene.vehicles)
    for building in scene.street.buildings:
        yield Placed(("building", building.style, building.colour), building.x, building.y)
    for thing in scene.street.things:
        yield Placed(("thing", thing.kind), thing.x, thing.y)


def _vehicles(vehicles: Iterable[Vehicle]) -> Iterator[Placed]:
    return (Placed(("vehicle", one.entity), one.x, one.y, one.lane == "far") for one in vehicles)


def draw(scene: SimTownScene, *, width: int, height: int, samples: int) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Return the picture `(height, width, 3)` uint8 sRGB and the object ids `(height, width)` uint16, 0 = none."""
    weather = WEATHERS[scene.weather]
    packed, contacts = solids_of(objects_of(scene))
    snow = scene.weather == "snow"
    ground = Ground(SNOW if snow else GRASS, marks(snow=snow), contacts)
    seed = _seed_of(scene)
    light, depth, ids = daylight.render(
        packed,
        models().surfaces[scene.weather],
        pack_ground(ground),
        light=weather.light,
        camera=camera(width=width, height=height),
        reach=REACH,
        samples=samples,
        seed=seed,
    )
    if weather.streaks is not None:
        chance = stream(seed=seed, split="", index=0, stage=Purpose.RENDER)
        add_streaks(light, depth, weather.streaks, chance)
    return daylight.develop(light, seed=seed), ids


def visible_pixels(vehicles: Sequence[Vehicle], *, width: int, height: int) -> NDArray[np.int64]:
    """Return how many pixels show each vehicle in a picture of the street; nothing else can hide a vehicle."""
    packed, _ = solids_of(_vehicles(vehicles))
    ids = daylight.object_ids(packed, camera(width=width, height=height))
    return np.bincount(ids.ravel(), minlength=len(vehicles) + 1)[1:]


def _seed_of(scene: SimTownScene) -> int:
    """Return a seed that depends on the scene, so that no two pictures have the same noise."""
    placed = [(one.key, round(one.x * THOUSAND), round(one.y * THOUSAND)) for one in objects_of(scene)]
    return int.from_bytes(hashlib.sha256(repr((scene.weather, placed)).encode()).digest()[:4], "little")
