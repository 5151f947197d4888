"""Where a world of one's own begins: what most small worlds answer alike, so that only what is special has to be said.

A world of pictures, questions with programs, and nothing that hangs on others' formats derives from `PlainWorld`, its
maker from `PlainMaker`; whatever they say can be said otherwise.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene, BadSpec
from generation.engine.items import (
    AnswerForm,
    ChartView,
    Chunk,
    Column,
    Display,
    Element,
    Equivalent,
    Facet,
    FacetKind,
    Item,
    Media,
    Metric,
    Question,
    SceneData,
    ViewData,
)
from generation.engine.program import FunctionTable, Program
from generation.engine.programs.ablation import Ablation
from generation.engine.scoring.score import ACCURACY
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.spec import NO_FILES, BaseSpec, Frozen, check_references, merged, read
from generation.engine.verification.checks import IDS_ALIKE, prove_alike
from generation.engine.verification.proof import Outputs, Proof
from generation.engine.worlds import Maker
from generation.engine.worlds.boards import BoardView

WINDOW = 100  # scenes that are made together


class PlainScene(Frozen):
    """A scene that is nothing but its JSON: a world's own has fields."""

    def to_json(self) -> dict[str, Any]:
        """Return the scene as JSON."""
        return self.model_dump(mode="json")


class PlainMaker(ABC):
    """Makes scenes one after the other, each from chance of its own, and asks about each equally often.

    Attributes
    ----------
    bundled : mapping of str to mapping
        The JSON of each preset, by its name.
    """

    bundled: ClassVar[Mapping[str, Mapping[str, Any]]]

    @abstractmethod
    def per_scene(self, spec: Any) -> int:
        """Return how many questions each scene has."""

    @abstractmethod
    def item(self, spec: Any, chance: Stream) -> Item:
        """Return a scene with its questions, drawn by chance."""

    @abstractmethod
    def draw(self, spec: Any, scene: Any) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return the picture `(height, width, 3)` uint8 sRGB and the object ids `(height, width)` uint16, 0 = none."""

    def presets(self) -> tuple[str, ...]:
        """Return the names of the bundled specs."""
        return tuple(self.bundled)

    def preset(self, name: str) -> Mapping[str, Any]:
        """Return a bundled spec as JSON; raise `BadSpec` for an unknown name."""
        if name not in self.bundled:
            raise BadSpec(f"Expected one of {', '.join(self.bundled)}, got {name!r}.", where="base")
        return self.bundled[name]

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return the spec as it is, which names no files."""
        return dict(data), {}

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        """Return chunks of `WINDOW` scenes, the last with what is left."""
        scenes, each = spec.splits[split].scenes, self.per_scene(spec.for_split(split))
        return [
            Chunk(number, first, min(WINDOW, scenes - first), first * each, min(WINDOW, scenes - first) * each)
            for number, first in enumerate(range(0, scenes, WINDOW))
        ]

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        """Yield the chunk's items in order."""
        own = spec.for_split(split)
        for position in range(chunk.first_item, chunk.first_item + chunk.items):
            chance = stream(seed=spec.seed, split=split, index=position, stage=Stage.SCENE, secret=secret)
            yield self.item(own, chance)

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return an item's picture and its object ids."""
        return self.draw(spec.for_split(split), item.scene)


