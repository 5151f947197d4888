"""CLEVR: rendered scenes of simple solids, and questions whose programs demand one thing at a time."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generation.engine.canonical import canonical
from generation.engine.errors import Exhausted
from generation.engine.items import (
    AnswerForm,
    AnswerKind,
    ChartView,
    Chunk,
    Column,
    Display,
    Element,
    Equivalent,
    Facet,
    Item,
    Media,
    Metric,
    Question,
)
from generation.engine.program import FunctionTable, Program
from generation.engine.programs.ablation import Ablation
from generation.engine.scoring.score import ACCURACY
from generation.engine.seeding import Stage, stream
from generation.engine.spec import BaseSpec
from generation.engine.worlds import NO_FILES, Maker
from generation.engine.worlds.boards import BoardView
from generation.engine.worlds.clevr import facets as clevr_facets
from generation.engine.worlds.clevr import given
from generation.engine.worlds.clevr import spec as clevr_spec
from generation.engine.worlds.clevr.ablations import ABLATIONS
from generation.engine.worlds.clevr.asking import Asker
from generation.engine.worlds.clevr.boards import BOARD_VIEWS
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.clearness import is_clear
from generation.engine.worlds.clevr.diagnosing import answer_without_looking, diagnose
from generation.engine.worlds.clevr.functions import function_table
from generation.engine.worlds.clevr.gathering import gather
from generation.engine.worlds.clevr.lexicon import all_words
from generation.engine.worlds.clevr.paper import PUBLISHED
from generation.engine.worlds.clevr.picture import draw, draw_by_blender
from generation.engine.worlds.clevr.proofs import ClevrProver
from generation.engine.worlds.clevr.rules import check_rules
from generation.engine.worlds.clevr.sampling import sample_scene
from generation.engine.worlds.clevr.saying import say
from generation.engine.worlds.clevr.scene import Scene, read_scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.swatch import draw_swatch
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES
from generation.engine.worlds.published import Published


class ClevrMaker:
    """Makes CLEVR's scenes, questions and pictures."""

    def presets(self) -> tuple[str, ...]:
        return clevr_spec.presets()

    def preset(self, name: str) -> Mapping[str, Any]:
        return clevr_spec.preset(name)

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        gathered, found = gather(data, folder=folder)
        return given.with_splits(gathered, found), found

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        own = _clevr(spec).for_split(split)
        window, each, scenes = own.questions.window, own.questions.per_scene, own.splits[split].scenes
        return [
            Chunk(number, first, min(window, scenes - first), first * each, min(window, scenes - first) * each)
            for number, first in enumerate(range(0, scenes, window))
        ]

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        own = _clevr(spec).for_split(split)
        scenes, search, words = (
            stream(seed=spec.seed, split=split, index=chunk.number, stage=stage, secret=secret)
            for stage in (Stage.SCENE, Stage.QUESTIONS, Stage.WORDS)
        )
        asker = Asker(own, search=search, words=words)
        if own.scenes_file is not None:
            yield from given.make(own, split, chunk, content=own.scenes_file, asker=asker)
            return
        for position in range(chunk.items):
            for replaced in range(own.questions.replacements + 1):
                sampled = sample_scene(own, scenes)
                questions = asker.ask(sampled.scene, sampled.view)
                if questions is not None:
                    yield Item(sampled.scene, sampled.view, questions, replaced)
                    break
            else:
                raise Exhausted(
                    f"Expected a scene that admits {own.questions.per_scene} questions, got none among "
                    f"{own.questions.replacements + 1}: lower questions.per_scene, raise questions.search_states, "
                    f"{'loosen questions.only and questions.never, ' if asker.has_rules else ''}or give the families "
                    "more to ask about.",
                    where=f"{split}, scene {chunk.first_item + position}",
                    count=own.questions.replacements + 1,
                )

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        own = _clevr(spec).for_split(split)
        if own.scenes_file is not None and item.view is None:
            raise given.no_camera(own.images.width, own.images.height)
        scene, view = _seen(item)
        knobs = own.images
        own_seed = _seed_of(scene, view, seed=spec.seed)
        if knobs.renderer == "blender":
            return draw_by_blender(
                scene.objects, view, own.vocabulary, samples=knobs.samples, denoise=knobs.denoise, seed=own_seed
            )
        return draw(scene.objects, view, own.vocabulary, samples=knobs.samples, seed=own_seed)


