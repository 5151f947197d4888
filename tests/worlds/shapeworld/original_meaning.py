"""The rules of the original program for the truth of a caption model, written again and run on exported models only.

An agreement is 1 (true), 0 (ambiguous) or -1 (false). Each part of a caption sorts the entities of a world: some fit
certainly, and some possibly. The types of the parts are checked by the same assertions as in the original.

The original computes the overlaps of entities itself. Here the pairs that overlap clearly or slightly are given.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tests.worlds.shapeworld.twin import FILLED

Model = Mapping[str, Any]
Entity = Mapping[str, Any]
DISTANCE, AXIS, AREA, SHADE, SHARE = 0.15, 0.1, 0.005, 0.2, 0.005
NEARNESS = ("proximity-two", "proximity-max")


class Sorted(NamedTuple):
    """The ids of the entities that certainly fit, and of those that may fit (including the certain ones)."""

    sure: frozenset[int]
    possible: frozenset[int]

    def also(self, other: "Sorted") -> "Sorted":
        """Return the entities that fit both."""
        return Sorted(self.sure & other.sure, self.possible & other.possible)

    @property
    def agreement(self) -> int:
        """Whether at least one entity fits."""
        return 1 if self.sure else 0 if self.possible else -1


class World:
    """A world model, and the pairs of entities that overlap clearly or slightly."""

    def __init__(self, model: Model, *, overlaps: Iterable[tuple[int, int]], grazes: Iterable[tuple[int, int]]) -> None:
        self.entities: dict[int, Entity] = {one["id"]: one for one in model["entities"]}
        self.overlaps = {frozenset(pair) for pair in overlaps}
        self.grazes = {frozenset(pair) for pair in grazes}

    def agreement(self, caption: Model) -> int:
        """Return 1, 0 or -1 if a caption model is true, ambiguous or false."""
        component = caption["component"]
        if component == "Proposition":
            return self._proposition(caption)
        if component == "EntityType":
            return self._type(caption).agreement
        if component == "Existential":
            return self._restrictor(caption["restrictor"]).also(self._relation(caption["body"])).agreement
        if component == "NumberBound":
            return self._bound(caption)
        if component == "Quantifier":
            whole = self._type(caption["restrictor"])
            return self._quantifier(caption, whole, whole.also(self._relation(caption["body"])))
        assert component == "ComparativeQuantifier", component
        return self._comparison(caption)

    def _proposition(self, caption: Model) -> int:
        first, second = (self.agreement(clause) for clause in caption["clauses"])
        return {
            "conjunction": min(first, second),
            "disjunction": max(first, second),
            "implication": max(first, -second),  # the second clause is the condition
            "equivalence": max(min(first, second), min(-first, -second)),
        }[caption["proptype"]]

    def _everyone(self, fits: Callable[[Entity], tuple[bool, bool]]) -> Sorted:
        """Sort all entities by whether they agree and whether they disagree. An entity that does both disagrees."""
        said = {number: fits(entity) for number, entity in self.entities.items()}
        possible = frozenset(number for number, (_, disagrees) in said.items() if not disagrees)
        return Sorted(frozenset(number for number in possible if said[number][0]), possible)

    def _type(self, model: Model) -> Sorted:
        assert model["component"] == "EntityType", model
        fitting = [
            number
            for number, entity in self.entities.items()
            if all(entity[one["predtype"]]["name"] == one["value"] for one in model["value"])
        ]
        return Sorted(frozenset(fitting), frozenset(fitting))

    def _restrictor(self, model: Model) -> Sorted:
        return self._selector(model) if model["component"] == "Selector" else self._type(model)

    def _selector(self, model: Model) -> Sorted:
        assert model["component"] == "Selector", model
        scope = self._type(model["scope"])
        kind, sign = model["predtype"], model.get("value")
        if kind == "unique":
            assert sign is None
            return Sorted(scope.sure if len(scope.sure) == 1 else frozenset(), scope.possible)
        assert sign in (-1, 1)
        assert ("comparison" in model) == (kind in NEARNESS)
        near = self._selector(model["comparison"]) if kind in NEARNESS else None
        if len(scope.sure) < 2 or (kind.endswith("-two") and len(scope.sure) != 2):
            return Sorted(frozenset(), scope.possible)
        members = [self.entities[number] for number in scope.sure]
        chosen = self._everyone(lambda one: self._beats(one, members, kind, sign, near))
        return chosen.also(scope)

    def _beats(
        self, one: Entity, members: list[Entity], kind: str, sign: int, near: Sorted | None
    ) -> tuple[bool, bool]:
        others = [other for other in members if other is not one]
        if near is not None:
            return self._nearest(one, members, sign, near)
        if kind[0] in "xy":
            along, aside = ("x", "y") if kind[0] == "x" else ("y", "x")
            gaps = [
                (_gap(one["center"], other["center"], along) * sign, abs(_gap(one["center"], other["center"], aside)))
                for other in others
            ]
            least = [max(AXIS, sideways) if kind.endswith("-two") else AXIS for _, sideways in gaps]
            agrees = all(gap > edge for (gap, _), edge in zip(gaps, least, strict=True))
            return agrees, any(-gap > AXIS for gap, _ in gaps)
        alike, measure, edge = (
            ("shape", _area, AREA)
            if kind.startswith("size")
            else ("color", lambda entity: entity["color"]["shade"], SHADE)
        )
        differences = [round((measure(one) - measure(other)) * sign, 6) for other in others]
        same = [
            difference
            for difference, other in zip(differences, others, strict=True)
            if other[alike]["name"] == one[alike]["name"]
        ]
        return bool(same) and min(same) > edge, any(-difference > edge for difference in differences)

    def _nearest(self, one: Entity, members: list[Entity], sign: int, near: Sorted) -> tuple[bool, bool]:
        """An entity agrees if it is nearer than any single other one. It never disagrees with itself."""
        agrees = any(
            self._nearer(one, other, reference, sign) > DISTANCE
            for other in members
            for reference in map(self.entities.__getitem__, near.sure)
            if len({one["id"], other["id"], reference["id"]}) == 3
        )
        if near.possible == {one["id"]}:
            return agrees, False
        disagrees = all(
            -self._nearer(one, other, reference, sign) >= DISTANCE
            for other in members
            for reference in map(self.entities.__getitem__, near.possible)
            if other is not reference
        )
        return agrees, disagrees

    def _nearer(self, one: Entity, other: Entity, reference: Entity, sign: int) -> float:
        return round((_distance(one, reference) - _distance(other, reference)) * sign, 6)

    def _relation(self, model: Model) -> Sorted:
        assert model["component"] == "Relation", model
        kind = model["predtype"]
        if kind == "type":
            return self._type(model["value"])
        if kind == "attribute":
            return self._type({"component": "EntityType", "value": [model["value"]]})
        return self._everyone(self._stands(model))

    def _stands(self, model: Model) -> Callable[[Entity], tuple[bool, bool]]:
        """Return a function that says of an entity whether it agrees with a relation, and whether it disagrees."""
        kind, sign = model["predtype"], model["value"]
        assert sign in (-1, 1)
        if kind == "negation":
            assert model["reference"]["component"] == "Relation"
            inner = self._stands(model["reference"])
            return inner if sign == 1 else lambda one: inner(one)[::-1]
        references = self._type(model["reference"])
        assert ("comparison" in model) == (kind == "proximity-rel")
        near = self._selector(model["comparison"]) if kind == "proximity-rel" else None

        def said(one: Entity) -> tuple[bool, bool]:
            if near is not None:
                return self._is_nearer(one, references, near, sign)
            known = [self.entities[number] for number in references.sure]
            agrees = any(self._pair(one, other, kind, sign)[0] for other in known)
            if known == [one]:
                return agrees, False
            return agrees, all(self._pair(one, other, kind, sign)[1] for other in known)

        return said

    def _is_nearer(self, one: Entity, references: Sorted, near: Sorted, sign: int) -> tuple[bool, bool]:
        pairs = [
            (self.entities[other], self.entities[target]) for other in references.possible for target in near.possible
        ]
        agrees = any(
            self._nearer(one, other, target, sign) > DISTANCE
            for other, target in pairs
            if target["id"] in near.sure and len({one["id"], other["id"], target["id"]}) == 3
        )
        if references.possible == {one["id"]} or near.possible == {one["id"]}:
            return agrees, False
        return agrees, all(
            -self._nearer(one, other, target, sign) >= DISTANCE for other, target in pairs if other is not target
        )

    def _pair(self, one: Entity, other: Entity, kind: str, sign: int) -> tuple[bool, bool]:
        """Return whether an entity has a relation to another one, and whether it clearly does not have it."""
        if kind in ("x-rel", "y-rel"):
            along, aside = ("x", "y") if kind == "x-rel" else ("y", "x")
            gap = _gap(one["center"], other["center"], along) * sign
            return gap > max(AXIS, abs(_gap(one["center"], other["center"], aside))), -gap > AXIS
        if kind == "z-rel":
            pair, is_ahead = frozenset({one["id"], other["id"]}), (one["id"] - other["id"]) * sign > 0
            return is_ahead and pair in self.overlaps, pair not in self.grazes and not (
                is_ahead and pair in self.overlaps
            )
        if kind in ("shape-rel", "color-rel"):
            same = one[kind[:5]]["name"] == other[kind[:5]]["name"]
            return one is not other and same == (sign == 1), one is other or same != (sign == 1)
        alike, measure, edge = (
            ("shape", _area, AREA) if kind == "size-rel" else ("color", lambda entity: entity["color"]["shade"], SHADE)
        )
        difference = round((measure(one) - measure(other)) * sign, 6)
        return one[alike]["name"] == other[alike]["name"] and difference > edge, -difference > edge

    def _bound(self, caption: Model) -> int:
        inner = caption["quantifier"]
        whole = self._type(inner["restrictor"])
        if len(whole.sure) != caption["bound"]:
            return -1
        return self._quantifier(inner, whole, whole.also(self._relation(inner["body"])))

    def _quantifier(self, caption: Model, whole: Sorted, part: Sorted) -> int:
        assert isinstance(caption["quantity"], int if caption["qtype"] == "count" else float)
        if caption["qtype"] == "count":
            return _amount(caption, len(part.sure), len(part.possible))
        return _amount(caption, _share(part.sure, whole.possible), _share(part.possible, whole.sure))

    def _comparison(self, caption: Model) -> int:
        body = self._relation(caption["body"])
        one, other = (self._type(caption[name]).also(body) for name in ("restrictor", "comparison"))
        if caption["qtype"] == "count":
            return _amount(caption, len(one.sure) - len(other.possible), len(one.possible) - len(other.sure))
        return _amount(caption, _share(one.sure, other.possible), _share(one.possible, other.sure))


def _share(part: frozenset[int], whole: frozenset[int]) -> float:
    return len(part) / len(whole) if whole else math.inf if part else 0.0


def _amount(caption: Model, least: float, most: float) -> int:
    """Compare the least and the largest amount with a quantity. There is a tolerance unless it is a whole number."""
    wanted = caption["quantity"]
    room = 0.0 if wanted % 1.0 == 0.0 else SHARE
    below, above = (lambda found: found < wanted - room), (lambda found: found > wanted + room)
    sure, never = {
        "lt": (below(most), not below(least)),
        "leq": (not above(most), above(least)),
        "eq": (not above(most) and not below(least), below(most) or above(least)),
        "neq": (below(most) or above(least), not above(most) and not below(least)),
        "geq": (not below(least), below(most)),
        "gt": (above(least), not above(most)),
    }[caption["qrange"]]
    return 1 if sure else -1 if never else 0


def _gap(one: Mapping[str, float], other: Mapping[str, float], along: str) -> float:
    return round(one[along] - other[along], 6)


def _distance(one: Entity, other: Entity) -> float:
    return math.hypot(*(one["center"][along] - other["center"][along] for along in "xy"))


def _area(entity: Entity) -> float:
    shape = entity["shape"]
    return FILLED[shape["name"]] * 4 * shape["size"]["x"] * shape["size"]["y"]
