"""CLEVR's programs: functions, outlines of families' programs, and the steps that ablations leave out."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, cast

from generation.engine.errors import IllPosed
from generation.engine.language.families import Family, Mode, Op, Operation
from generation.engine.program import Function, FunctionTable, Program, Shown, Step, without
from generation.engine.programs.ablation import Ablation
from generation.engine.programs.skeleton import skeleton
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS, ClevrVocabulary

_NAMES = {
    Op.SCENE: "scene",
    Op.RELATE: "relate",
    Op.UNION: "union",
    Op.INTERSECT: "intersect",
    Op.UNIQUE: "unique",
    Op.COUNT: "count",
    Op.EXIST: "exist",
    Op.EQUAL_INTEGER: "equal_integer",
    Op.LESS_THAN: "less_than",
    Op.GREATER_THAN: "greater_than",
    Op.EQUAL_OBJECT: "equal_object",
}
_VERBS = {Op.SAME: "same", Op.QUERY: "query", Op.EQUAL_VALUE: "equal", Op.FILTER_ONE: "filter"}
_FILTERS = (Op.FILTER, Op.RELATE_FILTER)


class ProgramTemplate(NamedTuple):
    """A step that a family's programs may have: its function, the numbers of its inputs, and the parameter it needs."""

    function: str
    inputs: tuple[int, ...]
    params: tuple[int, ...]


def name_of(operation: Operation) -> str:
    """Return CLEVR's name of the function for an operation."""
    if operation.op in _VERBS:
        return f"{_VERBS[operation.op]}_{ATTRIBUTES[operation.attribute]}"
    return _NAMES[operation.op]


def templates(operations: Sequence[Operation]) -> tuple[ProgramTemplate, ...]:
    """Return the steps that programs of these operations may have, in order."""
    steps: list[ProgramTemplate] = []
    last: list[int] = []
    for operation in operations:
        inputs = tuple(last[source] for source in operation.inputs)
        if operation.op in _FILTERS:
            if operation.op == Op.RELATE_FILTER:
                steps.append(ProgramTemplate("relate", inputs, operation.params[:1]))
                inputs = (len(steps) - 1,)
            for attribute, param in zip(ATTRIBUTES, operation.params[1:], strict=True):
                steps.append(ProgramTemplate(f"filter_{attribute}", inputs, (param,)))
                inputs = (len(steps) - 1,)
        else:
            params = tuple(param for param in operation.params if param >= 0)
            steps.append(ProgramTemplate(name_of(operation), inputs, params))
        last.append(len(steps) - 1)
    return tuple(steps)


def program_of(steps: Sequence[ProgramTemplate], values: Sequence[str | None]) -> Program:
    """Return the steps whose parameters are set, renumbered; a step that is left out is replaced by its input."""
    program: list[Step] = []
    place: list[int] = []
    for function, inputs, params in steps:
        if params:
            value = values[params[0]]
            if value is None:
                place.append(place[inputs[0]])
                continue
            program.append(Step(function, (place[inputs[0]],), (value,)))
        else:
            program.append(Step(function, tuple([place[source] for source in inputs])))
        place.append(len(program) - 1)
    return tuple(program)


class Outline(NamedTuple):
    """A skeleton that a family's programs may have, and the smallest and largest number of steps with it."""

    skeleton: str
    least: int
    most: int


def ways(family: Family) -> int:
    """Return how many combinations of used and empty descriptions a family's programs can have."""
    return math.prod(len(_usages(operation)) for operation in family.operations if operation.op in _FILTERS)


def outlines(family: Family) -> Iterator[Outline]:
    """Yield the outline of a family's programs for each combination of used and empty descriptions."""
    filters = [operation for operation in family.operations if operation.op in _FILTERS]
    steps = templates(family.operations)
    for way in product(*(_usages(operation) for operation in filters)):
        values: list[str | None] = ["" for _ in family.params]
        more = 0
        for operation, is_used in zip(filters, way, strict=True):
            free = _free(operation)
            for param in operation.params[1:]:
                values[param] = None
            if is_used:
                values[free[0]] = ""
                more += len(free) - 1
        program = program_of(steps, values)
        yield Outline(skeleton(program), len(program), len(program) + more)


