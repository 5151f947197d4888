"""SimTown's program functions."""

from collections.abc import Callable, Mapping
from functools import cache

from generation.engine.program import Function, FunctionTable, Program, Shown, Step
from generation.engine.worlds.simtown.scene import SimTownScene, is_related

RELATIONS: Mapping[str, str] = {"left": "left of", "right": "right of", "front": "in front of", "behind": "behind"}
REVERSED: Mapping[str, str] = {"left": "right", "right": "left", "front": "behind", "behind": "front"}


def program_of(subject: str, relation: str, other: str) -> Program:
    """Return the program of "Is the subject, for example, left of the other?"."""
    return (
        Step("scene"),
        Step("filter_entity", (0,), (other,)),
        Step("relate", (1,), (relation,)),
        Step("filter_entity", (2,), (subject,)),
        Step("exist", (3,)),
    )


def words_of(program: Program) -> tuple[str, str, str] | None:
    """Return subject, relation and object of a program of the form that `program_of` gives, or None for others."""
    if len(program) != 5 or [len(step.values) for step in program] != [0, 1, 1, 1, 0]:
        return None
    subject, relation, other = program[3].values[0], program[2].values[0], program[1].values[0]
    return (subject, relation, other) if program == program_of(subject, relation, other) else None


def relation_of(program: Program) -> str:
    """Return the relation that a program asks for: the type of its question."""
    return next((step.values[0] for step in program if step.function == "relate"), "")


@cache
def function_table(names: tuple[str, ...], relations: tuple[str, ...], *, margin: float) -> FunctionTable:
    """Return the functions for entities and relations; `margin` is in metres."""
    return FunctionTable(
        functions=_functions(margin),
        values={"Entity": names, "Relation": relations},
        prepare=lambda scene, scope: scene,
        show=_show,
        answer_kinds={"Bool": "yes-no"},
        kind_of=relation_of,
    )


def _functions(margin: float) -> Mapping[str, Function]:
    one: tuple[str, ...] = ("VehicleSet",)
    functions = (
        Function("scene", (), "VehicleSet", (), lambda scene: (1 << len(scene.vehicles)) - 1, "all vehicles"),
        Function("filter_entity", one, "VehicleSet", ("Entity",), _filter, "of entity"),
        Function("relate", one, "VehicleSet", ("Relation",), _relate(margin), "related"),
        Function("exist", one, "Bool", (), lambda scene, members: members != 0, "any"),
    )
    return {function.name: function for function in functions}


def _filter(scene: SimTownScene, members: int, entity: str) -> int:
    return sum(
        1 << number for number, one in enumerate(scene.vehicles) if members >> number & 1 and one.entity == entity
    )


def _relate(margin: float) -> Callable[[SimTownScene, int, str], int]:
    def relate(scene: SimTownScene, members: int, relation: str) -> int:
        """Return the vehicles that are in the relation to one of the members."""
        starts = [one for number, one in enumerate(scene.vehicles) if members >> number & 1]
        words = RELATIONS[relation]
        return sum(
            1 << number
            for number, one in enumerate(scene.vehicles)
            if any(is_related(one, start, words, margin=margin) for start in starts)
        )

    return relate


def _show(kind: str, value: int) -> Shown:
    if kind == "VehicleSet":
        members = tuple(number for number in range(value.bit_length()) if value >> number & 1)
        return Shown(list(members), members)
    return Shown("yes" if value else "no", ())
