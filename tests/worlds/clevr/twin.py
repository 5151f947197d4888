"""A plain twin of CLEVR's functions: it works on the scene JSON of the release with Python's sets.

It uses nothing of the engine, so it does not share the engine's errors. The types are those of appendix A of the paper:
an ObjectSet is a set of object numbers, an Object is a number, an Integer an int, a Bool a bool, the rest are strings.
"""

from collections.abc import Mapping, Sequence
from typing import Any

ATTRIBUTES = ("size", "color", "material", "shape")

OUTPUT = {
    "scene": "ObjectSet",
    "unique": "Object",
    "relate": "ObjectSet",
    "union": "ObjectSet",
    "intersect": "ObjectSet",
    "count": "Integer",
    "exist": "Bool",
    "equal_integer": "Bool",
    "less_than": "Bool",
    "greater_than": "Bool",
    "equal_object": "Bool",
    **{f"filter_{attribute}": "ObjectSet" for attribute in ATTRIBUTES},
    **{f"same_{attribute}": "ObjectSet" for attribute in ATTRIBUTES},
    **{f"query_{attribute}": attribute.capitalize() for attribute in ATTRIBUTES},
    **{f"equal_{attribute}": "Bool" for attribute in ATTRIBUTES},
}


class TwinIllPosed(Exception):
    """`unique` got no object or several objects."""


def run(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> list[Any]:
    """Return the output of each step of a published program for a scene in the format of the release."""
    outputs: list[Any] = []
    for step in program:
        inputs = [outputs[number] for number in step["inputs"]]
        outputs.append(apply(step["function"], inputs, step["value_inputs"], scene))
    return outputs


def apply(function: str, inputs: Sequence[Any], values: Sequence[str], scene: Mapping[str, Any]) -> Any:
    """Return the output of one function."""
    objects = scene["objects"]
    if function == "scene":
        return set(range(len(objects)))
    if function == "relate":
        return set(scene["relationships"][values[0]][inputs[0]])
    if function in PLAIN:
        return PLAIN[function](*inputs)
    verb, _, about = function.partition("_")
    if verb == "equal":
        return inputs[0] == inputs[1]
    if verb == "query":
        return objects[inputs[0]][about]
    if verb == "filter":
        return {number for number in inputs[0] if objects[number][about] == values[0]}
    assert verb == "same", function
    mine = objects[inputs[0]][about]
    return {number for number, other in enumerate(objects) if number != inputs[0] and other[about] == mine}


def only(members: set[int]) -> int:
    """Return the only member of a set."""
    if len(members) != 1:
        raise TwinIllPosed(f"{len(members)} objects")
    return min(members)


PLAIN = {
    "unique": only,
    "union": lambda one, two: one | two,
    "intersect": lambda one, two: one & two,
    "count": len,
    "exist": lambda members: len(members) > 0,
    "less_than": lambda one, two: one < two,
    "greater_than": lambda one, two: one > two,
}


def describe_step(function: str, output: Any) -> tuple[str, Any, list[int]]:
    """Return the type of a step, its value in a trace, and the objects to which it refers."""
    kind = OUTPUT[function]
    if kind == "ObjectSet":
        return kind, sorted(output), sorted(output)
    if kind == "Object":
        return kind, output, [output]
    if kind == "Bool":
        return kind, "yes" if output else "no", []
    return kind, output, []


def answer(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> str:
    """Return the answer in the spelling of the release."""
    last = run(program, scene)[-1]
    if isinstance(last, bool):
        return "yes" if last else "no"
    return str(last)


def relationships(scene: Mapping[str, Any], *, threshold: float = 0.2) -> dict[str, list[list[int]]]:
    """Return the objects left, right, behind and in front of each object, from coordinates and directions only."""
    found = {}
    for name in ("left", "right", "behind", "front"):
        direction = scene["directions"][name]
        found[name] = [
            [
                j
                for j, there in enumerate(scene["objects"])
                if j != i
                and sum((there["3d_coords"][a] - here["3d_coords"][a]) * direction[a] for a in range(3)) > threshold
            ]
            for i, here in enumerate(scene["objects"])
        ]
    return found
