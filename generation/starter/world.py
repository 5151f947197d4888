"""Starter: beads on a string, which are counted and looked for."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.program import Function, FunctionTable, Shown, Step
from generation.engine.seeding import Stream
from generation.engine.spec import COMMON, BaseSpec
from generation.engine.worlds import Answer, AnswerForm, AnswerKind, Display, Element, Item, Question
from generation.engine.worlds.base import FieldScene, SceneMaker, World

COLORS = {"red": (214, 60, 50), "green": (40, 150, 70), "blue": (40, 90, 200), "yellow": (240, 200, 50)}
STRING = (236, 232, 222)
MOST = 12
YES_NO = ("yes", "no")
NUMBERS = tuple(str(number) for number in range(MOST + 1))
PRESET: dict[str, Any] = {
    "world": "starter",
    "title": "Starter",
    "description": "Beads on a string, counted and looked for.",
    "splits": {"train": {"scenes": 60}, "val": {"scenes": 20}, "test": {"scenes": 20}},
}


class StarterSpec(BaseSpec):
    """What people can change: each field is a setting in the form and in the JSON."""

    world: Literal["starter"] = "starter"
    beads: int = Field(default=8, ge=1, le=MOST, json_schema_extra=COMMON, description="beads on a string")


class Beads(FieldScene):
    """A scene: the beads' colours from left to right. Round every number that a decision depends on to 6 decimals."""

    colors: tuple[str, ...]


class StarterMaker(SceneMaker):
    """Makes scenes, questions and pictures."""

    bundled: ClassVar = {"starter": PRESET}

    def per_scene(self, spec: StarterSpec) -> int:
        """Return how many questions each scene has."""
        return 2

    def item(self, spec: StarterSpec, chance: Stream) -> Item:
        """Return a scene with its questions; all chance comes from the stream."""
        scene = Beads(colors=tuple(chance.choice(tuple(COLORS)) for _ in range(spec.beads)))
        return Item(scene, None, (self.ask(scene, "count", chance), self.ask(scene, "exist", chance)))

    def ask(self, scene: Beads, kind: str, chance: Stream) -> Question:
        """Return a question of a kind about some colour; its answer is what its program gives."""
        color = chance.choice(tuple(COLORS))
        program = (Step("scene"), Step("filter_color", (0,), (color,)), Step(kind, (1,)))
        count = scene.colors.count(color)
        if kind == "count":
            return Question(f"How many beads are {color}?", program, Answer(str(count), AnswerKind.INTEGER), kind)
        answer = Answer("yes" if count else "no", AnswerKind.YES_NO)
        return Question(f"Is there a {color} bead?", program, answer, kind)

    def draw(self, spec: StarterSpec, scene: Beads) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return the picture and the object ids: a square of 4 pixels a bead, with a pixel of string around it."""
        ids = np.zeros((6, 6 * spec.beads), np.uint16)
        for number in range(len(scene.colors)):
            ids[1:5, 6 * number + 1 : 6 * number + 5] = number + 1
        palette = np.array([STRING, *(COLORS[color] for color in scene.colors)], np.uint8)
        return palette[ids], ids


class StarterWorld(World):
    """Reads what is made: answers, words, programs, and what people see of them."""

    name = "starter"
    label = "Starter"
    spec_model = StarterSpec
    scene_model = Beads
    kinds = ("count", "exist")
    display = Display(scale=10, smooth=False)
    maker: ClassVar[SceneMaker] = StarterMaker()

    def functions(self, spec: StarterSpec) -> FunctionTable:
        """Return the functions of programs; sets are tuples of the beads' numbers."""

        def chosen(scene: Beads, some: tuple[int, ...], color: str) -> tuple[int, ...]:
            return tuple(number for number in some if scene.colors[number] == color)

        functions = (
            Function("scene", (), "Set", (), lambda scene: tuple(range(len(scene.colors))), "all beads"),
            Function("filter_color", ("Set",), "Set", ("Color",), chosen, "those that are"),
            Function("count", ("Set",), "Integer", (), lambda scene, some: len(some), "how many"),
            Function("exist", ("Set",), "Bool", (), lambda scene, some: "yes" if some else "no", "is there any"),
        )
        return FunctionTable(
            functions={function.name: function for function in functions},
            values={"Color": tuple(COLORS)},
            prepare=lambda scene, scope: scene,
            show=lambda kind, value: Shown(value, value if kind == "Set" else ()),
            answer_kinds={"Integer": AnswerKind.INTEGER, "Bool": AnswerKind.YES_NO},
        )

    def answers(self, spec: StarterSpec) -> tuple[str, ...]:
        """Return every answer that there can be."""
        return (*YES_NO, *NUMBERS)

    def words(self, spec: StarterSpec) -> tuple[str, ...]:
        """Return every word that a question can have."""
        return ("how", "many", "beads", "are", "is", "there", "a", "bead", "?", *COLORS)

    def answer_form(self, spec: StarterSpec, question: Question) -> AnswerForm:
        """Return the buttons with which people answer."""
        if question.kind == "exist":
            return AnswerForm(AnswerKind.YES_NO, YES_NO, {})
        return AnswerForm(AnswerKind.INTEGER, NUMBERS, {})

    def swatches(self, spec: StarterSpec) -> dict[str, tuple[int, int, int]]:
        """Return the colours that people must distinguish."""
        return COLORS

    def elements(self, spec: StarterSpec, item: Item) -> tuple[Element, ...]:
        """Return the beads; number n has the object id n + 1 in the picture."""
        colors: Any = getattr(item.scene, "colors", ())
        return tuple(Element(number, f"{color} bead", {"color": color}) for number, color in enumerate(colors))


WORLD = StarterWorld()
