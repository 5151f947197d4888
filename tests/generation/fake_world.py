"""A fake world whose scenes are rows of numbers. It shows that storage works for any world.

`FAKE_WORLD_DIES_AT=stage:number` kills the process, as a power cut would. The number is the index of the item at stage
`items`, and the first number of the row at stages `images` and `seal`.
"""

import hashlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.errors import BadScene, BadSpec, Exhausted
from generation.engine.items import (
    Answer,
    AnswerForm,
    AnswerKind,
    Chunk,
    Column,
    Element,
    Facet,
    FacetKind,
    Item,
    Question,
)
from generation.engine.program import FunctionTable, Step
from generation.engine.seeding import Stage, stream
from generation.engine.spec import NO_FILES, BaseSpec
from generation.engine.worlds.base import Maker, World, equal_chunks

NAME = "fake-rows"
WHERE = "tests.generation.fake_world:WORLD"
PRESET: dict[str, Any] = {
    "world": NAME,
    "seed": 1,
    "title": "Rows of numbers",
    "splits": {"train": {"scenes": 30}, "val": {"scenes": 8}, "test": {"scenes": 7, "withheld": True}},
}
WORDS = ("sum", "largest", "odd", "empty")


class RowSpec(BaseSpec):
    """The parameters of a dataset of rows."""

    scenes_per_chunk: int = Field(default=12, ge=1)
    questions_per_scene: int = Field(default=3, ge=1)
    numbers: int = Field(default=4, ge=1, le=9)
    size: int = Field(default=12, ge=1)
    ids_up_to: int = Field(default=4, ge=1, le=65535)
    impossible_scene: int | None = None
    broken_scene: int | None = None
    note: str | None = None


@dataclass(frozen=True)
class Row:
    """A row of numbers."""

    numbers: tuple[int, ...]
    weight: float

    def to_json(self) -> dict[str, Any]:
        return {"numbers": list(self.numbers), "weight": self.weight, "name": "Zeile – 行"}


@dataclass(frozen=True)
class Frame:
    """The view that a row is seen from."""

    tilt: float

    def to_json(self) -> dict[str, Any]:
        return {"tilt": self.tilt}


def die_at(stage: str, number: int) -> None:
    """Kill this process if the test asked for it at this stage and number."""
    if os.environ.get("FAKE_WORLD_DIES_AT") == f"{stage}:{number}":
        os.kill(os.getpid(), signal.SIGKILL)


class RowMaker(Maker):
    """Makes rows."""

    bundled: ClassVar = {"fake-mini": PRESET}

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        note = data.get("note")
        if not isinstance(note, str) or not note.endswith(".txt"):
            return dict(data), {}
        try:
            content = (folder / note).read_bytes()
        except OSError as error:
            raise BadSpec(f"Expected a file, got {note!r}.", where="note") from error
        digest = hashlib.sha256(content).hexdigest()
        return {**data, "note": digest}, {digest: content}

    def plan(self, spec: RowSpec, split: str) -> list[Chunk]:
        scenes = spec.splits[split].scenes
        return equal_chunks(scenes, size=spec.scenes_per_chunk, questions_each=spec.questions_per_scene)

    def make(self, spec: RowSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        spec = spec.for_split(split)
        for index in range(chunk.first_item, chunk.first_item + chunk.items):
            die_at("items", index)
            if index == spec.impossible_scene:
                raise Exhausted("Expected a row within 3 tries, got none.", where=f"scene {index}", count=3)
            if index == spec.broken_scene:
                raise ZeroDivisionError("a bug of the world")
            draw = stream(seed=spec.seed, split=split, index=index, stage=Stage.SCENE, secret=secret)
            numbers = tuple(draw.below(10) for _ in range(spec.numbers))
            row = Row(numbers, round(draw.uniform(-1, 1), 6))
            asked = tuple(_question(row, kind=WORDS[draw.below(4)]) for _ in range(spec.questions_per_scene))
            yield Item(row, Frame(round(draw.random(), 6)), asked, replaced=draw.below(3))

    def render(self, spec: RowSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        assert isinstance(item.scene, Row)
        die_at("images", item.scene.numbers[0])
        ids = np.zeros((spec.size, spec.size + 4), dtype=np.uint16)
        ids[0, :4] = (0, 1, 2, spec.ids_up_to)
        rgb = np.full((*ids.shape, 3), item.scene.numbers[0] * 20, dtype=np.uint8)
        return rgb, ids


def _question(row: Row, *, kind: str) -> Question:
    program = (Step("numbers"), Step(kind, (0,), (str(len(row.numbers)),)))
    if kind == "empty":  # a question of which no program and no answer are known
        return Question("What’s left?", kind=kind, source_id="e-1")
    if kind == "odd":
        odd = sorted({number for number in row.numbers if number % 2})
        answer = Answer("yes" if odd else "no", AnswerKind.YES_NO, "YES" if odd else None)
        return Question("Is any number odd?", program, answer, kind, family=2, scope=len(row.numbers))
    value = sum(row.numbers) if kind == "sum" else max(row.numbers)
    text = f"What is the {kind} of the {len(row.numbers)} numbers, the {kind}?"
    return Question(text, program, Answer(str(value), AnswerKind.INTEGER), kind, family=WORDS.index(kind))


class RowWorld(World):
    """The world of rows of numbers."""

    name = NAME
    label = "Rows of numbers"
    spec_model = RowSpec
    views = ()
    board_views = ()
    maker = RowMaker()

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BaseSpec:
        spec = super().read_spec(data)
        if spec.note is not None and spec.note not in files:
            raise BadSpec(f"Expected a file that came with the spec, got {spec.note!r}.", where="note")
        return spec

    def read_scene(self, data: Mapping[str, Any]) -> Row:
        if "numbers" not in data:
            raise BadScene("Expected numbers, got none.")
        return Row(tuple(data["numbers"]), data["weight"])

    def read_view(self, data: Mapping[str, Any]) -> Frame:
        return Frame(data["tilt"])

    def functions(self, spec: BaseSpec) -> FunctionTable | None:
        return None

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        return ("yes", "no", *(str(value) for value in range(82)))

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        return (
            Facet("type", "Type", FacetKind.CATEGORY, WORDS, reveals=False),
            Facet("total", "Total", FacetKind.INTEGER, tuple(str(n) for n in range(400)), reveals=True),
            Facet("has", "Has", FacetKind.FLAGS, ("zero", "nine", "five"), reveals=True),
        )

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        assert isinstance(item.scene, Row)
        die_at("seal", item.scene.numbers[0])
        numbers = item.scene.numbers
        flags = (0 in numbers) + 2 * (9 in numbers) + 4 * (5 in numbers)
        return {
            "type": [WORDS.index(question.kind) for question in item.questions],
            "total": [-1 if question.answer is None else sum(numbers) for question in item.questions],
            "has": [flags for _ in item.questions],
        }

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        return ()

    def prompt(self, spec: BaseSpec, question: Question) -> str:
        return question.text

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        return AnswerForm(AnswerKind.INTEGER, self.answers(spec), {})

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        assert isinstance(item.scene, Row)
        return tuple(Element(i, str(number)) for i, number in enumerate(item.scene.numbers))


WORLD = RowWorld()
