"""bAbI: twenty tasks of stories and questions that are answered by reading."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from generation.engine.items import (
    AnswerForm,
    Chunk,
    Column,
    Element,
    Facet,
    Item,
    Media,
    Question,
)
from generation.engine.program import FunctionTable
from generation.engine.spec import NO_FILES
from generation.engine.verification.proof import Prover
from generation.engine.worlds.babi import baselines, facets, prompts, story_allocation
from generation.engine.worlds.babi import spec as babi_spec
from generation.engine.worlds.babi.functions import function_table
from generation.engine.worlds.babi.levels import LEVELS
from generation.engine.worlds.babi.lexicon_learning import learn
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.story import Story, read_story
from generation.engine.worlds.babi.story_proofs import BabiProver
from generation.engine.worlds.babi.story_sampler import StorySampler
from generation.engine.worlds.base import LearnedLexicon, Maker, World


class BabiMaker(Maker):
    """Makes stories and questions."""

    bundled = babi_spec.PRESETS

    def preset(self, name: str) -> Mapping[str, Any]:
        """Return a preset as JSON, with the numbers of stories; raise `BadSpec` for an unknown name."""
        return babi_spec.counted(dict(super().preset(name)), {})

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        return babi_spec.gathered(data, folder=folder), {}

    def plan(self, spec: BabiSpec, split: str) -> list[Chunk]:
        own = spec.for_split(split)
        return story_allocation.plan(own.tellers, own.splits[split].scenes)

    def make(self, spec: BabiSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        yield from StorySampler(spec.for_split(split), split, secret=secret).items(chunk.number)


class Babi(World):
    """Reads stories."""

    name = "babi"
    label = "bAbI"
    spec_model = BabiSpec
    scene_model = Story
    media = Media.STORY
    formats = ("generation.engine.worlds.babi.formats.release_writer:FORMAT",)
    lengths = facets.LENGTHS
    views = facets.VIEWS
    board_views = facets.BOARD_VIEWS
    levels = LEVELS
    tasks = facets.TASKS
    baselines = baselines.BASELINES
    maker = BabiMaker()
    repeats = facets.REPEATS

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BabiSpec:
        return babi_spec.read_spec(data, files=files)

    def read_scene(self, data: Mapping[str, Any]) -> Story:
        return read_story(data)

    def story(self, scene: Any) -> tuple[str, ...]:
        return tuple(line.text for line in scene.lines)

    def supports(self, scene: Any, number: int) -> tuple[int, ...]:
        return scene.supports[number] if scene.supports is not None and number < len(scene.supports) else ()

    def supporting_lines(self, item: Item, number: int) -> tuple[int, ...] | None:
        return facets.supports_in(item, number)

    def functions(self, spec: BabiSpec) -> FunctionTable:
        return function_table(spec.language)

    def answers(self, spec: BabiSpec) -> tuple[str, ...]:
        return prompts.answers(spec)

    def facets(self, spec: BabiSpec) -> tuple[Facet, ...]:
        return facets.facets(spec)

    def facet_codes(self, spec: BabiSpec, item: Item) -> Mapping[str, Sequence[int]]:
        return facets.facet_codes(spec, item)

    def train_keys(self, spec: BabiSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return facets.train_keys(item, question)

    def spaces(self, spec: BabiSpec) -> Mapping[str, Mapping[str, int]]:
        return facets.spaces(spec)

    def columns(self, spec: BabiSpec) -> tuple[Column, ...]:
        return facets.columns(spec)

    def synonyms(self, spec: BabiSpec) -> Mapping[str, str]:
        return prompts.synonyms(spec)

    def prompt(self, spec: BabiSpec, question: Question) -> str:
        return prompts.prompt(spec, question)

    def answer_form(self, spec: BabiSpec, question: Question) -> AnswerForm:
        return prompts.answer_form(spec, question)

    def elements(self, spec: BabiSpec, item: Item) -> tuple[Element, ...]:
        story = _story_of(item)
        return tuple(Element(number, line.text, line=number) for number, line in enumerate(story.lines))

    def learn_lexicon(self, path: Path, *, english: Path | None) -> LearnedLexicon:
        return learn(path, english=english).described()

    def prover(self, spec: BabiSpec, *, made: bool) -> Prover:
        return BabiProver(spec, made=made)


def _story_of(item: Item) -> Story:
    assert isinstance(item.scene, Story)
    return item.scene


WORLD = Babi()