def _usages(operation: Operation) -> tuple[bool, ...]:
    if not _free(operation):
        return (False,)
    return (True,) if operation.op == Op.FILTER and operation.mode == Mode.SET else (True, False)


def _free(operation: Operation) -> list[int]:
    return [param for at, param in enumerate(operation.params[1:]) if not operation.null >> at & 1]


def function_table(vocabulary: ClevrVocabulary, *, most: int) -> FunctionTable:
    """Return the functions for a vocabulary; `most` is the largest number of objects in a scene."""
    values = {attribute.capitalize(): vocabulary.values(attribute) for attribute in ATTRIBUTES}
    kinds = {attribute.capitalize(): "value" for attribute in ATTRIBUTES}
    return FunctionTable(
        functions=FUNCTIONS,
        values={**values, "Relation": RELATIONS, "Integer": tuple(str(count) for count in range(most + 1))},
        prepare=_prepare,
        show=_show,
        answer_kinds={**kinds, "Bool": "yes-no", "Integer": "integer"},
    )


def ids(mask: int) -> tuple[int, ...]:
    """Return the numbers of a mask's set bits, ascending."""
    return tuple(number for number in range(mask.bit_length()) if mask >> number & 1)


def _prepare(scene: ClevrScene, scope: int | None) -> ClevrScene:
    return scene


def _show(kind: str, value: Any) -> Shown:
    if kind == "ObjectSet":
        members = ids(value)
        return Shown(list(members), members)
    if kind == "Object":
        return Shown(value, (value,))
    if kind == "Bool":
        return Shown("yes" if value else "no", ())
    return Shown(value, ())


def _unique(scene: ClevrScene, members: int) -> int:
    if members == 0 or members & (members - 1):
        raise IllPosed(f"Expected exactly one object, got {members.bit_count()}.", where="unique")
    return members.bit_length() - 1


def _sets() -> Iterable[Function]:
    pair = ("ObjectSet", "ObjectSet")
    return [
        Function("scene", (), "ObjectSet", (), lambda scene: (1 << len(scene.objects)) - 1, "all objects"),
        Function("unique", ("ObjectSet",), "Object", (), _unique, "the only one"),
        Function(
            "relate",
            ("Object",),
            "ObjectSet",
            ("Relation",),
            lambda scene, number, relation: scene.masks[relation][number],
            "related",
        ),
        Function("union", pair, "ObjectSet", (), lambda scene, one, two: one | two, "either"),
        Function("intersect", pair, "ObjectSet", (), lambda scene, one, two: one & two, "both"),
        Function("count", ("ObjectSet",), "Integer", (), lambda scene, members: members.bit_count(), "how many"),
        Function("exist", ("ObjectSet",), "Bool", (), lambda scene, members: members != 0, "any"),
    ]


def _numbers() -> Iterable[Function]:
    integers, things = ("Integer", "Integer"), ("Object", "Object")
    return [
        Function("equal_integer", integers, "Bool", (), lambda scene, one, two: one == two, "as many"),
        Function("less_than", integers, "Bool", (), lambda scene, one, two: one < two, "fewer"),
        Function("greater_than", integers, "Bool", (), lambda scene, one, two: one > two, "more"),
        Function("equal_object", things, "Bool", (), lambda scene, one, two: one == two, "same object"),
    ]


