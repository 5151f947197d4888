"""CLEVR's 27 functions on bit masks.

Inside the executor a set of objects is an integer with bit `i` for object `i`, an object is its number; colours and
the rest are strings, yes and no are booleans.

References
----------
Johnson et al. 2017, CLEVR, appendix A.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from generation.engine.errors import IllPosed
from generation.engine.program import Function, FunctionTable, Program, Shown
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS, Vocabulary


def function_table(vocabulary: Vocabulary, *, most: int) -> FunctionTable:
    """Return the functions under a vocabulary; `most` is the largest number of objects in a scene."""
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


def _prepare(scene: Scene, scope: int | None) -> Scene:
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


def _unique(scene: Scene, members: int) -> int:
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

    def choose(scene: Scene, members: int, value: str) -> int:
        return members & scene.having(attribute, value)

    def ask(scene: Scene, number: int) -> str:
        return cast("str", getattr(scene.objects[number], attribute))

    def same(scene: Scene, number: int) -> int:
        return scene.having(attribute, ask(scene, number)) & ~(1 << number)

    def equal(scene: Scene, one: str, two: str) -> bool:
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


def object_asked(program: Program, scene: Scene) -> int | None:
    """Return the number of the object whose attribute a program asks for last; None where it asks for none."""
    if not program[-1].function.startswith("query_"):
        return None
    made: list[Any] = []
    try:
        for function, inputs, values in program[:-1]:
            made.append(FUNCTIONS[function].run(scene, *[made[source] for source in inputs], *values))
    except IllPosed:
        return None
    number: int = made[program[-1].inputs[0]]
    return number
