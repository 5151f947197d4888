"""What a world is: how its data are read (`World`) and, where they are generated, how they are made (`Maker`).

Everything outside a world's folder speaks to it through these protocols. A new world is a new folder and a line in
`REGISTRY`, or a package of its own that names it under the entry point `horsesense.worlds`.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadSpec, BrokenWorld
from generation.engine.program import FunctionTable, Program, to_json
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


class Media(StrEnum):
    """What a person or a model is shown beside the question."""

    IMAGE = "image"
    STORY = "story"
    NONE = "none"

    @property
    def noun(self) -> str:
        """Return what people call it."""
        return {Media.IMAGE: "picture", Media.STORY: "story", Media.NONE: "scene"}[self]

    @property
    def item(self) -> str:
        """Return what people call one of the things that questions are about."""
        return "story" if self is Media.STORY else "scene"

    @property
    def items(self) -> str:
        """Return what people call several of them."""
        return "stories" if self is Media.STORY else "scenes"


class AnswerKind(StrEnum):
    """The form an answer has."""

    YES_NO = "yes-no"
    VALUE = "value"
    INTEGER = "integer"
    WORD = "word"
    SET = "set"
    SEQUENCE = "sequence"


JOINT = ","  # between the parts of a canonical answer


class Answer(NamedTuple):
    """An answer: its canonical string, its kind, and the published spelling where that differs."""

    text: str
    kind: AnswerKind
    spelling: str | None = None


class SceneData(Protocol):
    """A scene of some world; only its world looks inside."""

    def to_json(self) -> dict[str, Any]:
        """Return the scene as JSON, numbers rounded as they were decided on."""


class ViewData(Protocol):
    """Where a scene is seen from and lit: camera and lights."""

    def to_json(self) -> dict[str, Any]:
        """Return the view as JSON."""


@dataclass(frozen=True)
class Question:
    """A question of an item. What is None is absent everywhere: no player, no program facets.

    Attributes
    ----------
    text : str
    program : Program or None
    answer : Answer or None
    kind : str
        The question's type; for programs the last function.
    family : int or None
        The number of the template.
    scope : int or None
        How many elements it may see.
    source_id : str or None
        Its name where it was published.
    """

    text: str
    program: Program | None = None
    answer: Answer | None = None
    kind: str = ""
    family: int | None = None
    scope: int | None = None
    source_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what the fingerprint covers: all but the source's name."""
        return {
            "answer": self.answer.text if self.answer else None,
            "family": self.family,
            "kind": self.kind,
            "program": to_json(self.program) if self.program is not None else None,
            "scope": self.scope,
            "text": self.text,
        }


@dataclass(frozen=True)
class Item:
    """One scene with its questions.

    Attributes
    ----------
    scene : SceneData or None
    view : ViewData or None
    questions : tuple of Question
    image : ndarray or None
        The picture `(height, width, 3)` uint8 sRGB, where it came with the item and isn't drawn from the scene.
    replaced : int
        How many scenes were thrown away before this one because they admitted too few questions.
    number : int or None
        The number of its picture in the published files that the scene is from; None where it is from none.
    image_name : str
        The file name of its picture there; empty where nothing says it.
    """

    scene: SceneData | None
    view: ViewData | None
    questions: tuple[Question, ...]
    replaced: int = 0
    image: NDArray[np.uint8] | None = None
    number: int | None = None
    image_name: str = ""


class Chunk(NamedTuple):
    """The unit of chance: items and questions of a split that are made together, with their 0-based positions."""

    number: int
    first_item: int
    items: int
    first_question: int
    questions: int


class FacetKind(StrEnum):
    """How a facet's values are to be read."""

    CATEGORY = "category"
    INTEGER = "integer"
    FLAGS = "flags"


class Needs(StrEnum):
    """What must be known to compute a facet.

    One that needs the train split has the values `SEEN` and `UNSEEN`: whether that split has all of a question's
    `World.train_keys`. A split that has no reference, as the train split itself, has no such facet.
    """

    ITEM = "item"
    TRAIN = "train"


SEEN, UNSEEN = "yes", "no"


