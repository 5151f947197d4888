"""Counting: "how many" questions, published ones about photographs, and made ones about CLEVR's scenes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import (
    AnswerForm,
    AnswerKind,
    Box,
    Column,
    Element,
    Equivalent,
    Facet,
    Item,
    Question,
    SceneData,
)
from generation.engine.program import FunctionTable, Program
from generation.engine.worlds.base import World
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.programs import ABLATIONS, function_table
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.world import WORLD as CLEVR
from generation.engine.worlds.counting import facets
from generation.engine.worlds.counting.levels import LEVELS
from generation.engine.worlds.counting.made_facets import expected_shares
from generation.engine.worlds.counting.maker import CountingMaker
from generation.engine.worlds.counting.picture_scene import PictureScene
from generation.engine.worlds.counting.proofs import CountingProver
from generation.engine.worlds.counting.spec import CountingSpec
from generation.engine.worlds.counting.statements import COMPLEX, SIMPLE, kind_of, words


class CountingWorld(World):
    """Reads counting questions."""

    name = "counting"
    label = "Counting"
    spec_model = CountingSpec
    scene_model = PictureScene
    kinds = facets.KINDS
    maker = CountingMaker()
    lengths: ClassVar = {"attributes": 1}
    views = facets.VIEWS
    board_views = facets.BOARD_VIEWS
    levels = LEVELS
    ablations = ABLATIONS
    count_groups = "type"
    unknown_group = facets.UNKNOWN
    metrics = (
        *("rmse", "groundp", "ap", "l1", "relative_error", "mean_over_labels"),
        *("odd", "even", "own_parity", "opposite_parity", "biased_errors"),
    )

    def read_scene(self, data: Mapping[str, Any]) -> SceneData:
        return super().read_scene(data) if "image" in data else CLEVR.read_scene(data)

    def read_view(self, data: Mapping[str, Any]) -> View:
        return CLEVR.read_view(data)

    def functions(self, spec: CountingSpec) -> FunctionTable:
        return replace(function_table(spec.clevr.vocabulary, most=spec.most), kind_of=kind_of)

    def answers(self, spec: CountingSpec) -> tuple[str, ...]:
        return facets.answers(spec)

    def most_counted(self, spec: CountingSpec) -> int:
        return spec.most

    def answer_form(self, spec: CountingSpec, question: Question) -> AnswerForm:
        return AnswerForm(AnswerKind.INTEGER, facets.answers(spec), {})

    def words(self, spec: CountingSpec) -> tuple[str, ...] | None:
        return None if spec.classes else words(spec.clevr.vocabulary)

    def facets(self, spec: CountingSpec) -> tuple[Facet, ...]:
        return facets.facets(spec)

    def facet_codes(self, spec: CountingSpec, item: Item) -> Mapping[str, Sequence[int]]:
        return facets.facet_codes(spec, item)

    def train_keys(self, spec: CountingSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return {"seen_text": (question.text,)}

    def expected_shares(self, spec: CountingSpec) -> Mapping[str, Sequence[float]]:
        return expected_shares(spec)

    def columns(self, spec: CountingSpec) -> tuple[Column, ...]:
        return tuple(Column(kind, "type", kind) for kind in (SIMPLE, COMPLEX))

    def swatches(self, spec: CountingSpec) -> Mapping[str, tuple[int, int, int]]:
        return CLEVR.swatches(spec.clevr)

    def draw_colour(self, spec: CountingSpec, name: str, *, which: int, size: int) -> NDArray[np.uint8] | None:
        return CLEVR.draw_colour(spec.clevr, name, which=which, size=size)

    def elements(self, spec: CountingSpec, item: Item) -> tuple[Element, ...]:
        if isinstance(item.scene, PictureScene):
            return item.scene.elements()
        return CLEVR.elements(spec.clevr, item) if isinstance(item.scene, ClevrScene) else ()

    def counted(self, spec: CountingSpec, item: Item, question: Question) -> tuple[int, ...] | None:
        if isinstance(item.scene, PictureScene):
            return item.scene.ids_of(question)
        return CLEVR.counted(spec.clevr, item, question)

    def element_boxes(self, spec: CountingSpec, item: Item) -> Mapping[int, Box]:
        if isinstance(item.scene, PictureScene):
            return super().element_boxes(spec, item)
        return CLEVR.element_boxes(spec.clevr, item)

    def is_clear(self, spec: CountingSpec, item: Item) -> bool | None:
        return CLEVR.is_clear(spec.clevr, item)

    def equivalent(self, spec: CountingSpec, item: Item, program: Program) -> Equivalent | None:
        return CLEVR.equivalent(spec.clevr, item, program)

    def prover(self, spec: CountingSpec, *, made: bool) -> CountingProver | None:
        return CountingProver(spec) if made else None


WORLD = CountingWorld()
