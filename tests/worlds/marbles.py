"""A minimal world for tests of all worlds: marbles in a row are counted by colour."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadScene
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
    Question,
)
from generation.engine.program import Function, FunctionTable, Program, Shown, Step, without
from generation.engine.programs.ablation import Ablation
from generation.engine.seeding import Stage, stream
from generation.engine.spec import BaseSpec
from generation.engine.worlds.base import Maker, World, equal_chunks
from generation.engine.worlds.breakdowns import BoardView

NAME, WHERE = "marbles", "tests.worlds.marbles:WORLD"
COLORS = ("black", "white")
MOST = 9
NUMBERS = tuple(str(number) for number in range(MOST + 1))
WINDOW = 3
PRESETS: dict[str, dict[str, Any]] = {
    "marbles": {"world": NAME, "splits": {"train": {"scenes": 7}, "val": {"scenes": 2}}}
}


class MarbleSpec(BaseSpec):
    """A dataset of marbles."""

    world: Literal["marbles"] = "marbles"


@dataclass(frozen=True)
class Row:
    """Marbles from left to right. As a view, only the drawn width of each marble matters."""

    marbles: tuple[str, ...] = ()
    width: int = 4

    def to_json(self) -> dict[str, Any]:
        return {"marbles": list(self.marbles), "width": self.width}


class MarbleMaker(Maker):
    """Generates rows of marbles."""

    bundled = PRESETS

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        return equal_chunks(spec.splits[split].scenes, size=WINDOW, questions_each=len(COLORS))

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        chance = stream(seed=spec.seed, split=split, index=chunk.number, stage=Stage.SCENE, secret=secret)
        for _ in range(chunk.items):
            row = Row(tuple(chance.choice(COLORS) for _ in range(MOST)))
            yield Item(row, Row(width=4), tuple(self.ask(row, color) for color in COLORS))

    def ask(self, row: Row, color: str) -> Question:
        """Return the question how many marbles have a colour."""
        return Question(
            text=f"How many marbles are {color}?",
            program=(Step("scene"), Step("filter_color", (0,), (color,)), Step("count", (1,))),
            answer=Answer(str(row.marbles.count(color)), AnswerKind.INTEGER),
            kind="count",
            family=COLORS.index(color),
        )

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        assert isinstance(item.scene, Row)
        ids = np.repeat(np.arange(1, len(item.scene.marbles) + 1, dtype=np.uint16), 4)[None, :].repeat(4, axis=0)
        light = np.array([0, *(255 * (color == COLORS[1]) for color in item.scene.marbles)], np.uint8)
        return np.repeat(light[ids][..., None], 3, axis=2), ids


def leave_out(program: Program) -> Program | None:
    """Return the program without its filter."""
    found = [number for number, step in enumerate(program) if step.function == "filter_color"]
    return without(program, found[-1], instead=program[found[-1]].inputs[0]) if found else None


class MarbleWorld(World):
    """The world of marbles."""

    name = NAME
    label = "Marbles"
    spec_model = MarbleSpec
    views = (ChartView("colors", "Colours", "color", "colour asked for"),)
    board_views = (BoardView("colors", "By colour", "color", "colour asked for"),)
    ablations = (Ablation("color", "colour", leave_out),)
    display = Display(scale=8, smooth=False)
    maker = MarbleMaker()

    def read_scene(self, data: Mapping[str, Any]) -> Row:
        try:
            return Row(tuple(data["marbles"]), data["width"])
        except KeyError as error:
            raise BadScene(f"Expected marbles and width, got {data!r}.", where="scene") from error

    def read_view(self, data: Mapping[str, Any]) -> Row:
        return self.read_scene(data)

    def functions(self, spec: BaseSpec) -> FunctionTable:
        def chosen(row: Row, members: tuple[int, ...], color: str) -> tuple[int, ...]:
            return tuple(at for at in members if row.marbles[at] == color)

        functions = (
            Function("scene", (), "Set", (), lambda row: tuple(range(len(row.marbles)))),
            Function("filter_color", ("Set",), "Set", ("Color",), chosen),
            Function("count", ("Set",), "Integer", (), lambda row, members: len(members)),
        )
        return FunctionTable(
            functions={function.name: function for function in functions},
            values={"Color": COLORS},
            prepare=lambda scene, scope: scene,
            show=lambda kind, value: Shown(value, value if kind == "Set" else ()),
            answer_kinds={"Integer": "integer"},
        )

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        return NUMBERS

    def words(self, spec: BaseSpec) -> tuple[str, ...]:
        return ("how", "many", "marbles", "are", *COLORS, "?")

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        return (
            Facet("color", "colour", FacetKind.CATEGORY, COLORS, reveals=False),
            Facet("answer", "answer", FacetKind.INTEGER, NUMBERS, reveals=True),
        )

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        return {
            "color": [question.family or 0 for question in item.questions],
            "answer": [int(question.answer.text) if question.answer else 0 for question in item.questions],
        }

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        return tuple(Column(color, "color", color) for color in COLORS)

    def prompt(self, spec: Any, question: Question) -> str:
        return f"{question.text}\nAnswer with a number in digits."

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        return AnswerForm(AnswerKind.INTEGER, NUMBERS, {}, "Count the marbles of the row.")

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        assert isinstance(item.scene, Row)
        return tuple(Element(at, f"{color} marble") for at, color in enumerate(item.scene.marbles))


WORLD = MarbleWorld()
