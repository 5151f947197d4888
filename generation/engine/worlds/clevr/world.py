"""CLEVR: rendered scenes of simple solids, and questions with programs."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generation.engine.content_hash import canonical
from generation.engine.errors import Exhausted
from generation.engine.formats.rle import masks
from generation.engine.items import (
    AnswerForm,
    AnswerKind,
    Box,
    Chunk,
    Column,
    Element,
    Equivalent,
    Facet,
    Item,
    Question,
)
from generation.engine.program import FunctionTable, Program
from generation.engine.seeding import Stage, stream
from generation.engine.spec import NO_FILES
from generation.engine.worlds.base import Maker, World, equal_chunks
from generation.engine.worlds.clevr import facets as clevr_facets
from generation.engine.worlds.clevr import spec as clevr_spec
from generation.engine.worlds.clevr import spec_files
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.facets import BOARD_VIEWS, PUBLISHED, is_clear
from generation.engine.worlds.clevr.levels import LEVELS
from generation.engine.worlds.clevr.picture import draw, draw_by_blender, draw_ids, draw_swatch
from generation.engine.worlds.clevr.programs import ABLATIONS, function_table, objects_counted
from generation.engine.worlds.clevr.proofs import ClevrProver
from generation.engine.worlds.clevr.question_demands import answer_without_looking, diagnose
from generation.engine.worlds.clevr.question_generation import Asker
from generation.engine.worlds.clevr.question_rules import (
    check_rules,
    trivial_families,
    with_trivial_families_left_out,
)
from generation.engine.worlds.clevr.question_text import all_words, families_in_words, say
from generation.engine.worlds.clevr.scene import ClevrScene, read_scene
from generation.engine.worlds.clevr.scene_sampling import sample_scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.spec_files import gather
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES
from generation.engine.worlds.clevr.word_rules import check_words


class ClevrMaker(Maker):
    """Makes CLEVR's scenes, questions and pictures."""

    bundled = clevr_spec.PRESETS

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        gathered, found = gather(data, folder=folder)
        return spec_files.with_splits(gathered, found), found

    def plan(self, spec: ClevrSpec, split: str) -> list[Chunk]:
        own = spec.for_split(split)
        asked = own.questions
        return equal_chunks(own.splits[split].scenes, size=asked.window, questions_each=asked.per_scene)

    def make(self, spec: ClevrSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        own = spec.for_split(split)
        scenes, search, words = (
            stream(seed=spec.seed, split=split, index=chunk.number, stage=stage, secret=secret)
            for stage in (Stage.SCENE, Stage.QUESTIONS, Stage.WORDS)
        )
        asker = Asker(own, search=search, words=words)
        if own.scenes_file is not None:
            yield from spec_files.make(own, split, chunk, content=own.scenes_file, asker=asker)
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

    def render(self, spec: ClevrSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        own = spec.for_split(split)
        if own.scenes_file is not None and item.view is None:
            raise spec_files.no_camera(own.images.width, own.images.height)
        scene, view = _scene_and_view(item)
        parameters = own.images
        own_seed = _seed_of(scene, view, seed=spec.seed)
        if parameters.renderer == "blender":
            return draw_by_blender(
                scene.objects,
                view,
                own.vocabulary,
                samples=parameters.samples,
                denoise=parameters.denoise,
                seed=own_seed,
            )
        return draw(scene.objects, view, own.vocabulary, samples=parameters.samples, seed=own_seed)


class ClevrWorld(World):
    """Reads CLEVR's data."""

    name = "clevr"
    label = "CLEVR"
    spec_model = ClevrSpec
    scene_model = ClevrScene
    formats = (
        "generation.engine.worlds.clevr.formats.release_writer:FORMAT",
        "generation.engine.worlds.clevr.formats.generator_format:FORMAT",
    )
    checks_since: ClassVar = {"texts": 4, "rerendered": 4}
    lengths: ClassVar = {"effective": 6, "length": 8, "words": 12}
    views = clevr_facets.VIEWS
    board_views = BOARD_VIEWS
    levels = LEVELS
    ablations = ABLATIONS
    maker = ClevrMaker()
    published = PUBLISHED

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> ClevrSpec:
        stored = self.read_stored_spec(data, files=files)
        check_words(stored)
        spec = with_trivial_families_left_out(stored)
        if spec is not stored:
            check_rules(spec)
        return spec

    def left_out(self, spec: ClevrSpec, split: str) -> tuple[str, ...]:
        own = spec.for_split(split)
        return families_in_words(own.families, own.vocabulary, trivial_families(own))

    def read_stored_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> ClevrSpec:
        spec = clevr_spec.read_spec(data, files=files)
        check_rules(spec)
        spec_files.check(spec)
        return spec

    def read_scene(self, data: Mapping[str, Any]) -> ClevrScene:
        return read_scene(data)

    def read_view(self, data: Mapping[str, Any]) -> View:
        return View.from_json(dict(data))

    def functions(self, spec: ClevrSpec) -> FunctionTable:
        return function_table(spec.vocabulary, most=spec.scene.objects_max)

    def answers(self, spec: ClevrSpec) -> tuple[str, ...]:
        return clevr_facets.answers(spec)

    def words(self, spec: ClevrSpec) -> tuple[str, ...]:
        return all_words(spec.families, spec.vocabulary)

    def facets(self, spec: ClevrSpec) -> tuple[Facet, ...]:
        return clevr_facets.facets(spec)

    def facet_codes(self, spec: ClevrSpec, item: Item) -> Mapping[str, Sequence[int]]:
        scene, view = _scene_and_view(item) if item.scene is not None else (None, View())
        return clevr_facets.facet_codes(spec, scene, view, item.questions)

    def train_keys(self, spec: ClevrSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return clevr_facets.train_keys(question)

    def columns(self, spec: ClevrSpec) -> tuple[Column, ...]:
        return tuple(Column(label, "type", kind) for kind, label in clevr_facets.TYPES.items())

    def synonyms(self, spec: ClevrSpec) -> Mapping[str, str]:
        return spec.vocabulary.synonyms

    def answer_form(self, spec: ClevrSpec, question: Question) -> AnswerForm:
        kind = _answer_kind(question)
        if kind == AnswerKind.YES_NO:
            return AnswerForm(kind, ("yes", "no"), {})
        if kind == AnswerKind.INTEGER:
            return AnswerForm(kind, tuple(str(number) for number in range(spec.scene.objects_max + 1)), {})
        if not question.kind:
            return AnswerForm(kind, self.answers(spec), {})
        attribute = question.kind.removeprefix("query_")
        return AnswerForm(kind, spec.vocabulary.values(attribute), self.swatches(spec) if attribute == "color" else {})

    def swatches(self, spec: ClevrSpec) -> Mapping[str, tuple[int, int, int]]:
        return {name: color.swatch for name, color in spec.vocabulary.colors.items()}

    def draw_colour(self, spec: ClevrSpec, name: str, *, which: int, size: int) -> NDArray[np.uint8] | None:
        return draw_swatch(name, spec.vocabulary, which=which, size=size)

    def is_clear(self, spec: ClevrSpec, item: Item) -> bool | None:
        if not isinstance(item.scene, ClevrScene) or not isinstance(item.view, View):
            return None
        return is_clear(item.scene, item.view, spec.vocabulary)

    def elements(self, spec: ClevrSpec, item: Item) -> tuple[Element, ...]:
        scene, _ = _scene_and_view(item)
        return tuple(
            Element(number, thing.describe(), {name: getattr(thing, name) for name in ATTRIBUTES})
            for number, thing in enumerate(scene.objects)
        )

    def counted(self, spec: ClevrSpec, item: Item, question: Question) -> tuple[int, ...] | None:
        if question.program is None or not isinstance(item.scene, ClevrScene):
            return None
        return objects_counted(question.program, item.scene)

    def element_boxes(self, spec: ClevrSpec, item: Item) -> Mapping[int, Box]:
        if not isinstance(item.scene, ClevrScene) or not isinstance(item.view, View):
            return {}
        found = masks(draw_ids(item.scene.objects, item.view, spec.vocabulary))
        boxes = {label - 1: mask.box for label, mask in found.items()}
        return {number: (x, y, x + width, y + height) for number, (x, y, width, height) in boxes.items()}

    def equivalent(self, spec: ClevrSpec, item: Item, program: Program) -> Equivalent | None:
        scene, view = _scene_and_view(item)
        [found] = diagnose(spec, scene, view, [program])
        if found.effective is None:
            return None
        text = say(found.effective, spec.vocabulary)
        return Equivalent(found.effective, text, answer_without_looking(found.effective))

    def prover(self, spec: ClevrSpec, *, made: bool) -> ClevrProver:
        return ClevrProver(spec, our_scenes=made and spec.scenes_from is None, our_questions=made)


def _answer_kind(question: Question) -> AnswerKind:
    """Return the form of a question's answer from its type; `VALUE` if the type is unknown."""
    if question.kind == "count":
        return AnswerKind.INTEGER
    return AnswerKind.VALUE if not question.kind or question.kind.startswith("query_") else AnswerKind.YES_NO


def _seed_of(scene: ClevrScene, view: View, *, seed: int) -> int:
    """Return a seed that depends on scene and view, so that no two pictures have the same noise."""
    content = canonical([seed, scene.to_json(), view.to_json()])
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:4], "little")


def _scene_and_view(item: Item) -> tuple[ClevrScene, View]:
    assert isinstance(item.scene, ClevrScene)
    return item.scene, item.view if isinstance(item.view, View) else View()


WORLD = ClevrWorld()
