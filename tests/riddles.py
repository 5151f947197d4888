"""A world whose questions and pictures do not depend on the secret.

The secret alone determines answers, scenes, object ids, the number of replaced scenes and the values in programs.
Therefore two datasets of one spec with two secrets look the same to a visitor of a withheld split. Scenes and programs
contain words of twelve letters that occur nowhere else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.items import (
    Answer,
    AnswerForm,
    AnswerKind,
    ChartView,
    Chunk,
    Column,
    Element,
    Facet,
    FacetKind,
    Item,
    Question,
)
from generation.engine.program import Function, FunctionTable, Shown, Step
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.spec import BaseSpec
from generation.engine.worlds.base import Maker, World, equal_chunks

NAME, WHERE = "riddles", "tests.riddles:WORLD"
SPEC: dict[str, Any] = {
    "world": NAME,
    "seed": 3,
    "title": "Riddles",
    "splits": {"train": {"scenes": 3}, "test": {"scenes": 4, "withheld": True}},
}
PER_SCENE = 2
ANSWERS = ("redundantly", "untypically")
MOST = 6  # limit of things in a scene
HEIGHT, WIDTH = 12, 16
LINES = ("Somebody tells a riddle.", "Nobody knows how it ends.")  # the story of every scene


class RiddleSpec(BaseSpec):
    """The spec of riddles."""

    scenes_per_chunk: int = Field(default=2, ge=1)


@dataclass(frozen=True)
class Scene:
    """The names of the things in a picture, and the column in which they begin."""

    names: tuple[str, ...]
    shift: int

    def to_json(self) -> dict[str, Any]:
        return {"names": list(self.names), "shift": self.shift}


def canary(draw: Stream) -> str:
    """Return twelve random letters."""
    return "".join(chr(ord("a") + draw.below(26)) for _ in range(12))


class RiddleMaker(Maker):
    """Makes scenes, questions and pictures of riddles."""

    bundled: ClassVar = {}

    def plan(self, spec: RiddleSpec, split: str) -> list[Chunk]:
        return equal_chunks(spec.splits[split].scenes, size=spec.scenes_per_chunk, questions_each=PER_SCENE)

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        for index in range(chunk.first_item, chunk.first_item + chunk.items):
            draw = stream(seed=spec.seed, split=split, index=index, stage=Stage.SCENE, secret=secret)
            scene = Scene(tuple(canary(draw) for _ in range(1 + draw.below(MOST))), draw.below(4))
            asked = tuple(_question(index, number, draw=draw) for number in range(PER_SCENE))
            yield Item(scene, None, asked, replaced=draw.below(1000))

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        scene = item.scene
        assert isinstance(scene, Scene)
        ids = np.zeros((HEIGHT, WIDTH), dtype=np.uint16)
        for number in range(len(scene.names)):
            ids[2 * number : 2 * number + 2, scene.shift : scene.shift + 3 + number] = number + 1
        return np.full((HEIGHT, WIDTH, 3), 90, dtype=np.uint8), ids


def _question(index: int, number: int, *, draw: Stream) -> Question:
    program = (Step("look", (), (canary(draw),)), Step("tell", (0,), (canary(draw),)))
    text = f"Riddle {number} of picture {index}: is it so?"
    return Question(text, program, Answer(draw.choice(ANSWERS), AnswerKind.WORD), "riddle", source_id=canary(draw))


def _table() -> FunctionTable:
    return FunctionTable(
        functions={
            "look": Function("look", (), "set", ("word",), lambda scene, word: scene, "take the things like"),
            "tell": Function("tell", ("set",), "word", ("word",), lambda scene, found, word: word, "say"),
        },
        values={"word": ()},
        prepare=lambda scene, scope: scene,
        show=lambda kind, value: Shown(*_shown(value)),
        answer_kinds={"word": "word"},
    )


def _shown(value: Any) -> tuple[Any, tuple[int, ...]]:
    if isinstance(value, Scene):
        return list(range(len(value.names))), tuple(range(len(value.names)))
    return value, ()


class RiddleWorld(World):
    """Reads stored riddles, and describes their facets and answers."""

    name = NAME
    label = "Riddles"
    spec_model = RiddleSpec
    views = (
        ChartView("types", "Types", "type", "type"),
        ChartView("answers", "Answers", "answer", "answer"),
        ChartView("things", "Things", "things", "things in the scene"),
    )
    board_views = ()
    maker = RiddleMaker()

    def read_scene(self, data: Mapping[str, Any]) -> Scene:
        return Scene(tuple(data["names"]), data["shift"])

    def functions(self, spec: BaseSpec) -> FunctionTable | None:
        return _table()

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        return ANSWERS

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        return (
            Facet("type", "Type", FacetKind.CATEGORY, ("riddle",), reveals=False),
            Facet("answer", "Answer", FacetKind.CATEGORY, ANSWERS, reveals=True),
            Facet("things", "Things", FacetKind.INTEGER, tuple(str(n) for n in range(MOST + 1)), reveals=True),
            Facet("shift", "Shift", FacetKind.CATEGORY, ("none", "minuscule", "middling", "gigantic"), reveals=True),
        )

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        scene, count = item.scene, len(item.questions)
        assert isinstance(scene, Scene)
        return {
            "type": [0] * count,
            "answer": [ANSWERS.index(asked.answer.text) if asked.answer else -1 for asked in item.questions],
            "things": [len(scene.names)] * count,
            "shift": [scene.shift] * count,
        }

    def columns(self, spec: BaseSpec) -> tuple[Column, ...]:
        return ()

    def prompt(self, spec: BaseSpec, question: Question) -> str:
        return question.text

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        return AnswerForm(AnswerKind.WORD, ANSWERS, {})

    def story(self, scene: Any) -> tuple[str, ...]:
        return LINES

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        scene = item.scene
        assert isinstance(scene, Scene)
        return tuple(Element(number, name, {"name": name}) for number, name in enumerate(scene.names))


WORLD = RiddleWorld()
