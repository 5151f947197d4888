"""The check for idle relations: relations without which the program selects the same objects.

A relation is left out by replacing its result by all objects; later steps, filters too, are run again.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from generation.engine.errors import IllPosed
from generation.engine.program import FunctionTable, Program
from generation.engine.worlds.clevr.scene import ClevrScene


class Idle(NamedTuple):
    """The places where relations of a program are idle.

    Attributes
    ----------
    before_unique : bool
        Whether the set that `unique` takes is the same without one of its relations.
    before_count : bool
        Whether a set that `count` or `exist` takes is the same without one of its relations.
    joins_alike : bool
        Whether both inputs of a union or an intersection are the same set.
    """

    before_unique: bool
    before_count: bool
    joins_alike: bool


def idle_relations(program: Program, given: Sequence[Any], scene: ClevrScene, *, table: FunctionTable) -> Idle:
    """Return where relations are idle; `given` has the result of each step of the program."""
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


def is_degenerate(program: Program, given: Sequence[Any], scene: ClevrScene, *, table: FunctionTable) -> bool:
    """Return whether the answer is the same without some spatial relation; the original generator tests only this."""
    last = len(program) - 1
    spatial = [at for at, step in enumerate(program) if step.function == "relate"]
    return any(without(program, given, scene, dropped, last, table=table) == given[last] for dropped in spatial)


def _relations(program: Program, source: int) -> list[int]:
    """Return the relations that describe a set, back to the objects that they start from."""
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
    program: Program, given: Sequence[Any], scene: ClevrScene, dropped: int, last: int, *, table: FunctionTable
) -> Any:
    """Return the result of step `last` if a relation gave all objects, or None if the program is then ill-posed."""
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
