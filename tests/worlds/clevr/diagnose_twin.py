"""A slow twin for the effective question and absolute space: it tries every pruned program with Python's sets.

It uses nothing of the engine. A pruned program is a tree `(function, values, inputs)`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from tests.worlds.clevr import twin

TAKES_OBJECTS = ("relate", "union", "intersect", "unique", "count", "exist", "equal_object")


class Tree(NamedTuple):
    """A step with the trees of its inputs."""

    function: str
    values: tuple[str, ...]
    inputs: tuple["Tree", ...]

    @property
    def size(self) -> int:
        """Return the number of steps."""
        return 1 + sum(one.size for one in self.inputs)

    @property
    def leaves(self) -> tuple[int, ...]:
        """Return for each branch its number of steps from the answer to the start."""
        if not self.inputs:
            return (0,)
        return tuple(1 + depth for one in self.inputs for depth in one.leaves)


ALL = Tree("scene", (), ())


def effective_size(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> int:
    """Return the size of the smallest pruned program with the same answer."""
    found = effective(program, scene)
    return len(program) if found is None else found.size


def effective(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> Tree | None:
    """Return the smallest pruned program with the same answer, or None if it is not smaller than the program."""
    wanted = {twin.run(program, scene)[-1]}
    fitting = [tree for tree in cut_programs(program, len(program) - 1) if outputs_of(tree, scene) == wanted]
    best = min(fitting, key=lambda tree: (tree.size, tree.leaves))
    return best if best.size < len(program) else None


def cut_programs(program: Sequence[Mapping[str, Any]], last: int) -> Iterator[Tree]:
    """Return every way to prune the steps that lead to a step."""
    step = program[last]
    function = step["function"]
    may_cut = function in TAKES_OBJECTS or function.partition("_")[0] in ("filter", "same", "query")
    ways = []
    for source in step["inputs"]:
        kept = list(cut_programs(program, source))
        ways.append([*kept, ALL] if may_cut and program[source]["function"] != "scene" else kept)
    for inputs in product(*ways):
        yield Tree(function, tuple(step["value_inputs"]), inputs)


def outputs_of(tree: Tree, scene: Mapping[str, Any]) -> set[Any]:
    """Return the set of objects or values that a pruned program gives. The set is empty if there is no answer."""
    inputs = [outputs_of(one, scene) for one in tree.inputs]
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
    """Return whether the answer stays the same if relations are replaced by halves of the picture."""
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
