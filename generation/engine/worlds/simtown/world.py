"""SimTown: a street with vehicles, and questions about the relation of two of them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import AnswerForm, Chunk, Column, Display, Element, Facet, Item, Question
from generation.engine.program import FunctionTable
from generation.engine.seeding import Stage, stream
from generation.engine.spec import NO_FILES, BaseSpec
from generation.engine.worlds.base import SCENES_PER_CHUNK, Maker, World, equal_chunks
from generation.engine.worlds.breakdowns import Reweighting
from generation.engine.worlds.simtown import facets
from generation.engine.worlds.simtown.colours import SWATCHES
from generation.engine.worlds.simtown.frequency_files import with_shares
from generation.engine.worlds.simtown.item_sampler import ItemSampler
from generation.engine.worlds.simtown.levels import LEVELS
from generation.engine.worlds.simtown.picture import draw
from generation.engine.worlds.simtown.programs import RELATIONS, function_table
from generation.engine.worlds.simtown.proofs import SimTownProver
from generation.engine.worlds.simtown.question_text import words
from generation.engine.worlds.simtown.scene import SimTownScene
from generation.engine.worlds.simtown.spec import PRESETS, SimTownSpec

BLOCK = 10  # successive scenes of which half have the answer yes; longer splits begin like shorter ones


class SimTownMaker(Maker):
    """Makes streets, questions and pictures."""

    bundled = PRESETS

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return the spec with the content of the file that `questions.shares` names in its place."""
        return with_shares(data, lambda name: (folder / name).read_bytes()), {}

    def plan(self, spec: SimTownSpec, split: str) -> list[Chunk]:
        return equal_chunks(spec.splits[split].scenes, size=SCENES_PER_CHUNK, questions_each=1)

    def make(self, spec: SimTownSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        scenes, choices, texts = (
            stream(seed=spec.seed, split=split, index=chunk.number, stage=stage, secret=secret)
            for stage in (Stage.SCENE, Stage.QUESTIONS, Stage.WORDS)
        )
        making = ItemSampler(spec.for_split(split), scenes=scenes, choices=choices, words=texts)
        answers: list[bool] = []
        for position in range(chunk.items):
            if not position % BLOCK:
                answers = [True, False] * (BLOCK // 2)
                choices.shuffle(answers)
            where = f"{split}, scene {chunk.first_item + position}"
            yield making.item(holds=answers[position % BLOCK], where=where)

    def render(self, spec: SimTownSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        images = spec.for_split(split).images
        return draw(_scene_of(item), width=images.width, height=images.height, samples=images.samples)


class SimTown(World):
    """Reads SimTown's data."""

    name = "simtown"
    label = "SimTown"
    spec_model = SimTownSpec
    scene_model = SimTownScene
    kinds = tuple(RELATIONS)
    maker = SimTownMaker()
    views = facets.VIEWS
    levels = LEVELS
    board_views = facets.BOARD_VIEWS
    reweighting = Reweighting(("subject", "object"), are_different=True)
    display = Display(scale=4.0, smooth=True)

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BaseSpec:
        return super().read_spec(with_shares(data, files.__getitem__), files=files)

    def functions(self, spec: SimTownSpec) -> FunctionTable:
        return function_table(spec.names, tuple(RELATIONS), margin=spec.questions.margin)

    def answers(self, spec: SimTownSpec) -> tuple[str, ...]:
        return facets.ANSWERS

    def answer_form(self, spec: SimTownSpec, question: Question) -> AnswerForm:
        return facets.answer_form()

    def swatches(self, spec: SimTownSpec) -> Mapping[str, tuple[int, int, int]]:
        return SWATCHES

    def words(self, spec: SimTownSpec) -> tuple[str, ...]:
        return words(spec.names, tuple(RELATIONS))

    def facets(self, spec: SimTownSpec) -> tuple[Facet, ...]:
        return facets.facets(spec)

    def facet_codes(self, spec: SimTownSpec, item: Item) -> Mapping[str, Sequence[int]]:
        return facets.facet_codes(spec, item)

    def train_keys(self, spec: SimTownSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return facets.train_keys(question)

    def expected_shares(self, spec: SimTownSpec) -> Mapping[str, Sequence[float]]:
        return facets.expected_shares(spec)

    def columns(self, spec: SimTownSpec) -> tuple[Column, ...]:
        return facets.columns(spec)

    def elements(self, spec: SimTownSpec, item: Item) -> tuple[Element, ...]:
        scene = _scene_of(item)
        labels = [one.entity for one in scene.vehicles]
        labels += [f"{one.colour} {one.style}" for one in scene.street.buildings]
        labels += [one.kind for one in scene.street.things]
        return tuple(Element(number, label) for number, label in enumerate(labels))

    def prover(self, spec: SimTownSpec, *, made: bool) -> SimTownProver | None:
        return SimTownProver(spec) if made else None


def _scene_of(item: Item) -> SimTownScene:
    assert isinstance(item.scene, SimTownScene)
    return item.scene


WORLD = SimTown()
