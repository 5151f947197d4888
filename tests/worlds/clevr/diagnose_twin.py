"""The effective question and absolute space once more: every cut program, one after the other, on Python's sets.

Nothing of the engine is used here. A cut program is a tree `(function, values, inputs)`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from tests.worlds.clevr import twin

TAKES_OBJECTS = ("relate", "union", "intersect", "unique", "count", "exist", "equal_object")


class Tree(NamedTuple):
    """A step with what it takes."""

    function: str
    values: tuple[str, ...]
    inputs: tuple["Tree", ...]

    @property
    def size(self) -> int:
        """Return the number of steps."""
        return 1 + sum(one.size for one in self.inputs)

    @property
    def leaves(self) -> tuple[int, ...]:
        """Return how far from the answer each branch begins."""
        if not self.inputs:
            return (0,)
        return tuple(1 + depth for one in self.inputs for depth in one.leaves)


ALL = Tree("scene", (), ())


def effective_size(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> int:
    """Return the size of the smallest program with the same answer."""
    found = effective(program, scene)
    return len(program) if found is None else found.size


def effective(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> Tree | None:
    """Return the smallest cut program with the same answer, None where none is smaller than the program."""
    wanted = {twin.run(program, scene)[-1]}
    fitting = [tree for tree in cut_programs(program, len(program) - 1) if given(tree, scene) == wanted]
    best = min(fitting, key=lambda tree: (tree.size, tree.leaves))
    return best if best.size < len(program) else None


def cut_programs(program: Sequence[Mapping[str, Any]], last: int) -> Iterator[Tree]:
    """Return every way to cut what leads to a step."""
    step = program[last]
    function = step["function"]
    may_cut = function in TAKES_OBJECTS or function.partition("_")[0] in ("filter", "same", "query")
    ways = []
    for source in step["inputs"]:
        kept = list(cut_programs(program, source))
        ways.append([*kept, ALL] if may_cut and program[source]["function"] != "scene" else kept)
    for inputs in product(*ways):
        yield Tree(function, tuple(step["value_inputs"]), inputs)


def given(tree: Tree, scene: Mapping[str, Any]) -> set[Any]:
    """Return what a cut program gives: a set of objects, or the set of its values; no value: it doesn't answer."""
    inputs = [given(one, scene) for one in tree.inputs]
    if tree.function == "unique":
        return inputs[0]
    if tree.function in ("scene", "union", "intersect") or tree.function.startswith("filter_"):
        return twin.apply(tree.function, inputs, tree.values, scene)  # type: ignore[no-any-return]
    if tree.function in ("count", "exist"):
        return {twin.apply(tree.function, inputs, tree.values, scene)}
    if tree.function == "relate" or tree.function.startswith("same_"):
        return {other for one in inputs[0] for other in twin.apply(tree.function, [one], tree.values, scene)}
    if tree.function == "equal_object":
        return {one == two for one in inputs[0] for two in inputs[1]}
    if tree.function.startswith("query_"):
        return {twin.apply(tree.function, [one], tree.values, scene) for one in inputs[0]}
    one, two = inputs
    if len(one) != 1 or len(two) != 1:
        return set()
    if tree.function in ("less_than", "greater_than"):
        return {twin.apply(tree.function, [min(one), min(two)], (), scene)}
    return {one == two}


def is_absolute(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any], *, width: float, height: float) -> bool:
    """Return whether halves of the picture in place of relations give the same answer."""
    halves: dict[str, list[int]] = {"left": [], "right": [], "behind": [], "front": []}
    for number, thing in enumerate(scene["objects"]):
        x, y, _ = thing["pixel_coords"]
        halves["left" if x < width / 2 else "right"].append(number)
        halves["behind" if y < height / 2 else "front"].append(number)
    everywhere = {name: [members for _ in scene["objects"]] for name, members in halves.items()}
    try:
        return bool(twin.answer(program, {**scene, "relationships": everywhere}) == twin.answer(program, scene))
    except twin.TwinIllPosed:
        return False
