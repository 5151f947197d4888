"""bAbI: twenty tasks of stories and questions that are answered by reading."""

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
from generation.engine.program import FunctionTable
from generation.engine.programs.ablation import Ablation
from generation.engine.scoring.score import ACCURACY
from generation.engine.spec import BaseSpec
from generation.engine.verification.proof import Prover
from generation.engine.worlds import NO_FILES, Maker
from generation.engine.worlds.babi import asking, boards, facets, guessing, layout
from generation.engine.worlds.babi import spec as babi_spec
from generation.engine.worlds.babi.functions import function_table
from generation.engine.worlds.babi.learning import learn
from generation.engine.worlds.babi.making import Making
from generation.engine.worlds.babi.proofs import BabiProver
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.story import Story, read_story
from generation.engine.worlds.boards import BoardView, Tasks
from generation.engine.worlds.guessing import Baseline
from generation.engine.worlds.lexicons import Learnt
from generation.engine.worlds.repeats import Repeatable


class BabiMaker:
    """Makes stories and questions."""

    def presets(self) -> tuple[str, ...]:
        return babi_spec.presets()

    def preset(self, name: str) -> Mapping[str, Any]:
        return babi_spec.preset(name)

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        return babi_spec.gathered(data, folder=folder), {}

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        own = _own(spec).for_split(split)
        return layout.plan(own.tellers, own.splits[split].scenes)

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        yield from Making(_own(spec).for_split(split), split, secret=secret).items(chunk.number)

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        raise BadScene("Expected a scene that can be drawn, got a story.")


class Babi:
    """How stories are read."""

    name: ClassVar[str] = "babi"
    label: ClassVar[str] = "bAbI"
    media: ClassVar[Media] = Media.STORY
    formats: ClassVar[tuple[str, ...]] = ("generation.engine.worlds.babi.formats.released:FORMAT",)
    lengths: ClassVar[Mapping[str, int]] = facets.LENGTHS
    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY,)
    views: ClassVar[tuple[ChartView, ...]] = boards.VIEWS
    board_views: ClassVar[tuple[BoardView, ...]] = boards.BOARD_VIEWS
    tasks: ClassVar[Tasks] = boards.TASKS
    baselines: ClassVar[tuple[Baseline, ...]] = guessing.BASELINES
    ablations: ClassVar[tuple[Ablation, ...]] = ()
    display: ClassVar[Display] = Display()
    maker: ClassVar[Maker | None] = BabiMaker()
    repeats: ClassVar[tuple[Repeatable, ...]] = facets.REPEATS
    repeats_by: ClassVar[str] = "type"

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BabiSpec:
        return babi_spec.read_spec(data, files=files)

    def read_scene(self, data: Mapping[str, Any]) -> Story:
        return read_story(data)

    def read_view(self, data: Mapping[str, Any]) -> ViewData:
        raise BadScene("Expected no view: stories are read.", where="view")

    def story(self, scene: Any) -> tuple[str, ...]:
        return tuple(line.text for line in scene.lines)

    def supports(self, scene: Any, number: int) -> tuple[int, ...]:
        return scene.supports[number] if scene.supports is not None and number < len(scene.supports) else ()

    def functions(self, spec: BaseSpec) -> FunctionTable:
        return function_table(_own(spec).language)

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        return asking.answers(_own(spec))

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        return facets.facets(_own(spec))

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        return facets.facet_codes(_own(spec), item)

    def train_keys(self, spec: BaseSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return facets.train_keys(item, question)

    def spaces(self, spec: BaseSpec) -> Mapping[str, Mapping[str, int]]:
        return facets.spaces(_own(spec))

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        return boards.columns(_own(spec))

    def prompt(self, question: Question) -> str:
        return asking.prompt(question)

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        return asking.answer_form(_own(spec), question)

    def draw_colour(self, spec: BaseSpec, name: str, *, which: int, size: int) -> None:
        return None

    def is_clear(self, spec: BaseSpec, item: Item) -> bool | None:
        return None

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        story = _told(item)
        return tuple(Element(number, line.text, line=number) for number, line in enumerate(story.lines))

    def equivalent(self, spec: BaseSpec, item: Item, program: Any) -> None:
        return None

    def learn_lexicon(self, path: Path, *, english: Path | None) -> Learnt:
        return learn(path, english=english).described()

    def prover(self, spec: BaseSpec, *, made: bool) -> Prover:
        return BabiProver(_own(spec), made=made)


def _own(spec: BaseSpec) -> BabiSpec:
    assert isinstance(spec, BabiSpec)
    return spec


def _told(item: Item) -> Story:
    assert isinstance(item.scene, Story)
    return item.scene


WORLD = Babi()