def _about(attribute: str) -> Iterable[Function]:
    kind = attribute.capitalize()

    def choose(scene: ClevrScene, members: int, value: str) -> int:
        return members & scene.having(attribute, value)

    def ask(scene: ClevrScene, number: int) -> str:
        return cast("str", getattr(scene.objects[number], attribute))

    def same(scene: ClevrScene, number: int) -> int:
        return scene.having(attribute, ask(scene, number)) & ~(1 << number)

    def equal(scene: ClevrScene, one: str, two: str) -> bool:
        return one == two

    return [
        Function(f"filter_{attribute}", ("ObjectSet",), "ObjectSet", (kind,), choose, f"of {attribute}"),
        Function(f"query_{attribute}", ("Object",), kind, (), ask, f"its {attribute}"),
        Function(f"same_{attribute}", ("Object",), "ObjectSet", (), same, f"others of its {attribute}"),
        Function(f"equal_{attribute}", (kind, kind), "Bool", (), equal, f"same {attribute}"),
    ]


FUNCTIONS: Mapping[str, Function] = {
    function.name: function
    for function in (*_sets(), *_numbers(), *(one for attribute in ATTRIBUTES for one in _about(attribute)))
}


def object_asked(program: Program, scene: ClevrScene) -> int | None:
    """Return the number of the object whose attribute a program asks for, or None."""
    if not program[-1].function.startswith("query_"):
        return None
    number: int | None = _last_input(program, scene)
    return number


def objects_counted(program: Program, scene: ClevrScene) -> tuple[int, ...] | None:
    """Return the numbers of the objects that a program counts, or None if it does not end with a count."""
    if program[-1].function != "count":
        return None
    members = _last_input(program, scene)
    return None if members is None else ids(members)


def _last_input(program: Program, scene: ClevrScene) -> Any:
    """Return the input of a program's last step, or None if an earlier step is ill-posed on the scene."""
    made: list[Any] = []
    try:
        for function, inputs, values in program[:-1]:
            made.append(FUNCTIONS[function].run(scene, *[made[source] for source in inputs], *values))
    except IllPosed:
        return None
    return made[program[-1].inputs[0]]


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
            yield Ablation(f"{attribute}-{place}", f"{place} condition on {attribute}", _pass_input(find, 0))
    for name, label in (("intersect", "and"), ("union", "or")):
        (_, find), _ = _places(name.__eq__)
        yield Ablation(f"{label}-first", f"first branch of an {label}", _pass_input(find, 1))
        yield Ablation(f"{label}-second", f"second branch of an {label}", _pass_input(find, 0))


def _places(is_one: Is) -> tuple[tuple[str, Find], tuple[str, Find]]:
    """Return functions that find the last step of a kind, and the first if there are several."""

    def positions(program: Program) -> list[int]:
        return [number for number, step in enumerate(program) if is_one(step.function)]

    def last(program: Program) -> int | None:
        return max(positions(program), default=None)

    def first(program: Program) -> int | None:
        numbers = positions(program)
        return numbers[0] if len(numbers) > 1 else None

    return ("last", last), ("first", first)


def _anything(find: Find) -> Callable[[Program], Program | None]:
    """Return a function that replaces a relation's result by the set of all objects."""

    def change(program: Program) -> Program | None:
        number = find(program)
        if number is None:
            return None
        scene = next(at for at, step in enumerate(program) if step.function == "scene")
        return without(program, number, instead=scene)

    return change


def _start(find: Find) -> Callable[[Program], Program | None]:
    """Return a function that replaces a relation's result by the object that the relation starts from."""

    def change(program: Program) -> Program | None:
        number = find(program)
        if number is None:
            return None
        [start] = program[number].inputs
        return without(program, number, instead=program[start].inputs[0])

    return change


def _pass_input(find: Find, which: int) -> Callable[[Program], Program | None]:
    """Return a function that replaces a step by one of its inputs."""

    def change(program: Program) -> Program | None:
        number = find(program)
        return None if number is None else without(program, number, instead=program[number].inputs[which])

    return change


ABLATIONS: tuple[Ablation, ...] = tuple(_ablations())
