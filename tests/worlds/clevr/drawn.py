"""Random CLEVR scenes and well-typed programs, for tests that compare the engine with its twins."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.worlds.clevr.twin import ATTRIBUTES, OUTPUT, TwinIllPosed, run

RELATIONS = ("behind", "front", "left", "right")
VALUES: dict[str, tuple[str, ...]] = {
    "size": ("large", "small"),
    "color": ("blue", "brown", "cyan", "gray", "green", "purple", "red", "yellow"),
    "material": ("metal", "rubber"),
    "shape": ("cube", "cylinder", "sphere"),
}
FEW: dict[str, tuple[str, ...]] = {**VALUES, "color": ("blue", "red"), "shape": ("cube", "sphere")}
INPUTS: dict[str, tuple[str, ...]] = {
    "scene": (),
    "unique": ("ObjectSet",),
    "relate": ("Object",),
    "union": ("ObjectSet", "ObjectSet"),
    "intersect": ("ObjectSet", "ObjectSet"),
    "count": ("ObjectSet",),
    "exist": ("ObjectSet",),
    "equal_integer": ("Integer", "Integer"),
    "less_than": ("Integer", "Integer"),
    "greater_than": ("Integer", "Integer"),
    "equal_object": ("Object", "Object"),
    **{f"filter_{attribute}": ("ObjectSet",) for attribute in ATTRIBUTES},
    **{f"same_{attribute}": ("Object",) for attribute in ATTRIBUTES},
    **{f"query_{attribute}": ("Object",) for attribute in ATTRIBUTES},
    **{f"equal_{attribute}": (attribute.capitalize(),) * 2 for attribute in ATTRIBUTES},
}


def random_scene(chance: random.Random, count: int, *, values: Mapping[str, Sequence[str]] = VALUES) -> dict[str, Any]:
    """Return a scene in the format of the release with random attributes and places, and their relations."""
    angle = chance.uniform(0, 2 * math.pi)
    across, along = [math.cos(angle), math.sin(angle), 0.0], [-math.sin(angle), math.cos(angle), 0.0]
    directions = {"right": across, "left": [-x for x in across], "behind": along, "front": [-x for x in along]}
    objects = [
        {
            **{attribute: chance.choice(list(values[attribute])) for attribute in ATTRIBUTES},
            "3d_coords": [chance.uniform(-3, 3), chance.uniform(-3, 3), 0.7],
            "rotation": 0.0,
            "pixel_coords": [0, 0, 1.0],
        }
        for _ in range(count)
    ]
    related = {
        name: [
            [j for j, b in enumerate(objects) if j != i and _past(a, b, directions[name]) > 0.2]
            for i, a in enumerate(objects)
        ]
        for name in RELATIONS
    }
    return {"objects": objects, "directions": directions, "relationships": related}


def _past(here: Mapping[str, Any], there: Mapping[str, Any], direction: Sequence[float]) -> float:
    return sum((q - p) * d for p, q, d in zip(here["3d_coords"], there["3d_coords"], direction, strict=True))


@st.composite
def questions(
    draw: st.DrawFn, *, values: Mapping[str, Sequence[str]] = VALUES
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return a random well-typed program in the published format, and a scene of 1 to 10 objects.

    If there are few values, objects are similar, so that sets have members. Steps may be shared or unused. Most
    programs are well-posed, because `unique` usually gets a set of one object.
    """
    chance = random.Random(draw(st.integers(0, 2**32)))
    scene = random_scene(chance, draw(st.integers(1, 10)), values=values)
    return random_program(chance, scene, draw(st.integers(0, 14)), values=values), scene


def random_program(
    chance: random.Random, scene: Mapping[str, Any], length: int, *, values: Mapping[str, Sequence[str]] = VALUES
) -> list[dict[str, Any]]:
    """Return a well-typed program of up to `length` steps after the first."""
    steps: list[dict[str, Any]] = [{"function": "scene", "inputs": [], "value_inputs": []}]
    for _ in range(length):
        try:
            outputs = run(steps, scene)
        except TwinIllPosed:
            break
        types = [OUTPUT[step["function"]] for step in steps]
        ones = [at for at, kind in enumerate(types) if kind == "ObjectSet" and len(outputs[at]) == 1]
        if ones and "Object" not in types[-3:]:
            function, inputs = "unique", [chance.choice(ones)]
        else:
            function = chance.choice([name for name, wanted in INPUTS.items() if set(wanted) <= set(types)])
            inputs = [
                chance.choice([at for at, kind in enumerate(types) if kind == wanted]) for wanted in INPUTS[function]
            ]
        if function == "unique" and len(outputs[inputs[0]]) != 1 and chance.random() < 0.8:
            continue
        steps.append({"function": function, "inputs": inputs, "value_inputs": _fixed(chance, function, values)})
    return steps


def _fixed(chance: random.Random, function: str, values: Mapping[str, Sequence[str]]) -> list[str]:
    if function == "relate":
        return [chance.choice(RELATIONS)]
    if function.startswith("filter_"):
        return [chance.choice(list(values[function.removeprefix("filter_")]))]
    return []