class ClevrWorld:
    """How CLEVR's data are read."""

    name: ClassVar[str] = "clevr"
    label: ClassVar[str] = "CLEVR"
    media: ClassVar[Media] = Media.IMAGE
    formats: ClassVar[tuple[str, ...]] = (
        "generation.engine.worlds.clevr.formats.released:FORMAT",
        "generation.engine.worlds.clevr.formats.generator:FORMAT",
    )
    lengths: ClassVar[Mapping[str, int]] = {"effective": 6, "length": 8, "words": 12}
    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY,)
    views: ClassVar[tuple[ChartView, ...]] = clevr_facets.VIEWS
    board_views: ClassVar[tuple[BoardView, ...]] = BOARD_VIEWS
    ablations: ClassVar[tuple[Ablation, ...]] = ABLATIONS
    display: ClassVar[Display] = Display(needs_colour=True)
    maker: ClassVar[Maker | None] = ClevrMaker()
    published: ClassVar[Published] = PUBLISHED

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> ClevrSpec:
        spec = clevr_spec.read_spec(data, files=files)
        check_rules(spec)
        given.check(spec)
        return spec

    def read_scene(self, data: Mapping[str, Any]) -> Scene:
        return read_scene(data)

    def read_view(self, data: Mapping[str, Any]) -> View:
        return View.from_json(dict(data))

    def functions(self, spec: BaseSpec) -> FunctionTable:
        own = _clevr(spec)
        return function_table(own.vocabulary, most=own.scene.objects_max)

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        return clevr_facets.answers(_clevr(spec))

    def words(self, spec: BaseSpec) -> tuple[str, ...]:
        own = _clevr(spec)
        return all_words(own.families, own.vocabulary)

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        return clevr_facets.facets(_clevr(spec))

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        scene, view = _seen(item) if item.scene is not None else (None, View())
        return clevr_facets.facet_codes(_clevr(spec), scene, view, item.questions)

    def train_keys(self, spec: BaseSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return clevr_facets.train_keys(question)

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        return tuple(Column(label, "type", kind) for kind, label in clevr_facets.TYPES.items())

    def prompt(self, question: Question) -> str:
        forms = {
            AnswerKind.YES_NO: "Answer yes or no.",
            AnswerKind.INTEGER: "Answer with a number in digits.",
        }
        return f"{question.text}\n{forms.get(_answer_kind(question), 'Answer with one word.')}"

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        words = _clevr(spec).vocabulary
        kind = _answer_kind(question)
        if kind == AnswerKind.YES_NO:
            return AnswerForm(kind, ("yes", "no"), {})
        if kind == AnswerKind.INTEGER:
            return AnswerForm(kind, tuple(str(number) for number in range(_clevr(spec).scene.objects_max + 1)), {})
        if not question.kind:
            return AnswerForm(kind, self.answers(spec), {})
        attribute = question.kind.removeprefix("query_")
        swatches = {name: color.swatch for name, color in words.colors.items()} if attribute == "color" else {}
        return AnswerForm(kind, words.values(attribute), swatches)

    def draw_colour(self, spec: BaseSpec, name: str, *, which: int, size: int) -> NDArray[np.uint8] | None:
        return draw_swatch(name, _clevr(spec).vocabulary, which=which, size=size)

    def is_clear(self, spec: BaseSpec, item: Item) -> bool | None:
        if not isinstance(item.scene, Scene) or not isinstance(item.view, View):
            return None
        return is_clear(item.scene, item.view, _clevr(spec).vocabulary)

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        scene, _ = _seen(item)
        return tuple(
            Element(number, thing.describe(), {name: getattr(thing, name) for name in ATTRIBUTES})
            for number, thing in enumerate(scene.objects)
        )

    def equivalent(self, spec: BaseSpec, item: Item, program: Program) -> Equivalent | None:
        scene, view = _seen(item)
        [found] = diagnose(_clevr(spec), scene, view, [program])
        if found.effective is None:
            return None
        text = say(found.effective, _clevr(spec).vocabulary)
        return Equivalent(found.effective, text, answer_without_looking(found.effective))

    def prover(self, spec: BaseSpec, *, made: bool) -> ClevrProver:
        own = _clevr(spec)
        return ClevrProver(own, our_scenes=made and own.scenes_from is None, our_questions=made)


def _answer_kind(question: Question) -> AnswerKind:
    """Return the form of a question's answer, known without the answer; a value where the type isn't known."""
    if question.kind == "count":
        return AnswerKind.INTEGER
    return AnswerKind.VALUE if not question.kind or question.kind.startswith("query_") else AnswerKind.YES_NO


def _seed_of(scene: Scene, view: View, *, seed: int) -> int:
    """Return a seed of a scene's own, so that no two pictures have the same noise."""
    content = canonical([seed, scene.to_json(), view.to_json()])
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:4], "little")


def _clevr(spec: BaseSpec) -> ClevrSpec:
    assert isinstance(spec, ClevrSpec)
    return spec


def _seen(item: Item) -> tuple[Scene, View]:
    assert isinstance(item.scene, Scene)
    return item.scene, item.view if isinstance(item.view, View) else View()


WORLD = ClevrWorld()
