"""The steps that may be left out of CLEVR's programs: relations, filters, branches.

What is nearest the answer is called the last one; the first one is named where there are several.
"""

from collections.abc import Callable, Iterator

from generation.engine.program import Program, without
from generation.engine.programs.ablation import Ablation
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES

Find = Callable[[Program], int | None]
Is = Callable[[str], bool]


def _ablations() -> Iterator[Ablation]:
    for kind, label, is_one in (
        ("relation", "spatial relation", lambda name: name == "relate"),
        ("same", "same-attribute relation", lambda name: name.startswith("same_")),
    ):
        for place, find in _places(is_one):
            yield Ablation(f"{kind}-{place}", f"{place} {label}: anything counts, related or not", _anything(find))
            yield Ablation(f"{kind}-{place}-start", f"{place} {label}: its start counts instead", _start(find))
    for attribute in ATTRIBUTES:
        for place, find in _places(f"filter_{attribute}".__eq__):
            yield Ablation(f"{attribute}-{place}", f"{place} condition on {attribute}", _handed_on(find, 0))
    for name, label in (("intersect", "and"), ("union", "or")):
        (_, find), _ = _places(name.__eq__)
        yield Ablation(f"{label}-first", f"first branch of an {label}", _handed_on(find, 1))
        yield Ablation(f"{label}-second", f"second branch of an {label}", _handed_on(find, 0))


def _places(is_one: Is) -> tuple[tuple[str, Find], tuple[str, Find]]:
    """Return how the last and the first of some steps are found; the first where there are several."""

    def found(program: Program) -> list[int]:
        return [number for number, step in enumerate(program) if is_one(step.function)]

    def last(program: Program) -> int | None:
        return max(found(program), default=None)

    def first(program: Program) -> int | None:
        numbers = found(program)
        return numbers[0] if len(numbers) > 1 else None

    return ("last", last), ("first", first)


def _anything(find: Find) -> Callable[[Program], Program | None]:
    """Return what puts all objects in the place of those that are related."""

    def change(program: Program) -> Program | None:
        number = find(program)
        if number is None:
            return None
        scene = next(at for at, step in enumerate(program) if step.function == "scene")
        return without(program, number, instead=scene)

    return change


def _start(find: Find) -> Callable[[Program], Program | None]:
    """Return what puts the object that a relation starts from in the place of those that are related to it."""

    def change(program: Program) -> Program | None:
        number = find(program)
        if number is None:
            return None
        [start] = program[number].inputs
        return without(program, number, instead=program[start].inputs[0])

    return change


def _handed_on(find: Find, which: int) -> Callable[[Program], Program | None]:
    """Return what puts one of a step's inputs in its place."""

    def change(program: Program) -> Program | None:
        number = find(program)
        return None if number is None else without(program, number, instead=program[number].inputs[which])

    return change


ABLATIONS: tuple[Ablation, ...] = tuple(_ablations())
