"""What a world is: how its data are read (`World`) and, where they are generated, how they are made (`Maker`).

Everything outside a world's folder speaks to it through these protocols. A new world is a new folder and a line in
`REGISTRY`, or a package of its own that names it under the entry point `horsesense.worlds`.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadSpec, BrokenWorld
from generation.engine.items import (
    JOINT as JOINT,
)
from generation.engine.items import (  # also under their names here, for worlds of other packages
    Answer as Answer,
)
from generation.engine.items import (
    AnswerForm as AnswerForm,
)
from generation.engine.items import (
    AnswerKind as AnswerKind,
)
from generation.engine.items import (
    ChartView as ChartView,
)
from generation.engine.items import (
    Chunk as Chunk,
)
from generation.engine.items import (
    Column as Column,
)
from generation.engine.items import (
    Display as Display,
)
from generation.engine.items import (
    Element as Element,
)
from generation.engine.items import (
    Equivalent as Equivalent,
)
from generation.engine.items import (
    Facet as Facet,
)
from generation.engine.items import (
    FacetKind as FacetKind,
)
from generation.engine.items import (
    Item as Item,
)
from generation.engine.items import (
    Media as Media,
)
from generation.engine.items import (
    Metric as Metric,
)
from generation.engine.items import (
    Needs as Needs,
)
from generation.engine.items import (
    Question as Question,
)
from generation.engine.items import (
    SceneData as SceneData,
)
from generation.engine.items import (
    ViewData as ViewData,
)
from generation.engine.program import FunctionTable, Program
from generation.engine.programs.ablation import Ablation
from generation.engine.spec import NO_FILES, BaseSpec
from generation.engine.verification.proof import Prover
from generation.engine.worlds import plugins
from generation.engine.worlds.boards import BoardView

REGISTRY: dict[str, str] = {
    "babi": "generation.engine.worlds.babi.world:WORLD",
    "clevr": "generation.engine.worlds.clevr.world:WORLD",
    "shapeworld": "generation.engine.worlds.shapeworld.world:WORLD",
}
READERS: dict[str, str] = {  # of published files
    "babi": "generation.engine.worlds.babi.formats.release:READER",
    "clevr": "generation.engine.worlds.clevr.formats.release:READER",
}


SEEN, UNSEEN = "yes", "no"


class World(Protocol):
    """How data of a kind are read: every dataset has one, imports too.

    `lengths` names the facets of numbers that say how long a question is and how much it demands, each with the most
    that an easy question has. `formats` says where its own export formats are: `module:attribute`, each a
    `generation.engine.formats.Format`. `board_views` are breakdowns of accuracy, `ablations` the steps that may be left
    out of programs, one at a time.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    media: ClassVar[Media]
    formats: ClassVar[tuple[str, ...]]
    lengths: ClassVar[Mapping[str, int]]
    metrics: ClassVar[tuple[Metric, ...]]
    views: ClassVar[tuple[ChartView, ...]]
    board_views: ClassVar[tuple[BoardView, ...]]
    ablations: ClassVar[tuple[Ablation, ...]]
    display: ClassVar[Display]
    maker: "ClassVar[Maker | None]"

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BaseSpec:
        """Return the validated spec, with the files it names by digest; raise `BadSpec` naming the field."""

    def read_scene(self, data: Mapping[str, Any]) -> SceneData:
        """Return the scene that JSON describes; raise `BadScene`."""

    def read_view(self, data: Mapping[str, Any]) -> ViewData:
        """Return the view that JSON describes; raise `BadScene`."""

    def functions(self, spec: BaseSpec) -> FunctionTable | None:
        """Return the functions of programs, or None where questions have none."""

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        """Return the whole vocabulary of answers, known before any question; code `i` means `answers[i]`."""

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        """Return every facet that questions have, in the order pages show them."""

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        """Return, for each facet that needs the item alone, a code for each of its questions."""

    def train_keys(self, spec: BaseSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        """Return, for each facet that needs the train split, what that split must have all of; nothing: no value.

        It stands on what everybody sees: the question's words, and a story's where the item has one.
        """

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        """Return the columns of the world's boards."""

    def prompt(self, question: Question) -> str:
        """Return what a model is told: the question and the form of its answer."""

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        """Return how a person answers this question."""

    def draw_colour(self, spec: BaseSpec, name: str, *, which: int, size: int) -> NDArray[np.uint8] | None:
        """Return `(size, size, 3)` uint8 sRGB of something of a colour, by its name among answers, as pictures have it.

        `which` numbers the ways in which colours look, materials for instance. None where nothing draws such a picture.
        """

    def is_clear(self, spec: BaseSpec, item: Item) -> bool | None:
        """Return whether everything in an item is easily seen, nothing hidden or small; None where that isn't known."""

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        """Return what steps can point at; an element's silhouette has value id + 1 in the object-id image."""

    def equivalent(self, spec: BaseSpec, item: Item, program: Program) -> Equivalent | None:
        """Return the smallest program that gives a well-posed one's answer on an item; None where that isn't known."""

    def prover(self, spec: BaseSpec, *, made: bool) -> Prover | None:
        """Return what proves a split's items; None for nothing. `made`: we made it by its spec, it is no import."""


class Maker(Protocol):
    """How a generated world's data are made."""

    def presets(self) -> tuple[str, ...]:
        """Return the names of the bundled specs."""

    def preset(self, name: str) -> Mapping[str, Any]:
        """Return a bundled spec as JSON; raise `BadSpec` for an unknown name."""

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return the spec with every file it names (relative to `folder`) replaced by its SHA-256, and those files.

        What is a digest already stays as it is. Raises `BadSpec` naming the field of a file that can't be read.
        """

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        """Return the chunks that a split is cut into."""

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        """Yield the chunk's items in order: a function of its arguments alone."""

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return the picture `(height, width, 3)` uint8 sRGB and the object ids `(height, width)` uint16, 0 = none."""


@dataclass
class _Loaded:
    worlds: dict[str, World] = field(default_factory=dict)


_LOADED = _Loaded()
MEMBERS = frozenset(name for name in (*vars(World), *World.__annotations__) if not name.startswith("_"))


def names() -> tuple[str, ...]:
    """Return the names of all worlds, sorted: of ours, and of those of other packages, broken ones too."""
    return tuple(sorted({*REGISTRY, *plugins.found()}))


def get_world(name: str) -> World:
    """Return a world. Of two with one name ours counts.

    Raises
    ------
    BadSpec
        If no world has that name; `BrokenWorld` if that of another package can't be used.
    """
    if name not in REGISTRY and name not in plugins.found():
        raise BadSpec(f"Expected one of {', '.join(names())}, got {name!r}.", where="world")
    if name not in _LOADED.worlds:
        _LOADED.worlds[name] = _ours(name) if name in REGISTRY else plugins.load(name, members=MEMBERS)
    return _LOADED.worlds[name]


def _ours(name: str) -> World:
    module, _, attribute = REGISTRY[name].partition(":")
    world: World = getattr(importlib.import_module(module), attribute)
    return world


def usable() -> tuple[World, ...]:
    """Return every world by its name, less those of other packages that can't be used."""
    worlds = []
    for name in names():
        try:
            worlds.append(get_world(name))
        except BrokenWorld:  # whoever asks for it is told, and so is who checks the site
            continue
    return tuple(worlds)


def get_maker(name: str) -> Maker:
    """Return the maker of a generated world; raise `BadSpec` for a world that is only read."""
    maker = get_world(name).maker
    if maker is None:
        raise BadSpec(f"Expected a world that is generated, got {name!r}, which is only imported.", where="world")
    return maker


def find_preset(name: str) -> dict[str, Any]:
    """Return a bundled spec by its name, whichever world has it; raise `BadSpec` naming those there are."""
    makers = [world.maker for world in usable() if world.maker is not None]
    for maker in makers:
        if name in maker.presets():
            return dict(maker.preset(name))
    known = ", ".join(preset for maker in makers for preset in maker.presets())
    raise BadSpec(f"Expected a JSON file or a preset ({known}), got {name!r}.", where="SPEC")
