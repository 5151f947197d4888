"""ShapeWorld: microworlds of flat coloured shapes, and captions that fit them or don't."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene
from generation.engine.items import (
    AnswerForm,
    ChartView,
    Chunk,
    Column,
    Display,
    Element,
    Facet,
    Item,
    Media,
    Metric,
    Question,
    ViewData,
)
from generation.engine.program import FunctionTable, Program
from generation.engine.programs.ablation import Ablation
from generation.engine.scoring.score import ACCURACY
from generation.engine.seeding import Stage, stream
from generation.engine.spec import BaseSpec
from generation.engine.worlds import NO_FILES, Maker
from generation.engine.worlds.boards import BoardView
from generation.engine.worlds.guessing import Baseline
from generation.engine.worlds.instances import Models
from generation.engine.worlds.shapeworld import asking, boards, facets
from generation.engine.worlds.shapeworld import spec as shapeworld_spec
from generation.engine.worlds.shapeworld.ablations import ABLATIONS
from generation.engine.worlds.shapeworld.clearness import is_clear
from generation.engine.worlds.shapeworld.formats.models import caption_model, world_model
from generation.engine.worlds.shapeworld.functions import function_table
from generation.engine.worlds.shapeworld.guessing import BASELINES
from generation.engine.worlds.shapeworld.making import Making
from generation.engine.worlds.shapeworld.meaning import kind_of
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.picture import draw
from generation.engine.worlds.shapeworld.proofs import ShapeWorldProver
from generation.engine.worlds.shapeworld.saying import words
from generation.engine.worlds.shapeworld.scene import Scene, read_scene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

BATCH = 256  # microworlds of a chunk


class ShapeWorldMaker:
    """Makes microworlds, captions and pictures."""

    def presets(self) -> tuple[str, ...]:
        return shapeworld_spec.presets()

    def preset(self, name: str) -> Mapping[str, Any]:
        return shapeworld_spec.preset(name)

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        return dict(data), {}

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        own = _own(spec).for_split(split)
        scenes, each = own.splits[split].scenes, own.captions.per_scene
        return [
            Chunk(number, first, min(BATCH, scenes - first), first * each, min(BATCH, scenes - first) * each)
            for number, first in enumerate(range(0, scenes, BATCH))
        ]

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        worlds, words = (
            stream(seed=spec.seed, split=split, index=chunk.number, stage=stage, secret=secret)
            for stage in (Stage.SCENE, Stage.QUESTIONS)
        )
        making = Making(_own(spec).for_split(split), worlds=worlds, words=words)
        for position in range(chunk.items):
            yield making.item(where=f"{split}, world {chunk.first_item + position}")

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        return draw(_seen(item), _own(spec).for_split(split).vocabulary)


class ShapeWorld:
    """How ShapeWorld's data are read."""

    name: ClassVar[str] = "shapeworld"
    label: ClassVar[str] = "ShapeWorld"
    media: ClassVar[Media] = Media.IMAGE
    formats: ClassVar[tuple[str, ...]] = ("generation.engine.worlds.shapeworld.formats.original:FORMAT",)
    lengths: ClassVar[Mapping[str, int]] = facets.LENGTHS
    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY,)
    views: ClassVar[tuple[ChartView, ...]] = facets.VIEWS
    board_views: ClassVar[tuple[BoardView, ...]] = boards.BOARD_VIEWS
    ablations: ClassVar[tuple[Ablation, ...]] = ABLATIONS
    baselines: ClassVar[tuple[Baseline, ...]] = BASELINES
    display: ClassVar[Display] = Display(scale=6.0, smooth=False, needs_colour=True)
    maker: ClassVar[Maker | None] = ShapeWorldMaker()

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> ShapeWorldSpec:
        return shapeworld_spec.read_spec(data)

    def read_scene(self, data: Mapping[str, Any]) -> Scene:
        return read_scene(data)

    def read_view(self, data: Mapping[str, Any]) -> ViewData:
        raise BadScene("Expected no view: microworlds are seen from straight above.", where="view")

    def functions(self, spec: BaseSpec) -> FunctionTable:
        own = _own(spec)
        words, thresholds = own.vocabulary, own.captions.thresholds
        return function_table(
            shapes=words.values("shape"), colors=words.values("color"), thresholds=thresholds, kind_of=kind_of
        )

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        return asking.ANSWERS

    def words(self, spec: BaseSpec) -> tuple[str, ...]:
        return words(_own(spec).vocabulary)

    def models(self, spec: BaseSpec) -> Models:
        """Return what models microworlds and captions as the original program does."""
        vocabulary = _own(spec).vocabulary
        parser = Parser(vocabulary)
        return lambda item, question: (
            world_model(_seen(item), vocabulary),
            caption_model(parser.parse(question.text)),
        )

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        return facets.facets(_own(spec))

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        return facets.facet_codes(_own(spec), _seen(item) if item.scene is not None else None, item.questions)

    def train_keys(self, spec: BaseSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return facets.train_keys(question)

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        return boards.columns(_own(spec))

    def prompt(self, question: Question) -> str:
        return asking.prompt(question)

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        return asking.answer_form(question)

    def draw_colour(self, spec: BaseSpec, name: str, *, which: int, size: int) -> None:
        return None

    def is_clear(self, spec: BaseSpec, item: Item) -> bool | None:
        return is_clear(item.scene) if isinstance(item.scene, Scene) else None

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        return tuple(
            Element(number, f"{entity.color} {entity.shape}", {"shape": entity.shape, "color": entity.color})
            for number, entity in enumerate(_seen(item).entities)
        )

    def equivalent(self, spec: BaseSpec, item: Item, program: Program) -> None:
        return None

    def prover(self, spec: BaseSpec, *, made: bool) -> ShapeWorldProver | None:
        return ShapeWorldProver(_own(spec)) if made else None


def _own(spec: BaseSpec) -> ShapeWorldSpec:
    assert isinstance(spec, ShapeWorldSpec)
    return spec


def _seen(item: Item) -> Scene:
    assert isinstance(item.scene, Scene)
    return item.scene


WORLD = ShapeWorld()
