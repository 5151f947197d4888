"""The registry of worlds: those of this package, and those of other packages.

A world is a folder with a line in `REGISTRY`, or a package that names its world under the entry point
`horsesense.worlds`. `base.World` describes the members of a world.
"""

import importlib
from dataclasses import dataclass, field
from typing import Any

from generation.engine.errors import BadSpec, BrokenWorld
from generation.engine.items import JOINT as JOINT  # worlds of other packages import the names below
from generation.engine.items import Answer as Answer
from generation.engine.items import AnswerForm as AnswerForm
from generation.engine.items import AnswerKind as AnswerKind
from generation.engine.items import ChartView as ChartView
from generation.engine.items import Chunk as Chunk
from generation.engine.items import Column as Column
from generation.engine.items import Display as Display
from generation.engine.items import Element as Element
from generation.engine.items import Equivalent as Equivalent
from generation.engine.items import Facet as Facet
from generation.engine.items import FacetKind as FacetKind
from generation.engine.items import Item as Item
from generation.engine.items import Media as Media
from generation.engine.items import Needs as Needs
from generation.engine.items import Question as Question
from generation.engine.items import SceneData as SceneData
from generation.engine.items import ViewData as ViewData
from generation.engine.worlds import plugins
from generation.engine.worlds.base import Maker as Maker
from generation.engine.worlds.base import World as World

REGISTRY: dict[str, str] = {
    "babi": "generation.engine.worlds.babi.world:WORLD",
    "clevr": "generation.engine.worlds.clevr.world:WORLD",
    "counting": "generation.engine.worlds.counting.world:WORLD",
    "shapeworld": "generation.engine.worlds.shapeworld.world:WORLD",
    "simtown": "generation.engine.worlds.simtown.world:WORLD",
}
READERS: dict[str, str] = {  # readers of published files
    "babi": "generation.engine.worlds.babi.formats.release_reader:READER",
    "clevr": "generation.engine.worlds.clevr.formats.release_reader:READER",
    "coco-grounding": "generation.engine.worlds.counting.formats.coco_grounding_reader:READER",
    "coco-instances": "generation.engine.worlds.counting.formats.coco_instances_reader:READER",
    "howmany-qa": "generation.engine.worlds.counting.formats.howmany_reader:READER",
    "tallyqa": "generation.engine.worlds.counting.formats.tallyqa_reader:READER",
}

SEEN, UNSEEN = "yes", "no"


@dataclass
class _Loaded:
    worlds: dict[str, World] = field(default_factory=dict)


_LOADED = _Loaded()


def names() -> tuple[str, ...]:
    """Return the sorted names of all worlds, including worlds of other packages that cannot be loaded."""
    return tuple(sorted({*REGISTRY, *plugins.entry_points_by_name()}))


def get_world(name: str) -> World:
    """Return a world. A world of this package replaces a world of another package with the same name.

    Raises
    ------
    BadSpec
        If no world has that name; `BrokenWorld` if the world of another package cannot be used.
    """
    if name not in REGISTRY and name not in plugins.entry_points_by_name():
        raise BadSpec(f"Expected one of {', '.join(names())}, got {name!r}.", where="world")
    if name not in _LOADED.worlds:
        _LOADED.worlds[name] = _ours(name) if name in REGISTRY else plugins.load(name)
    return _LOADED.worlds[name]


def _ours(name: str) -> World:
    module, _, attribute = REGISTRY[name].partition(":")
    world: World = getattr(importlib.import_module(module), attribute)
    return world


def usable() -> tuple[World, ...]:
    """Return all worlds sorted by name, without those of other packages that cannot be used."""
    worlds = []
    for name in names():
        try:
            worlds.append(get_world(name))
        except BrokenWorld:  # `get_world` raises this error again, and the checks of the site report it
            continue
    return tuple(worlds)


def get_maker(name: str) -> Maker:
    """Return the maker of a world; raise `BadSpec` if the world is only imported."""
    maker = get_world(name).maker
    if maker is None:
        raise BadSpec(f"Expected a world that is generated, got {name!r}, which is only imported.", where="world")
    return maker


def find_preset(name: str) -> dict[str, Any]:
    """Return a bundled spec by its name, from any world; raise `BadSpec`, which lists the presets, for another name."""
    makers = [world.maker for world in usable() if world.maker is not None]
    for maker in makers:
        if name in maker.presets():
            return dict(maker.preset(name))
    known = ", ".join(preset for maker in makers for preset in maker.presets())
    raise BadSpec(f"Expected a JSON file or a preset ({known}), got {name!r}.", where="SPEC")
