"""A world of counting questions whose texts do not depend on the secret; the secret determines answers and boxes.

The world names every metric, and weights for the reweighted accuracy, so that figures read the answers of references in
every way that there is. A split without a secret is the same on each site.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import (
    Answer,
    AnswerForm,
    AnswerKind,
    Box,
    ChartView,
    Chunk,
    Column,
    Element,
    Facet,
    FacetKind,
    Item,
    Needs,
    Question,
)
from generation.engine.scoring.counts.metrics import METRICS
from generation.engine.seeding import Stage, stream
from generation.engine.spec import BaseSpec
from generation.engine.worlds import SEEN, UNSEEN
from generation.engine.worlds.base import Maker, World, equal_chunks
from generation.engine.worlds.breakdowns import BoardView, Reweighting

NAME, WHERE = "tallies", "tests.tallies:WORLD"
MOST = 6
NUMBERS = tuple(str(number) for number in range(MOST + 1))
KINDS = ("sheep", "goats")
SIDE = 4  # pixels of an animal
SPEC: dict[str, Any] = {
    "world": NAME,
    "seed": 5,
    "title": "Tallies",
    "splits": {
        "train": {"scenes": 12, "withheld": True},
        "val": {"scenes": 20},
        "test": {"scenes": 12, "withheld": True},
    },
}


class TallySpec(BaseSpec):
    """A dataset of tallies."""

    world: Literal["tallies"] = "tallies"


@dataclass(frozen=True)
class Flock:
    """The number of animals of each kind."""

    counts: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {"counts": list(self.counts)}


class TallyMaker(Maker):
    """Makes flocks, each with a question about each kind."""

    bundled: ClassVar = {NAME: SPEC}

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        return equal_chunks(spec.splits[split].scenes, size=10, questions_each=len(KINDS))

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        for index in range(chunk.first_item, chunk.first_item + chunk.items):
            draw = stream(seed=spec.seed, split=split, index=index, stage=Stage.SCENE, secret=secret)
            # Numbers near a random one are frequent, another one with each secret.
            usual = stream(seed=spec.seed, split=split, index=0, stage=Stage.QUESTIONS, secret=secret).below(MOST + 1)
            counts = tuple(usual if draw.below(2) else draw.below(MOST + 1) for _ in KINDS)
            asked = tuple(
                Question(f"How many {kind} are in field {index}?", None, Answer(str(n), AnswerKind.INTEGER), kind)
                for kind, n in zip(KINDS, counts, strict=True)
            )
            yield Item(Flock(counts), None, asked)

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        raise NotImplementedError("datasets of tallies have no pictures")


class TallyWorld(World):
    """The world of tallies."""

    name = NAME
    label = "Tallies"
    spec_model = TallySpec
    views = (ChartView("answers", "Answers", "answer", "answer"),)
    board_views = (BoardView("kinds", "By kind", "type", "kind"),)
    metrics = tuple(METRICS)
    reweighting = Reweighting(("type", "answer"))
    maker = TallyMaker()

    def read_scene(self, data: Mapping[str, Any]) -> Flock:
        return Flock(tuple(data["counts"]))

    def functions(self, spec: BaseSpec) -> None:
        return None

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        return NUMBERS

    def most_counted(self, spec: Any) -> int:
        return MOST

    def counted(self, spec: Any, item: Item, question: Question) -> tuple[int, ...]:
        return tuple(element.id for element in self.elements(spec, item) if element.label == question.kind)

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        return (
            Facet("type", "type", FacetKind.CATEGORY, KINDS, reveals=False),
            Facet("answer", "answer", FacetKind.INTEGER, NUMBERS, reveals=True),
            Facet("seen_text", "text seen", FacetKind.CATEGORY, (SEEN, UNSEEN), False, Needs.TRAIN),
        )

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        return {
            "type": [KINDS.index(question.kind or "") for question in item.questions],
            "answer": [int(question.answer.text) if question.answer else -1 for question in item.questions],
        }

    def train_keys(self, spec: Any, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return {"seen_text": (question.text,)}

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        return tuple(Column(kind, "type", kind) for kind in KINDS)

    def prompt(self, spec: Any, question: Question) -> str:
        return f"{question.text}\nAnswer with a number in digits."

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        return AnswerForm(AnswerKind.INTEGER, NUMBERS, {})

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        flock = item.scene
        assert isinstance(flock, Flock)
        kinds = [kind for kind, n in zip(KINDS, flock.counts, strict=True) for _ in range(n)]
        return tuple(Element(at, kind, box=_box(at)) for at, kind in enumerate(kinds))


def _box(at: int) -> Box:
    return (SIDE * at, 0, SIDE * (at + 1), SIDE)


WORLD = TallyWorld()
