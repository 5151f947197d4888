"""A small world that nobody asked for: rows of numbers. It proves that storage knows no world.

`FAKE_WORLD_DIES_AT=stage:number` kills the process, as a power cut would, at that item of that stage.
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
    ChartView,
    Chunk,
    Column,
    Display,
    Element,
    Facet,
    FacetKind,
    Item,
    Media,
    Metric,
    Question,
)
from generation.engine.program import FunctionTable, Program, Step
from generation.engine.programs.ablation import Ablation
from generation.engine.seeding import Stage, stream
from generation.engine.spec import BaseSpec, merged, read
from generation.engine.worlds import NO_FILES, Maker
from generation.engine.worlds.boards import BoardView

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
    """What rows are like."""

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
    """Where it is seen from."""

    tilt: float

    def to_json(self) -> dict[str, Any]:
        return {"tilt": self.tilt}


def die_at(stage: str, number: int) -> None:
    """End this process at once, if that is what the test wants."""
    if os.environ.get("FAKE_WORLD_DIES_AT") == f"{stage}:{number}":
        os.kill(os.getpid(), signal.SIGKILL)


class RowMaker:
    """Makes rows."""

    def presets(self) -> tuple[str, ...]:
        return ("fake-mini",)

    def preset(self, name: str) -> Mapping[str, Any]:
        if name != "fake-mini":
            raise BadSpec(f"Expected fake-mini, got {name!r}.", where="base")
        return PRESET

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

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        assert isinstance(spec, RowSpec)
        per, asked = spec.scenes_per_chunk, spec.questions_per_scene
        total = spec.splits[split].scenes
        return [
            Chunk(number, first, count, first * asked, count * asked)
            for number, first in enumerate(range(0, total, per))
            for count in [min(per, total - first)]
        ]

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        assert isinstance(spec, RowSpec)
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

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        assert isinstance(spec, RowSpec) and isinstance(item.scene, Row)
        die_at("images", item.scene.numbers[0])
        ids = np.zeros((spec.size, spec.size + 4), dtype=np.uint16)
        ids[0, :4] = (0, 1, 2, spec.ids_up_to)
        rgb = np.full((*ids.shape, 3), item.scene.numbers[0] * 20, dtype=np.uint8)
        return rgb, ids


def _question(row: Row, *, kind: str) -> Question:
    program = (Step("numbers"), Step(kind, (0,), (str(len(row.numbers)),)))
    if kind == "empty":  # nothing is known but the words
        return Question("What’s left?", kind=kind, source_id="e-1")
    if kind == "odd":
        odd = sorted({number for number in row.numbers if number % 2})
        answer = Answer("yes" if odd else "no", AnswerKind.YES_NO, "YES" if odd else None)
        return Question("Is any number odd?", program, answer, kind, family=2, scope=len(row.numbers))
    value = sum(row.numbers) if kind == "sum" else max(row.numbers)
    text = f"What is the {kind} of the {len(row.numbers)} numbers, the {kind}?"
    return Question(text, program, Answer(str(value), AnswerKind.INTEGER), kind, family=WORDS.index(kind))


class RowWorld:
    """How rows are read."""

    name: ClassVar[str] = NAME
    label: ClassVar[str] = "Rows of numbers"
    media: ClassVar[Media] = Media.IMAGE
    formats: ClassVar[tuple[str, ...]] = ()
    lengths: ClassVar[Mapping[str, int]] = {}
    metrics: ClassVar[tuple[Metric, ...]] = ()
    views: ClassVar[tuple[ChartView, ...]] = ()
    board_views: ClassVar[tuple[BoardView, ...]] = ()
    ablations: ClassVar[tuple[Ablation, ...]] = ()
    display: ClassVar[Display] = Display()
    maker: ClassVar[Maker | None] = RowMaker()

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BaseSpec:
        data = dict(data)
        base = data.pop("base", None)
        if base is not None:
            data = merged(RowMaker().preset(base), data)
        spec = read(RowSpec, data)
        if spec.note is not None and spec.note not in files:
            raise BadSpec(f"Expected a file that came with the spec, got {spec.note!r}.", where="note")
        for name in spec.splits:
            spec.for_split(name)
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

    def train_keys(self, spec: BaseSpec, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        return {}

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        return ()

    def prompt(self, question: Question) -> str:
        return question.text

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        return AnswerForm(AnswerKind.INTEGER, self.answers(spec), {})

    def equivalent(self, spec: BaseSpec, item: Item, program: Program) -> None:
        return None

    def draw_colour(self, spec: BaseSpec, name: str, *, which: int, size: int) -> None:
        return None

    def is_clear(self, spec: BaseSpec, item: Item) -> bool | None:
        return None

    def prover(self, spec: BaseSpec, *, made: bool) -> None:
        return None

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        assert isinstance(item.scene, Row)
        return tuple(Element(i, str(number)) for i, number in enumerate(item.scene.numbers))


WORLD = RowWorld()
