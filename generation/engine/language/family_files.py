"""Reading files of question families.

A file is a JSON list in the format of CLEVR's original templates, so that users can bring their own: `params`, `text`,
`nodes`, `constraints` and, optionally, `family`, the number by which questions refer to the family. This module checks
everything that can be checked without a scene.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.errors import BadFamily
from generation.engine.language.families import RELATION, Family, Language, Mode, Op, Operation, Param
from generation.engine.language.wording import Wording, read_wording
from generation.engine.reading.bounded_json import BadJson, loads

MAX_OPERATIONS = 48


def read_families(texts: Mapping[str, str], *, language: Language, order: Sequence[str] = ()) -> tuple[Family, ...]:
    """Return the families that files describe, sorted by number.

    Parameters
    ----------
    texts : mapping of str to str
        File names and their JSON.
    language : Language
    order : sequence of str
        File names whose families are numbered first, in this order. The families of other files follow, sorted by file
        name. Families that state a number keep it.

    Raises
    ------
    BadFamily
        For invalid JSON, an unknown node, a parameter that is used twice or never, inputs that do not come before
        their node (a cycle), wrong types, a text whose placeholders are not the parameters, or a number that occurs
        twice. The message names the file, the family and the place.
    """
    families: list[Family] = []
    for name in sorted(texts, key=lambda name: (order.index(name) if name in order else len(order), name)):
        for position, data in enumerate(_documents(name, texts[name])):
            number = data.get("family", len(families)) if isinstance(data, dict) else len(families)
            families.append(_Reader(data, f"{name}, family {position}", name, language).family(number))
    seen: dict[int, str] = {}
    for family in families:
        if family.number in seen:
            raise BadFamily(f"Expected each number once, got {family.number} twice.", where=family.source)
        seen[family.number] = family.source
    if not families:
        raise BadFamily("Expected at least one family, got none.", where=", ".join(texts))
    return tuple(sorted(families, key=lambda family: family.number))


def _documents(name: str, text: str) -> list[Any]:
    try:
        data = loads(text)
    except BadJson as error:
        raise BadFamily(str(error), where=name) from error
    if not isinstance(data, list):
        raise BadFamily(f"Expected a list of families, got {type(data).__name__}.", where=name)
    return data


MOST = {"params": 100, "text": 1000, "nodes": 100, "constraints": 200}


class _Lowered(NamedTuple):
    type: str
    last: int


_COMPOSITE = re.compile(r"^(relate_)?filter(?:_(unique|count|exist))?$")
_SIMPLE: dict[str, tuple[Op, tuple[str, ...], str]] = {
    "scene": (Op.SCENE, (), "ObjectSet"),
    "unique": (Op.UNIQUE, ("ObjectSet",), "Object"),
    "union": (Op.UNION, ("ObjectSet", "ObjectSet"), "ObjectSet"),
    "intersect": (Op.INTERSECT, ("ObjectSet", "ObjectSet"), "ObjectSet"),
    "count": (Op.COUNT, ("ObjectSet",), "Integer"),
    "exist": (Op.EXIST, ("ObjectSet",), "Bool"),
    "equal_integer": (Op.EQUAL_INTEGER, ("Integer", "Integer"), "Bool"),
    "less_than": (Op.LESS_THAN, ("Integer", "Integer"), "Bool"),
    "greater_than": (Op.GREATER_THAN, ("Integer", "Integer"), "Bool"),
    "equal_object": (Op.EQUAL_OBJECT, ("Object", "Object"), "Bool"),
}
_MODES = {None: Mode.SET, "unique": Mode.UNIQUE, "count": Mode.COUNT, "exist": Mode.EXIST}
_AFTER = {"unique": (Op.UNIQUE, "Object"), "count": (Op.COUNT, "Integer"), "exist": (Op.EXIST, "Bool")}


class _Reader:
    """Reads one family. Every error message names its place."""

    def __init__(self, data: Any, where: str, source: str, language: Language) -> None:
        self.where = where
        self.source = source
        self.language = language
        if not isinstance(data, dict):
            raise BadFamily(f"Expected an object, got {type(data).__name__}.", where=where)
        for key in ("params", "text", "nodes"):
            if not isinstance(data.get(key), list):
                raise BadFamily(f"Expected a list under {key!r}, got {data.get(key)!r}.", where=where)
        if not isinstance(data.get("constraints") or [], list):
            raise BadFamily(f"Expected a list under 'constraints', got {data['constraints']!r}.", where=where)
        for key, most in MOST.items():
            if len(data.get(key) or ()) > most:
                raise BadFamily(
                    f"Expected at most {most:,} entries under {key!r}, got {len(data[key]):,}.", where=where
                )
        self.data = data
        self.params = self._params(data["params"])
        self.slots = {param.name: at for at, param in enumerate(self.params)}
        self.used: set[int] = set()
        self.operations: list[Operation] = []
        self.lowered: list[_Lowered] = []

    def family(self, number: Any) -> Family:
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 65_000:
            raise BadFamily(f"Expected a number of 0 .. 64999 under 'family', got {number!r}.", where=self.where)
        for position, node in enumerate(self.data["nodes"]):
            self._node(node, position)
        if not self.lowered or len(self.operations) > MAX_OPERATIONS:
            raise BadFamily(f"Expected 1 to {MAX_OPERATIONS} operations, got {len(self.operations)}.", where=self.where)
        unused = [param.name for at, param in enumerate(self.params) if at not in self.used]
        if unused:
            raise BadFamily(f"Expected every parameter in a node, {', '.join(unused)} is in none.", where=self.where)
        differ, unequal = self._constraints(self.data.get("constraints") or [])
        answer_type = self.lowered[-1].type
        return Family(
            number=number,
            source=self.source,
            params=self.params,
            wordings=self._wordings(),
            operations=tuple(self.operations),
            differ=differ,
            unequal=unequal,
            answers=self._answers(answer_type),
            answer_type=answer_type,
        )

    def _params(self, entries: Sequence[Any]) -> tuple[Param, ...]:
        types = {RELATION, *(name.capitalize() for name in self.language.names)}
        params = []
        for entry in entries:
            kind = entry.get("type") if isinstance(entry, dict) else None
            name = entry.get("name") if isinstance(entry, dict) else None
            if kind not in types or not isinstance(name, str) or not re.fullmatch(r"<\w+>", name):
                raise BadFamily(
                    f"Expected a parameter with a type of {', '.join(sorted(types))} and a name like <Z2>, "
                    f"got {entry!r}.",
                    where=f"{self.where}, params",
                )
            params.append(Param(kind, name))
        if len({param.name for param in params}) < len(params):
            raise BadFamily("Expected each parameter's name once.", where=f"{self.where}, params")
        return tuple(params)

    def _node(self, node: Any, position: int) -> None:
        where = f"{self.where}, node {position}"
        if not isinstance(node, dict) or not isinstance(node.get("type"), str):
            raise BadFamily(f"Expected an object with a type, got {node!r}.", where=where)
        name, inputs = node["type"], node.get("inputs", [])
        if not isinstance(inputs, list) or any(type(i) is not int or not 0 <= i < position for i in inputs):
            raise BadFamily(
                f"Expected inputs from the nodes before it (0 .. {position - 1}), got {inputs!r}: "
                "a node that waits for itself or a later one never runs.",
                where=where,
            )
        named = node.get("side_inputs") or node.get("value_inputs") or []
        if not isinstance(named, list):
            raise BadFamily(f"Expected a list of parameters as side inputs, got {named!r}.", where=where)
        sides = [self._slot(side, where) for side in named]
        sources = [self.lowered[i] for i in inputs]
        composite = _COMPOSITE.match(name)
        if composite:
            self._filter(name, sources, sides, where, related=bool(composite[1]), after=composite[2])
        elif name == "relate":
            self._take(name, sources, ("Object",), where)
            self._bind(name, sides, (RELATION,), where)
            params = (sides[0], *(-1 for _ in self.language.names))
            self._add(Operation(Op.RELATE, (sources[0].last,), params=params), "ObjectSet")
        elif name in _SIMPLE:
            op, wanted, output = _SIMPLE[name]
            self._take(name, sources, wanted, where)
            self._bind(name, sides, (), where)
            self._add(Operation(op, tuple(source.last for source in sources)), output)
        else:
            self._about_attribute(name, sources, sides, where)

    def _filter(
        self,
        name: str,
        sources: Sequence[_Lowered],
        sides: Sequence[int],
        where: str,
        *,
        related: bool,
        after: str | None,
    ) -> None:
        types = tuple(attribute.capitalize() for attribute in self.language.names)
        self._take(name, sources, ("Object",) if related else ("ObjectSet",), where)
        self._bind(name, sides, (RELATION, *types) if related else types, where)
        params = tuple(sides) if related else (-1, *sides)
        op = Op.RELATE_FILTER if related else Op.FILTER
        null = self._null(params[1:])
        self.operations.append(Operation(op, (sources[0].last,), mode=_MODES[after], params=params, null=null))
        if after is None:
            self.lowered.append(_Lowered("ObjectSet", len(self.operations) - 1))
        else:
            op, output = _AFTER[after]
            self._add(Operation(op, (len(self.operations) - 1,)), output)

    def _about_attribute(self, name: str, sources: Sequence[_Lowered], sides: Sequence[int], where: str) -> None:
        verb, _, attribute = name.partition("_")
        if verb not in ("filter", "same", "query", "equal") or attribute not in self.language.names:
            raise BadFamily(f"Expected a known type of node, got {name!r}. See /docs/families/.", where=where)
        number = self.language.names.index(attribute)
        kind = attribute.capitalize()
        if verb == "filter":
            self._take(name, sources, ("ObjectSet",), where)
            self._bind(name, sides, (kind,), where)
            slots = [-1] * (len(self.language.names) + 1)
            slots[number + 1] = sides[0]
            self._add(
                Operation(Op.FILTER_ONE, (sources[0].last,), attribute=number, params=tuple(slots)),
                "ObjectSet",
            )
            return
        self._bind(name, sides, (), where)
        op, wanted, output = {
            "same": (Op.SAME, ("Object",), "ObjectSet"),
            "query": (Op.QUERY, ("Object",), kind),
            "equal": (Op.EQUAL_VALUE, (kind, kind), "Bool"),
        }[verb]
        self._take(name, sources, wanted, where)
        self._add(Operation(op, tuple(source.last for source in sources), attribute=number), output)

    def _add(self, operation: Operation, output: str) -> None:
        self.operations.append(operation)
        self.lowered.append(_Lowered(output, len(self.operations) - 1))

    def _take(self, name: str, sources: Sequence[_Lowered], wanted: tuple[str, ...], where: str) -> None:
        got = tuple(source.type for source in sources)
        if got != wanted:
            raise BadFamily(
                f"Expected inputs of type ({', '.join(wanted)}) for {name}, got ({', '.join(got)}).",
                where=where,
            )

    def _slot(self, name: Any, where: str) -> int:
        if not isinstance(name, str) or name not in self.slots:
            raise BadFamily(f"Expected one of {', '.join(self.slots)} as side input, got {name!r}.", where=where)
        return self.slots[name]

    def _bind(self, name: str, sides: Sequence[int], wanted: tuple[str, ...], where: str) -> None:
        got = tuple(self.params[side].type for side in sides)
        if got != wanted:
            raise BadFamily(
                f"Expected side inputs of type ({', '.join(wanted)}) for {name}, got ({', '.join(got)}).",
                where=where,
            )
        for side in sides:
            if side in self.used:
                raise BadFamily(
                    f"Expected each parameter in one node, {self.params[side].name} is in two.", where=where
                )
            self.used.add(side)

    def _null(self, params: Iterable[int]) -> int:
        unset = [
            constraint.get("params")
            for constraint in self.data.get("constraints") or []
            if isinstance(constraint, dict) and constraint.get("type") == "NULL"
        ]
        return sum(1 << at for at, param in enumerate(params) if [self.params[param].name] in unset)

    def _constraints(self, entries: Any) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
        differ: list[tuple[int, int]] = []
        unequal: list[tuple[int, int]] = []
        for position, entry in enumerate(entries or ()):
            where = f"{self.where}, constraint {position}"
            kind = entry.get("type") if isinstance(entry, dict) else None
            named = entry.get("params") if isinstance(entry, dict) else None
            count = {"NULL": 1, "NEQ": 2, "OUT_NEQ": 2}.get(str(kind))
            if count is None or not isinstance(named, list) or len(named) != count:
                raise BadFamily(
                    f"Expected NULL with one parameter, NEQ with two, or OUT_NEQ with two nodes, got {entry!r}.",
                    where=where,
                )
            if named[:1] == named[1:]:
                raise BadFamily(f"Expected two that can differ, got {named[0]!r} twice.", where=where)
            if kind == "OUT_NEQ":
                differ.append(self._outputs(named, where))
            else:
                slots = [self._slot(name, where) for name in named]
                if kind == "NEQ":
                    unequal.append((slots[0], slots[1]))
                elif not any(slots[0] in operation.params[1:] for operation in self._described()):
                    raise BadFamily(f"Expected a parameter that may be unset, got {named[0]}.", where=where)
        return tuple(differ), tuple(unequal)

    def _described(self) -> Iterable[Operation]:
        return (one for one in self.operations if one.op in (Op.FILTER, Op.RELATE_FILTER))

    def _outputs(self, named: Sequence[Any], where: str) -> tuple[int, int]:
        if any(type(node) is not int or not 0 <= node < len(self.lowered) for node in named):
            raise BadFamily(f"Expected nodes of 0 .. {len(self.lowered) - 1}, got {named!r}.", where=where)
        first, second = self.lowered[named[0]], self.lowered[named[1]]
        if first.type != second.type:
            raise BadFamily(f"Expected two nodes of one type, got {first.type} and {second.type}.", where=where)
        return (min(first.last, second.last), max(first.last, second.last))

    def _wordings(self) -> tuple[Wording, ...]:
        wordings = []
        for position, text in enumerate(self.data["text"]):
            where = f"{self.where}, text {position}"
            wording = read_wording(text, params=[param.name for param in self.params], where=where)
            wordings.append(wording)
        if not wordings:
            raise BadFamily("Expected at least one text, got none.", where=self.where)
        return tuple(wordings)

    def _answers(self, kind: str) -> tuple[str, ...]:
        if kind == "Bool":
            return ("no", "yes")
        if kind == "Integer":
            return tuple(str(number) for number in range(self.language.most + 1))
        if kind in ("Object", "ObjectSet"):
            raise BadFamily(f"Expected a last node that gives an answer, got one that gives {kind}.", where=self.where)
        return self.language.values(kind)