@dataclass(frozen=True)
class Facet:
    """A property of a question by which people filter and break down.

    Attributes
    ----------
    name : str
        In addresses and exports.
    label : str
        For people.
    kind : FacetKind
    values : tuple of str
        Every value, in order; code `i` in an index means `values[i]`. For integers their decimal strings.
    needs : Needs
    reveals : bool
        False only where the question's words already say it.
    labels : tuple of str
        The values for people, in the same order; empty where the values serve.
    bins : tuple of int
        For integers: the first value of each bin, ascending, where pages break down by bins; empty for none.
    """

    name: str
    label: str
    kind: FacetKind
    values: tuple[str, ...]
    reveals: bool
    needs: Needs = Needs.ITEM
    labels: tuple[str, ...] = ()
    bins: tuple[int, ...] = ()


class Metric(Protocol):
    """A score; `additive` where its terms add up over any slice, else it is a function of the slice as a whole."""

    name: ClassVar[str]
    label: ClassVar[str]
    higher_is_better: ClassVar[bool]
    additive: ClassVar[bool]

    def terms(self, answers: NDArray[np.int64], predictions: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return numerators and denominators, both of shape `(questions,)`, for codes of that shape."""


class Column(NamedTuple):
    """A column of the world's board: a facet and the value that the column is about.

    Its label is short where there are many; then the title says in full what it is about.
    """

    label: str
    facet: str
    value: str
    title: str = ""


class ChartView(NamedTuple):
    """A ready-made chart: how often each value of a facet occurs.

    Attributes
    ----------
    name : str
        In addresses and file names: small letters, digits and hyphens.
    title : str
        For people.
    facet : str
        The facet that is counted: integers along a line, in bins where it has them, any other as a list.
    axis : str
        What its values are, with their unit, as an axis says it.
    """

    name: str
    title: str
    facet: str
    axis: str


class AnswerForm(NamedTuple):
    """How a person gives an answer.

    Attributes
    ----------
    kind : AnswerKind
    choices : tuple of str
        Every answer that there is; empty for the whole vocabulary.
    swatches : mapping of str to (r, g, b)
        For a colour choice how it looks.
    instruction : str
        What is asked of people where the question's text doesn't say it, as for a caption; it stands above that.
    parts : tuple of str
        Of a set or a sequence what it is put together of; empty where people choose among whole answers.
    empty : str
        The answer of a set with nothing in it; empty where there is no such answer.
    length : int
        How many parts a sequence has.
    """

    kind: AnswerKind
    choices: tuple[str, ...]
    swatches: Mapping[str, tuple[int, int, int]]
    instruction: str = ""
    parts: tuple[str, ...] = ()
    empty: str = ""
    length: int = 0

    def put_together(self, parts: Sequence[str]) -> str | None:
        """Return the answer that parts make, of a set in whatever order they come; None where they make none."""
        if any(part not in self.parts for part in parts):
            return None
        if self.kind == AnswerKind.SEQUENCE:
            return JOINT.join(parts) if len(parts) == self.length else None
        if len(set(parts)) != len(parts):
            return None
        same = (choice for choice in self.choices if set(choice.split(JOINT)) == set(parts))
        return next(same, JOINT.join(sorted(parts))) if parts else self.empty or None

    def taken_apart(self, answer: str) -> tuple[str, ...]:
        """Return the parts of a canonical answer."""
        return () if answer == self.empty else tuple(answer.split(JOINT))


class Display(NamedTuple):
    """How pictures of the world are shown: at which scale, smoothed or not, and whether colour vision matters."""

    scale: float = 1.0
    smooth: bool = True
    needs_colour: bool = False


class Element(NamedTuple):
    """Something in an item that a step can point at: its id and what to call it.

    Where it has no silhouette in an object-id image, `box` says where it is (left, top, right, bottom, in pixels) or
    `line` which line of the story it is, counted from 0.
    """

    id: int
    label: str
    attributes: Mapping[str, str] = {}
    box: tuple[float, float, float, float] | None = None
    line: int | None = None


class Equivalent(NamedTuple):
    """A program that gives the same answer as a question's, and what it asks in words.

    `known` is the answer where it follows from the program alone, whatever the scene shows; else it is empty.
    """

    program: Program
    text: str
    known: str = ""


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
