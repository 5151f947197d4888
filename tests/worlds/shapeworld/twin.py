"""A slow twin for the truth of captions: it follows the definitions and tries every way to decide unclear cases.

A truth is 1, 0 (unclear) or -1. The twin reads scenes and programs as JSON and shares no code with the engine.

References
----------
Kuhnle and Copestake 2017, ShapeWorld, sections 3.3 and 4; thresholds of the original code.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

DISTANCE, AXIS, AREA, SHADE, RATIO = 0.15, 0.10, 0.005, 0.2, 0.005
Members = dict[int, int]  # for each entity, the truth that it belongs
FILLED = {
    "square": 1.0,
    "rectangle": 1.0,
    "triangle": 0.5,
    "pentagon": 0.5
    * 5
    * math.sin(math.radians(72))
    / (2 * math.sin(math.radians(72)) * (1 + math.cos(math.radians(36)))),
    "cross": 5 / 9,
    "circle": math.pi / 4,
    "semicircle": math.pi / 4,
    "ellipse": math.pi / 4,
}
OPPOSITE = {"right": "left", "below": "above", "smaller": "bigger", "lighter": "darker"}
SELECTED = {
    "left": "left",
    "right": "right",
    "upper": "above",
    "lower": "below",
    "bigger": "bigger",
    "smaller": "smaller",
    "darker": "darker",
    "lighter": "lighter",
    "leftmost": "left",
    "rightmost": "right",
    "topmost": "above",
    "bottommost": "below",
    "biggest": "bigger",
    "smallest": "smaller",
    "darkest": "darker",
    "lightest": "lighter",
}


def clear(difference: float, threshold: float) -> int:
    """Return 1 if a difference is above the threshold, -1 if it is below its negative, and 0 otherwise."""
    difference = round(difference, 6)
    return 1 if difference > threshold else -1 if difference < -threshold else 0


def run(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> list[Any]:
    """Return the output of every step: a truth, or for a set a truth for each entity."""
    results: list[Any] = []
    for step in program:
        inputs = [results[source] for source in step["inputs"]]
        results.append(apply(step["function"], inputs, step["value_inputs"], scene))
    return results


def apply(function: str, inputs: list[Any], values: list[str], scene: Mapping[str, Any]) -> Any:
    """Return the output of one function."""
    entities = scene["entities"]
    everyone = range(len(entities))
    if function == "scene":
        return dict.fromkeys(everyone, 1)
    if function.startswith("filter_"):
        attribute = function.removeprefix("filter_")
        return {e: min(inputs[0][e], 1 if entities[e][attribute] == values[0] else -1) for e in everyone}
    if function == "both":
        return {e: min(inputs[0][e], inputs[1][e]) for e in everyone}
    if function == "exist":
        return max(inputs[0].values())
    if function in ("and", "or", "if", "iff"):
        return join(function, *inputs)
    return FUNCTIONS[function](scene, *inputs, *values)


def join(connective: str, one: int, other: int) -> int:
    """Return the truth of a connective. Unclear truths are tried both ways."""
    tables: dict[str, Callable[[bool, bool], bool]] = {
        "and": lambda p, q: p and q,
        "or": lambda p, q: p or q,
        "if": lambda p, q: not p or q,
        "iff": lambda p, q: p == q,
    }
    ways = [[True] if truth == 1 else [False] if truth == -1 else [True, False] for truth in (one, other)]
    return common_truth(tables[connective](p, q) for p, q in itertools.product(*ways))


def common_truth(found: Iterator[bool | None]) -> int:
    """Return 1 if all outcomes are true, -1 if all are false, and 0 otherwise."""
    outcomes = set(found)
    return {frozenset({True}): 1, frozenset({False}): -1}.get(frozenset(outcomes), 0)


def decide_members(members: Members) -> Iterator[frozenset[int]]:
    """Yield every way to decide which entities belong."""
    ways = [[True] if truth == 1 else [False] if truth == -1 else [True, False] for truth in members.values()]
    for way in itertools.product(*ways):
        yield frozenset(e for e, belongs in zip(members, way, strict=True) if belongs)


def only(scene: Mapping[str, Any], members: Members) -> Members:
    """Return the only member of a set that has exactly one."""
    ways = [way if len(way) == 1 else frozenset() for way in decide_members(members)]
    return {e: common_truth(e in way for way in ways) for e in members}


def relates(scene: Mapping[str, Any], one: int, other: int, relation: str) -> int:
    """Return the truth that an entity has a relation to another one."""
    entity, reference = scene["entities"][one], scene["entities"][other]
    if relation in ("left", "right", "above", "below"):
        along, aside = ("x", "y") if relation in ("left", "right") else ("y", "x")
        ahead = round(reference[along] - entity[along], 6)
        ahead = ahead if relation in ("left", "above") else -ahead
        if ahead > max(AXIS, round(abs(reference[aside] - entity[aside]), 6)):
            return 1
        return -1 if ahead < -AXIS else 0
    if relation == "front":
        return relates(scene, other, one, "behind")
    if relation == "behind":
        return 1 if one in scene["covers"][other] else 0 if one in scene["grazes"][other] else -1
    if relation.startswith(("same", "different")):
        sort, attribute = relation.split()
        return 1 if (entity[attribute] == reference[attribute]) == (sort == "same") else -1
    return beats(scene, one, other, relation)


def beats(scene: Mapping[str, Any], one: int, other: int, relation: str) -> int:
    """Return the truth that an entity is further left or up, bigger or darker than another one, or the opposite."""
    if relation in OPPOSITE:
        return beats(scene, other, one, OPPOSITE[relation])
    entity, reference = scene["entities"][one], scene["entities"][other]
    if relation in ("left", "above"):
        along = "x" if relation == "left" else "y"
        return clear(reference[along] - entity[along], AXIS)
    if relation == "bigger":
        return clear(area(entity) - area(reference), AREA) if entity["shape"] == reference["shape"] else 0
    return clear(reference["shade"] - entity["shade"], SHADE) if entity["color"] == reference["color"] else 0


def area(entity: Mapping[str, Any]) -> float:
    """Return the area of an entity."""
    return round(FILLED[entity["shape"]] * entity["width"] * entity["height"], 6)


def distance(scene: Mapping[str, Any], one: int, other: int) -> float:
    """Return the distance of two centres."""
    first, second = scene["entities"][one], scene["entities"][other]
    return round(math.dist((first["x"], first["y"]), (second["x"], second["y"])), 6)


def relate(scene: Mapping[str, Any], references: Members, relation: str) -> Members:
    """Return the truth for each entity that it has a relation to another one of the references."""
    return {
        e: max((min(references[r], relates(scene, e, r, relation)) for r in references if r != e), default=-1)
        for e in references
    }


def relate_not(scene: Mapping[str, Any], references: Members, relation: str) -> Members:
    """Return the truth for each entity that there are other references, and that it has a relation to none of them."""
    related = relate(scene, references, relation)
    return {e: min(max((references[r] for r in references if r != e), default=-1), -related[e]) for e in references}


def triples(one: int, references: Members) -> Iterator[tuple[int, int]]:
    """Yield all ordered pairs of other entities."""
    return ((r, c) for r, c in itertools.permutations(references, 2) if one not in (r, c))


def near(scene: Mapping[str, Any], references: Members, comparisons: Members, relation: str) -> Members:
    """Return the truth for each entity that it is closer to (or farther from) some reference than some comparison."""
    sign = 1 if relation == "closer" else -1

    def nearer(e: int, r: int, c: int) -> int:
        return clear(sign * (distance(scene, c, r) - distance(scene, e, r)), DISTANCE)

    return {
        e: max((min(references[r], comparisons[c], nearer(e, r, c)) for r, c in triples(e, references)), default=-1)
        for e in references
    }


def near_not(scene: Mapping[str, Any], references: Members, comparisons: Members, relation: str) -> Members:
    """Return the truth that there are other references and comparisons, and the entity is closer in no pair of them."""
    closer = near(scene, references, comparisons, relation)
    return {
        e: min(max((min(references[r], comparisons[c]) for r, c in triples(e, references)), default=-1), -closer[e])
        for e in references
    }


def select(scene: Mapping[str, Any], scope: Members, selector: str) -> Members:
    """Return which entity of a scope beats all others. Some selectors need two entities, others three or more."""
    members = [e for e in scope if scope[e] == 1]
    of_two = selector in ("left", "right", "upper", "lower", "bigger", "smaller", "darker", "lighter")
    if 0 in scope.values() or (len(members) != 2 if of_two else len(members) < 3):
        return {e: min(scope[e], 0) for e in scope}
    relation = SELECTED[selector]
    return {
        e: min(scope[e], *(beats(scene, e, other, relation) for other in members if other != e), 1)
        if scope[e] == 1
        else -1
        for e in scope
    }


def select_near(scene: Mapping[str, Any], scope: Members, references: Members, selector: str) -> Members:
    """Return which entity of a scope is closest to the reference, or farthest from it."""
    if max(references.values()) == -1:
        return dict.fromkeys(scope, -1)
    if 0 in references.values() or 0 in scope.values():
        return {e: min(scope[e], 0) for e in scope}
    [reference] = [e for e in references if references[e] == 1]
    members = [e for e in scope if scope[e] == 1 and e != reference]
    if len(members) != 2 if selector in ("closer", "farther") else len(members) < 3:
        return {e: 0 if e in members else -1 for e in scope}
    sign = 1 if selector in ("closer", "closest") else -1
    gaps = {e: distance(scene, e, reference) for e in members}
    return {
        e: min(clear(sign * (gaps[o] - gaps[e]), DISTANCE) for o in members if o != e) if e in members else -1
        for e in scope
    }


def sizes(restrictor: Members, both: Members) -> Iterator[tuple[int, int]]:
    """Yield the sizes of a set and its part for every way to decide who belongs."""
    for one in decide_members(restrictor):
        for other in decide_members(both):
            if other <= one:
                yield len(one), len(other)


def quantify(scene: Mapping[str, Any], restrictor: Members, both: Members, quantifier: str) -> int:
    """Return the truth of a quantifier."""
    return common_truth(holds(quantifier, size, part) for size, part in sizes(restrictor, both))


def quantify_of(scene: Mapping[str, Any], restrictor: Members, both: Members, quantifier: str, number: str) -> int:
    """Return the truth of a quantifier about a set of a given size."""
    return common_truth(
        holds(quantifier, size, part) if size == int(number) else False for size, part in sizes(restrictor, both)
    )


def holds(quantifier: str, size: int, part: int) -> bool | None:
    """Return whether a quantifier holds for the size of its restrictor and of restrictor and body; None if unclear."""
    plain: dict[str, bool | None] = {
        "no": part == 0,
        "a": part > 0,
        "the": size == 1 and part == 1,
        "some": None if part == 1 else part > 0,
        "two": None if part > 2 else part == 2,
        "most": part > size / 2 if size else None,
        "all": part == size if size else None,
        "every": part == size if size else None,
        "not all": part < size if size else None,
    }
    if quantifier in plain:
        return plain[quantifier]
    *words, amount = quantifier.split()
    if "/" not in amount:
        return has_difference(" ".join(words), part - int(amount), 0)
    above, below = amount.split("/")
    return has_difference(" ".join(words), part / size - int(above) / int(below), RATIO) if size else None


def has_difference(words: str, difference: float, tolerance: float) -> bool:
    """Return whether a difference is that of the words."""
    same = abs(difference) <= tolerance
    return {
        "fewer than": difference < 0 and not same,
        "less than": difference < 0 and not same,
        "at most": difference < 0 or same,
        "exactly": same,
        "not exactly": not same,
        "at least": difference > 0 or same,
        "more than": difference > 0 and not same,
    }[words]


def compare(scene: Mapping[str, Any], one: Members, other: Members, comparison: str) -> int:
    """Return the truth of a comparison of the sizes of two sets."""
    return common_truth(
        outnumbers(comparison, len(first), len(second))
        for first in decide_members(one)
        for second in decide_members(other)
    )


def outnumbers(comparison: str, one: int, other: int) -> bool | None:
    """Return whether a comparison of two numbers holds; None if it is unclear."""
    if comparison in ("as many", "more", "fewer"):
        return {"as many": one == other, "more": one > other, "fewer": one < other}[comparison]
    if comparison.endswith("as many"):
        if one == other == 0:
            return None
        times = 2 if "twice" in comparison else 0.5
        return {"more": one > times * other, "less": one < times * other}.get(
            comparison.split()[0], one == times * other
        )
    number, direction = comparison.split()
    return one - other == (int(number) if direction == "more" else -int(number))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "only": only,
    "relate": relate,
    "relate_not": relate_not,
    "near": near,
    "near_not": near_not,
    "select": select,
    "select_near": select_near,
    "quantify": quantify,
    "quantify_of": quantify_of,
    "compare": compare,
}
