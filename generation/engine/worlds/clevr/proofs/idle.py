"""Relations that say nothing: without them, the same objects are meant.

A relation is left out by putting all objects in its place, filters after it kept, and running the rest again.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from generation.engine.errors import IllPosed
from generation.engine.program import FunctionTable, Program
from generation.engine.worlds.clevr.scene import Scene


class Idle(NamedTuple):
    """Where a program's relations are idle.

    Attributes
    ----------
    before_unique : bool
        An object is told apart without one of the relations it is described by.
    before_count : bool
        A set that is counted, or asked whether it is empty, is the same without one.
    joins_alike : bool
        Both inputs of a union or an intersection are the same set.
    """

    before_unique: bool
    before_count: bool
    joins_alike: bool


def idle_relations(program: Program, given: Sequence[Any], scene: Scene, *, table: FunctionTable) -> Idle:
    """Return where relations are idle; `given` is what each step of the program gives."""
    unique = counted = joined = False
    for step in program:
        if step.function in ("union", "intersect"):
            joined |= given[step.inputs[0]] == given[step.inputs[1]]
        if step.function in ("unique", "count", "exist"):
            source = step.inputs[0]
            idle = any(
                without(program, given, scene, dropped, source, table=table) == given[source]
                for dropped in _relations(program, source)
            )
            unique |= idle and step.function == "unique"
            counted |= idle and step.function != "unique"
    return Idle(unique, counted, joined)


def is_degenerate(program: Program, given: Sequence[Any], scene: Scene, *, table: FunctionTable) -> bool:
    """Return whether the answer stays the same without some spatial relation: the original generator's whole test."""
    last = len(program) - 1
    spatial = [at for at, step in enumerate(program) if step.function == "relate"]
    return any(without(program, given, scene, dropped, last, table=table) == given[last] for dropped in spatial)


def _relations(program: Program, source: int) -> list[int]:
    """Return the relations that a set rests on, back to the objects they start from."""
    found, waiting = [], [source]
    while waiting:
        at = waiting.pop()
        name = program[at].function
        if name == "relate" or name.startswith("same_"):
            found.append(at)
        elif name != "unique":
            waiting.extend(program[at].inputs)
    return found


def without(
    program: Program, given: Sequence[Any], scene: Scene, dropped: int, last: int, *, table: FunctionTable
) -> Any:
    """Return what step `last` gives with all objects in a relation's place; None where that is ill-posed."""
    changed = {dropped: (1 << len(scene.objects)) - 1}
    try:
        for at in range(dropped + 1, last + 1):
            step = program[at]
            if any(source in changed for source in step.inputs):
                inputs = [changed.get(source, given[source]) for source in step.inputs]
                changed[at] = table.functions[step.function].run(scene, *inputs, *step.values)
    except IllPosed:
        return None
    return changed.get(last, given[last])
