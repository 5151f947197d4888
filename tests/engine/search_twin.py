"""A slow twin of the search: it tries every way to fill in a family's template on a scene, in plain Python.

The twin reads the JSON of the template, writes each instantiation as a program of basic functions, and runs the program
with the twin of CLEVR's functions. The rules are those of the original generator, as its code describes them. There are
two ways to treat questions with redundant words:

`clevr`      If the template has a plain `relate`, a question is refused if its answer stays the same after one of its
             relations is replaced by the whole scene. There is no other rule about relations.
`reference`  An object that is reached by a relation (spatial, or a shared attribute) is refused if it is also unique
             without this relation. The two inputs of union and intersect must differ.

Some instantiations are marked but not refused, because a fast search draws only some of them. `invented`: a filter fits
no object of the scene. `limited`: a relation removes nothing. This concerns a relation that comes with a filter, if the
filter alone gives the same; with `reference`, also each relation before a count or an existence.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from tests.worlds.clevr.twin import ATTRIBUTES, TwinIllPosed, apply, run

RELATIONS = ("behind", "front", "left", "right")
Json = Mapping[str, Any]
Steps = list[dict[str, Any]]


class Found(NamedTuple):
    """A valid instantiation: the value of each placeholder (None if unset), the program, its answer, and its marks."""

    values: dict[str, str | None]
    program: Steps
    answer: Any
    limited: bool
    invented: bool

    @property
    def firm(self) -> bool:
        """Whether a complete search must find this instantiation."""
        return not self.limited and not self.invented


class Partial(NamedTuple):
    """The filled-in first nodes of a template: steps, their outputs, the last step of each node, and the values."""

    steps: Steps
    outputs: list[Any]
    ends: list[int]
    values: dict[str, str | None]
    limited: bool
    invented: bool


class Twin:
    """Fills in the template of one family for one scene.

    Parameters
    ----------
    family : dict
        A family in the format of its file.
    scene : dict
        A scene in the format of the release.
    values : mapping
        All values of each attribute.
    mode : str
        `reference` or `clevr`.
    """

    def __init__(self, family: Json, scene: Json, *, values: Mapping[str, Sequence[str]], mode: str) -> None:
        self.nodes, self.scene, self.values, self.mode = family["nodes"], scene, values, mode
        constraints = family.get("constraints", [])
        self.null = {c["params"][0] for c in constraints if c["type"] == "NULL"}
        self.differ = [c["params"] for c in constraints if c["type"] == "OUT_NEQ"]
        self.unequal = [c["params"] for c in constraints if c["type"] == "NEQ"]
        self.inventing = True
        self.bare = any(node["type"] == "relate" for node in self.nodes)

    def all(self, *, classes: bool = False, inventing: bool = True) -> Iterator[Found]:
        """Return all valid instantiations. With `classes`, return one for all descriptions of the same objects."""
        self.inventing = inventing
        return self._grow(Partial([], [], [], {}, limited=False, invented=False), None, classes)

    def admitted(self, values: Mapping[str, str | None]) -> Found | None:
        """Return the instantiation with these values, or None if it is not valid."""
        self.inventing = True
        start = Partial([], [], [], {}, limited=False, invented=False)
        return next(self._grow(start, values, False), None)

    def _grow(self, partial: Partial, wanted: Mapping[str, str | None] | None, classes: bool) -> Iterator[Found]:
        at = len(partial.ends)
        if at == len(self.nodes):
            if self._finished(partial):
                yield Found(partial.values, partial.steps, partial.outputs[-1], partial.limited, partial.invented)
            return
        node = self.nodes[at]
        names = node.get("side_inputs", [])
        for choice, invented in self._choices(node, partial, classes and wanted is None):
            values = dict(zip(names, choice, strict=True))
            if wanted is not None and any(wanted[name] != value for name, value in values.items()):
                continue
            grown = self._extended(partial, node, values, invented)
            if grown is not None:
                yield from self._grow(grown, wanted, classes)

    def _choices(self, node: Json, partial: Partial, classes: bool) -> Iterator[tuple[tuple[str | None, ...], bool]]:
        """Return the possible side inputs of a node, each with the mark whether it is invented."""
        kind, names = node["type"], node.get("side_inputs", [])
        if kind == "relate":
            yield from (((relation,), False) for relation in RELATIONS)
        elif kind.startswith("relate_filter"):
            for relation in RELATIONS:
                yield from (((relation, *one), False) for one in self._descriptions(names[1:], classes))
        elif kind in ("filter", "filter_unique", "filter_count", "filter_exist"):
            for one in self._descriptions(names, classes):
                if kind != "filter" or any(one):
                    yield one, False
            if kind != "filter_unique" and self.inventing:
                yield from ((one, True) for one in self._inventions(names, classes))
        elif kind.startswith("filter_"):
            yield from (((value,), False) for value in self.values[kind.removeprefix("filter_")])
        else:
            yield (), False

    def _descriptions(self, names: Sequence[str], classes: bool) -> list[tuple[str | None, ...]]:
        """Return the descriptions (size, color, material, shape) that fit at least one object."""
        found: dict[Any, tuple[str | None, ...]] = {}
        for thing in self.scene["objects"]:
            for said in product((True, False), repeat=4):
                one = tuple(thing[a] if s else None for a, s in zip(ATTRIBUTES, said, strict=True))
                if not any(value and name in self.null for name, value in zip(names, one, strict=True)):
                    found.setdefault((frozenset(self._fitting(one)), any(one)) if classes else one, one)
        return list(found.values())

    def _inventions(self, names: Sequence[str], classes: bool) -> Iterator[tuple[str | None, ...]]:
        """Return the descriptions that fit no object; only the first one with `classes`."""
        choices = [
            (None,) if name in self.null else (None, *self.values[a]) for name, a in zip(names, ATTRIBUTES, strict=True)
        ]
        for one in product(*choices):
            if not self._fitting(one):
                yield one
                if classes:
                    return

    def _fitting(self, description: Sequence[str | None]) -> set[int]:
        return {
            number
            for number, thing in enumerate(self.scene["objects"])
            if all(v is None or thing[a] == v for a, v in zip(ATTRIBUTES, description, strict=True))
        }

    def _extended(self, partial: Partial, node: Json, values: dict[str, str | None], invented: bool) -> Partial | None:
        """Return the template with one more node, or None if the node is ill-posed or against the rules."""
        at = len(partial.ends)
        added = basic_steps(node, values, partial)
        steps, outputs = [*partial.steps, *added], list(partial.outputs)
        try:
            for step in added:
                inputs = [outputs[number] for number in step["inputs"]]
                outputs.append(apply(step["function"], inputs, step["value_inputs"], self.scene))
        except TwinIllPosed:
            return None
        # A filter without a value adds no step. Its output is the output of its input.
        end = len(steps) - 1 if added else partial.ends[node["inputs"][0]]
        ends = [*partial.ends, end]
        for one, two in self.differ:
            if at == max(one, two) and outputs[ends[one]] == outputs[ends[two]]:
                return None
        if not self._useful(node, steps, outputs, end):
            return None
        limited = partial.limited or self._limited(node, steps, outputs, ends)
        return Partial(steps, outputs, ends, {**partial.values, **values}, limited, partial.invented or invented)

    def _useful(self, node: Json, steps: Steps, outputs: list[Any], end: int) -> bool:
        """Return whether a node follows the rules of the mode about redundant parts."""
        kind = node["type"]
        if kind == "relate_filter" and not outputs[end]:
            return False
        if self.mode == "clevr":
            return True
        if kind in ("union", "intersect"):
            one, two = steps[end]["inputs"]
            return bool(outputs[one] != outputs[two])
        if kind.endswith("unique"):
            return not any(self._kept(steps, outputs, end, dropped) for dropped in relations(steps, end))
        return True

    def _limited(self, node: Json, steps: Steps, outputs: list[Any], ends: list[int]) -> bool:
        """Return whether a relation removes nothing."""
        kind, end = node["type"], ends[-1]
        counts = kind.endswith(("count", "exist"))
        members = steps[end]["inputs"][0] if counts else end
        if kind.startswith("relate_filter"):
            if kind.endswith("unique"):
                members = steps[end]["inputs"][0]
            return self._kept(steps, outputs, members, max(relations(steps, members)))
        if counts and self.mode == "reference":
            return any(self._kept(steps, outputs, members, relation) for relation in relations(steps, members))
        return False

    def _kept(self, steps: Steps, outputs: list[Any], end: int, dropped: int) -> bool:
        """Return whether a step keeps its output if one relation is replaced by the whole scene."""
        changed = [*steps[: end + 1]]
        changed[dropped] = {"function": "scene", "inputs": [], "value_inputs": []}
        try:
            return bool(run(changed, self.scene)[end] == outputs[end])
        except TwinIllPosed:
            return False

    def _finished(self, partial: Partial) -> bool:
        for one, two in self.unequal:
            if partial.values[one] == partial.values[two]:
                return False
        if self.mode == "reference" or not self.bare:
            return True
        last = len(partial.steps) - 1
        spatial = [number for number, step in enumerate(partial.steps) if step["function"] == "relate"]
        return not any(self._kept(partial.steps, partial.outputs, last, dropped) for dropped in spatial)


def relations(steps: Steps, end: int) -> list[int]:
    """Return the relations (spatial, or a shared attribute) on which a step depends."""
    needed, waiting = set(), [end]
    while waiting:
        at = waiting.pop()
        needed.add(at)
        waiting += steps[at]["inputs"]
    return [at for at in sorted(needed) if steps[at]["function"].partition("_")[0] in ("relate", "same")]


def basic_steps(node: Json, values: Mapping[str, str | None], partial: Partial) -> Steps:
    """Return the basic functions for a node of a template. A filter without a value is left out."""
    kind, sides = node["type"], [values[name] for name in node.get("side_inputs", [])]
    inputs = [partial.ends[number] for number in node["inputs"]]
    if not (kind in ("filter", "relate_filter") or kind.startswith(("filter_", "relate_filter_"))):
        return [{"function": kind, "inputs": inputs, "value_inputs": sides}]
    chain: list[tuple[str, list[Any]]] = []
    if kind.startswith("relate_"):
        chain.append(("relate", [sides.pop(0)]))
    if kind.removeprefix("filter_") in ATTRIBUTES:
        chain.append((kind, sides))
    else:
        chain += [(f"filter_{a}", [v]) for a, v in zip(ATTRIBUTES, sides, strict=True) if v is not None]
        ending = kind.rpartition("_")[2]
        chain += [(ending, [])] if ending in ("unique", "count", "exist") else []
    steps: Steps = []
    for function, fixed in chain:
        steps.append({"function": function, "inputs": inputs, "value_inputs": fixed})
        inputs = [len(partial.steps) + len(steps) - 1]
    return steps
