"""ShapeWorld: microworlds of flat coloured shapes, and captions that are true or false of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene
from generation.engine.items import (
    AnswerForm,
    Chunk,
    Column,
    Display,
    Element,
    Facet,
    Item,
    Question,
    ViewData,
)
from generation.engine.program import FunctionTable
from generation.engine.seeding import Stage, stream
from generation.engine.spec import NO_FILES
from generation.engine.worlds.base import Maker, Models, World, equal_chunks
from generation.engine.worlds.shapeworld import facets
from generation.engine.worlds.shapeworld import spec as shapeworld_spec
from generation.engine.worlds.shapeworld.baselines import BASELINES
from generation.engine.worlds.shapeworld.caption_text import words
from generation.engine.worlds.shapeworld.formats.original_serialization import caption_model, world_model
from generation.engine.worlds.shapeworld.functions import ABLATIONS, function_table
from generation.engine.worlds.shapeworld.item_sampler import MicroworldSampler
from generation.engine.worlds.shapeworld.levels import LEVELS
from generation.engine.worlds.shapeworld.logical_form import kind_of
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.picture import draw
from generation.engine.worlds.shapeworld.proofs import ShapeWorldProver
from generation.engine.worlds.shapeworld.scene import Entity, FlatScene, is_clear, read_scene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

BATCH = 256  # microworlds of a chunk
SAMPLES = ("square", "circle")  # shapes that show a colour


class ShapeWorldMaker(Maker):
    """Makes microworlds, captions and pictures."""

    bundled = shapeworld_spec.PRESETS

    def plan(self, spec: ShapeWorldSpec, split: str) -> list[Chunk]:
        own = spec.for_split(split)
        return equal_chunks(own.splits[split].scenes, size=BATCH, questions_each=own.captions.per_scene)

    def make(self, spec: ShapeWorldSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        worlds, words = (
            stream(seed=spec.seed, split=split, index=chunk.number, stage=stage, secret=secret)
            for stage in (Stage.SCENE, Stage.QUESTIONS)
        )
        making = MicroworldSampler(spec.for_split(split), worlds=worlds, words=words)
        for position in range(chunk.items):
            yield making.item(where=f"{split}, world {chunk.first_item + position}")

    def render(self, spec: ShapeWorldSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        return draw(_scene_of(item), spec.for_split(split).vocabulary)


class ShapeWorld(World):
    """Reads ShapeWorld's data."""

    name = "shapeworld"
    label = "ShapeWorld"
    spec_model = ShapeWorldSpec
    scene_model = FlatScene
    formats = ("generation.engine.worlds.shapeworld.formats.original:FORMAT",)
    lengths = facets.LENGTHS
    views = facets.VIEWS
    board_views = facets.BOARD_VIEWS
    levels = LEVELS
    ablations = ABLATIONS
    baselines = BASELINES
    display = Display(scale=6.0, smooth=False)
    maker = ShapeWorldMaker()

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> ShapeWorldSpec:
        return shapeworld_spec.read_spec(data)

    def read_scene(self, data: Mapping[str, Any]) -> FlatScene:
        return read_scene(data)

    def read_view(self, data: Mapping[str, Any]) -> ViewData:
        raise BadScene("Expected no view: microworlds are seen from straight above.", where="view")

    def functions(self, spec: ShapeWorldSpec) -> FunctionTable:
        words, thresholds = spec.vocabulary, spec.captions.thresholds
        return function_table(
            shapes=words.values("shape"), colors=words.values("color"), thresholds=thresholds, kind_of=kind_of
        )

    def answers(self, spec: ShapeWorldSpec) -> tuple[str, ...]:
        return facets.ANSWERS

    def words(self, spec: ShapeWorldSpec) -> tuple[str, ...]:
        return words(spec.vocabulary)

    def models(self, spec: ShapeWorldSpec) -> Models:
        """Return a function that gives models of microworlds and captions in the original program's form."""
        vocabulary = spec.vocabulary
        parser = Parser(vocabulary)
        return lambda item, question: (
            world_model(_scene_of(item), vocabulary),
            caption_model(parser.parse(question.text)),
        )

    def facets(self, spec: ShapeWorldSpec) -> tuple[Facet, ...]:
        return facets.facets(spec)

    def facet_codes(self, spec: ShapeWorldSpec, item: Item) -> Mapping[str, Sequence[int]]:
        return facets.facet_codes(spec, _scene_of(item) if item.scene is not None else None, item.questions)

    def train_keys(self, spec: ShapeWorldSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return facets.train_keys(question)

    def columns(self, spec: ShapeWorldSpec) -> tuple[Column, ...]:
        return facets.columns(spec)

    def answer_form(self, spec: ShapeWorldSpec, question: Question) -> AnswerForm:
        return facets.answer_form(question)

    def swatches(self, spec: ShapeWorldSpec) -> Mapping[str, tuple[int, int, int]]:
        return {name: color.rgb for name, color in spec.vocabulary.colors.items()}

    def draw_colour(self, spec: ShapeWorldSpec, name: str, *, which: int, size: int) -> NDArray[np.uint8] | None:
        thing = Entity(SAMPLES[which % len(SAMPLES)], name, 0.0, x=0.5, y=0.5, width=0.7, height=0.7, rotation=0.0)
        rgb, _ = draw(FlatScene((thing,), (0,), (0,), size, size), spec.vocabulary)
        return rgb

    def is_clear(self, spec: ShapeWorldSpec, item: Item) -> bool | None:
        return is_clear(item.scene) if isinstance(item.scene, FlatScene) else None

    def elements(self, spec: ShapeWorldSpec, item: Item) -> tuple[Element, ...]:
        return tuple(
            Element(number, f"{entity.color} {entity.shape}", {"shape": entity.shape, "color": entity.color})
            for number, entity in enumerate(_scene_of(item).entities)
        )

    def prover(self, spec: ShapeWorldSpec, *, made: bool) -> ShapeWorldProver | None:
        return ShapeWorldProver(spec) if made else None


def _scene_of(item: Item) -> FlatScene:
    assert isinstance(item.scene, FlatScene)
    return item.scene


WORLD = ShapeWorld()