class PlainProver:
    """Proves that pictures show their scenes, by drawing them again; of scenes themselves nothing is promised."""

    def __init__(self, maker: PlainMaker, spec: BaseSpec) -> None:
        self.maker, self.spec = maker, spec

    def begin(self) -> None:
        """Begin a chunk, of which nothing is kept."""

    def prove(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Leave scenes as they are; that programs give the answers is proved already."""
        proof.leave("scenes of a world that proves none")

    def prove_pictures(
        self, item: Item, rgb: NDArray[np.uint8] | None, ids: NDArray[np.uint16] | None, proof: Proof
    ) -> None:
        """Prove that pictures are those of the scene."""
        again, ids_again = self.maker.draw(self.spec, item.scene)
        if rgb is not None:
            prove_alike(rgb, again, proof)
        if ids is not None and proof.same("masks", ids_again.shape, ids.shape, what="object ids of shape "):
            alike = float((ids == ids_again).mean())
            proof.hold("masks", alike >= IDS_ALIKE, f"{IDS_ALIKE:.1%} of the pixels as drawn again", f"{alike:.1%}")


class PlainWorld(ABC):
    """Reads what such a maker makes.

    Attributes
    ----------
    spec_model : type of BaseSpec
    scene_model : type of PlainScene
    kinds : tuple of str
        The types of questions, which are their programs' last functions.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    spec_model: ClassVar[type[BaseSpec]]
    scene_model: ClassVar[type[PlainScene]]
    kinds: ClassVar[tuple[str, ...]]
    media: ClassVar[Media] = Media.IMAGE
    formats: ClassVar[tuple[str, ...]] = ()
    lengths: ClassVar[Mapping[str, int]] = {}
    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY,)
    views: ClassVar[tuple[ChartView, ...]] = (
        ChartView("types", "Types", "type", "type"),
        ChartView("answers", "Answers", "answer", "answer"),
    )
    board_views: ClassVar[tuple[BoardView, ...]] = (BoardView("types", "By type", "type", "type"),)
    ablations: ClassVar[tuple[Ablation, ...]] = ()
    display: ClassVar[Display] = Display()
    maker: ClassVar[Maker | None] = None

    @abstractmethod
    def functions(self, spec: Any) -> FunctionTable | None:
        """Return the functions of programs, or None where questions have none."""

    @abstractmethod
    def answers(self, spec: Any) -> tuple[str, ...]:
        """Return the whole vocabulary of answers, known before any question; code `i` means `answers[i]`."""

    @abstractmethod
    def words(self, spec: Any) -> tuple[str, ...]:
        """Return every word that a question can have, as `vocabulary.split_words` gives them."""

    @abstractmethod
    def answer_form(self, spec: Any, question: Question) -> AnswerForm:
        """Return how a person answers this question, of which the type is known, and perhaps no more."""

    @abstractmethod
    def elements(self, spec: Any, item: Item) -> tuple[Element, ...]:
        """Return what steps can point at; an element's silhouette has value id + 1 in the object-id image."""

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BaseSpec:
        """Return the validated spec, laid over the preset that it names; raise `BadSpec` naming the field."""
        whole = dict(data)
        base = whole.pop("base", None)
        if base is not None and self.maker is not None:
            whole = merged(self.maker.preset(base), whole)
        spec = read(self.spec_model, whole)
        check_references(spec)
        for name in spec.splits:
            spec.for_split(name)
        return spec

    def read_scene(self, data: Mapping[str, Any]) -> SceneData:
        """Return the scene that JSON describes; raise `BadScene`."""
        try:
            return read(self.scene_model, data)
        except BadSpec as error:
            raise BadScene(error.reason, where=error.where) from error

    def read_view(self, data: Mapping[str, Any]) -> ViewData:
        """Refuse: scenes are seen in one way."""
        raise BadScene("Expected no view.", where="view")

    def facets(self, spec: Any) -> tuple[Facet, ...]:
        """Return the question's type, which its words say, and its answer."""
        return (
            Facet("type", "type", FacetKind.CATEGORY, self.kinds, reveals=False),
            Facet("answer", "answer", FacetKind.CATEGORY, self.answers(spec), reveals=True),
        )

    def facet_codes(self, spec: Any, item: Item) -> Mapping[str, Sequence[int]]:
        """Return, for each facet, a code for each of an item's questions."""
        codes = {answer: code for code, answer in enumerate(self.answers(spec))}
        return {
            "type": [self.kinds.index(question.kind) for question in item.questions],
            "answer": [codes[question.answer.text] if question.answer else -1 for question in item.questions],
        }

    def train_keys(self, spec: Any, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        """Return nothing: no facet needs the train split."""
        return {}

    def columns(self, spec: Any) -> tuple[Column, ...]:
        """Return a column for each type."""
        return tuple(Column(kind, "type", kind) for kind in self.kinds)

    def prompt(self, question: Question) -> str:
        """Return what a model is told: the question and the form of its answer."""
        return f"{question.text}\nAnswer with one word or number."

    def draw_colour(self, spec: Any, name: str, *, which: int, size: int) -> NDArray[np.uint8] | None:
        """Return None: nothing draws a colour alone."""
        return None

    def is_clear(self, spec: Any, item: Item) -> bool | None:
        """Return None: how easily things are seen isn't known."""
        return None

    def equivalent(self, spec: Any, item: Item, program: Program) -> Equivalent | None:
        """Return None: shorter programs aren't looked for."""
        return None

    def prover(self, spec: Any, *, made: bool) -> PlainProver | None:
        """Return what proves that pictures show their scenes; None for a maker of another kind."""
        return PlainProver(self.maker, spec) if isinstance(self.maker, PlainMaker) else None
