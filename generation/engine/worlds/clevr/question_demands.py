"""Diagnosis of CLEVR's programs on scenes."""

from collections.abc import Sequence
from functools import lru_cache

from generation.engine.language.families import Language
from generation.engine.program import Program
from generation.engine.programs.question_demands import Diagnoser, Diagnosis, Sight, sight
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import RELATIONS


def diagnose(spec: ClevrSpec, scene: ClevrScene, view: View, programs: Sequence[Program]) -> list[Diagnosis]:
    """Return the diagnosis of each program on a scene; every program must have an answer there."""
    return _diagnoser(spec.language).diagnose(programs, sight_of(spec, scene, view))


def sight_of(spec: ClevrSpec, scene: ClevrScene, view: View) -> Sight:
    """Return a scene for the diagnosis; left and right, behind and front are halves of the picture."""
    halves = dict.fromkeys(RELATIONS, 0)
    for number, thing in enumerate(scene.objects):
        x, y, _ = thing.pixel_coords
        halves["left" if 2 * x < view.width else "right"] |= 1 << number
        halves["behind" if 2 * y < view.height else "front"] |= 1 << number
    return sight(scene.for_search(spec.vocabulary), [halves[relation] for relation in RELATIONS])


def answer_without_looking(program: Program) -> str:
    """Return the answer that a program has on every scene, or an empty string if the answer depends on the scene.

    The answer is the same on every scene if both sides of a comparison are equal, if one side is part of the other, or
    if the program asks whether there is any object at all, because no scene is empty.
    """
    last = program[-1]
    sides = [_Tree(program, source) for source in last.inputs]
    if last.function == "exist":
        return "yes" if sides[0].is_everything else ""
    if last.function in ("greater_than", "less_than"):
        fewer, more = sides if last.function == "greater_than" else sides[::-1]
        return "no" if more.inputs[0].holds(fewer.inputs[0]) else ""
    return "yes" if last.function.startswith("equal_") and sides[0] == sides[1] else ""


class _Tree:
    """A step with all steps that lead to it; two equal trees give the same result on any scene."""

    def __init__(self, program: Program, number: int) -> None:
        step = program[number]
        self.function, self.values = step.function, step.values
        self.inputs = [_Tree(program, source) for source in step.inputs]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Tree) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash((self.function, self.values))

    @property
    def is_everything(self) -> bool:
        """Return whether the result is always the set of all objects."""
        if self.function == "union":
            return any(one.is_everything for one in self.inputs)
        if self.function == "intersect":
            return all(one.is_everything for one in self.inputs)
        return self.function == "scene"

    def holds(self, other: "_Tree") -> bool:
        """Return whether the steps alone prove that this set contains every object of the other set."""
        if self == other or self.is_everything:
            return True
        if other.function == "union" and all(self.holds(one) for one in other.inputs):
            return True
        is_part = other.function.startswith("filter_") or other.function == "intersect"
        if is_part and any(self.holds(one) for one in other.inputs):
            return True
        return self.function == "union" and any(one.holds(other) for one in self.inputs)

    @property
    def _parts(self) -> tuple[str, tuple[str, ...], list["_Tree"]]:
        return self.function, self.values, self.inputs


@lru_cache(maxsize=8)
def _diagnoser(language: Language) -> Diagnoser:
    return Diagnoser(language)
