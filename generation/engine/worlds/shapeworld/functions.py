"""ShapeWorld's program functions, and the steps that ablations leave out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from generation.engine.program import Function, FunctionTable, Program, Shown, reachable, without
from generation.engine.programs.ablation import Ablation
from generation.engine.worlds.shapeworld import three_valued_logic
from generation.engine.worlds.shapeworld.caption_parameters import Thresholds
from generation.engine.worlds.shapeworld.microworld import Microworld, members
from generation.engine.worlds.shapeworld.phrases import (
    COMPARISONS,
    CONNECTIVES,
    MOST_BOUND,
    NEAR,
    PROXIMITIES,
    QUANTIFIERS,
    RELATIONS,
    SELECTORS,
)
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.three_valued_logic import FALSE, Set, Truth

VALUES: Mapping[str, tuple[str, ...]] = {
    "Relation": tuple(RELATIONS),
    "Proximity": tuple(PROXIMITIES),
    "Selector": SELECTORS,
    "Nearness": tuple(NEAR),
    "Quantifier": tuple(QUANTIFIERS),
    "Comparison": tuple(COMPARISONS),
    "Number": tuple(str(number) for number in range(MOST_BOUND + 3)),
}
SAID = {three_valued_logic.TRUE: "yes", three_valued_logic.UNCLEAR: "unclear", three_valued_logic.FALSE: "no"}


def function_table(
    *, shapes: tuple[str, ...], colors: tuple[str, ...], thresholds: Thresholds, kind_of: Callable[[Program], str]
) -> FunctionTable:
    """Return the functions for a vocabulary and thresholds."""
    return FunctionTable(
        functions=FUNCTIONS,
        values={**VALUES, "Shape": shapes, "Color": colors},
        prepare=lambda scene, scope: prepare(scene, thresholds),
        show=_show,
        answer_kinds={"Truth": "yes-no"},
        kind_of=kind_of,
    )


def prepare(scene: FlatScene, thresholds: Thresholds) -> Microworld:
    """Return the world in which programs about a scene run."""
    return Microworld(scene, thresholds)


def truth_of(program: Program, world: Microworld) -> Truth:
    """Return the truth of a caption's program in a microworld."""
    results: list[Any] = []
    for function, inputs, values in program:
        results.append(RUNS[function](world, *[results[source] for source in inputs], *values))
    found: Truth = results[-1]
    return found


def _show(kind: str, value: Any) -> Shown:
    if kind == "Set":
        certain = tuple(members(value[0]))
        return Shown(list(certain), certain)
    return Shown(SAID[value], ())


def _scene(world: Microworld) -> Set:
    return (world.everything, world.everything)


def _filter(attribute: str) -> Callable[[Microworld, Set, str], Set]:
    def choose(world: Microworld, found: Set, value: str) -> Set:
        mask = world.of(attribute, value)
        return (found[0] & mask, found[1] & mask)

    return choose


def _quantify(world: Microworld, restrictor: Set, both: Set, name: str) -> Truth:
    quantifier, tolerance = QUANTIFIERS[name], world.thresholds.ratio

    def holds(size: int, part: int) -> Truth:
        return three_valued_logic.holds(name, quantifier, size, part, tolerance=tolerance)

    if restrictor[0] == restrictor[1] and both[0] == both[1]:
        return holds(restrictor[0].bit_count(), both[0].bit_count())
    return three_valued_logic.agreed(holds, three_valued_logic.numbers_of(restrictor, both))


def _quantify_of(world: Microworld, restrictor: Set, both: Set, name: str, bound: str) -> Truth:
    quantifier, wanted, tolerance = QUANTIFIERS[name], int(bound), world.thresholds.ratio

    def holds(size: int, part: int) -> Truth:
        return FALSE if size != wanted else three_valued_logic.holds(name, quantifier, size, part, tolerance=tolerance)

    return three_valued_logic.agreed(holds, three_valued_logic.numbers_of(restrictor, both))


def _compare(world: Microworld, one: Set, other: Set, name: str) -> Truth:
    comparison = COMPARISONS[name]
    pairs = [
        (first, second)
        for first in range(one[0].bit_count(), one[1].bit_count() + 1)
        for second in range(other[0].bit_count(), other[1].bit_count() + 1)
    ]
    return three_valued_logic.agreed(
        lambda first, second: three_valued_logic.compares(comparison, first, second), pairs
    )


def _sets() -> Iterable[Function]:
    one, pair = ("Set",), ("Set", "Set")
    return [
        Function("scene", (), "Set", (), _scene, "all shapes"),
        Function("filter_shape", one, "Set", ("Shape",), _filter("shape"), "of shape"),
        Function("filter_color", one, "Set", ("Color",), _filter("color"), "of color"),
        Function("only", one, "Set", (), lambda world, found: three_valued_logic.only(found), "the only one"),
        Function("both", pair, "Set", (), lambda world, found, other: three_valued_logic.both(found, other), "in both"),
        Function("relate", one, "Set", ("Relation",), Microworld.related, "related"),
        Function("relate_not", one, "Set", ("Relation",), Microworld.unrelated, "not related"),
        Function("near", pair, "Set", ("Proximity",), Microworld.near, "nearer or farther than the second"),
        Function("near_not", pair, "Set", ("Proximity",), Microworld.not_near, "not nearer or farther than the second"),
        Function("select", one, "Set", ("Selector",), Microworld.select, "the utmost"),
        Function("select_near", pair, "Set", ("Nearness",), Microworld.select_near, "nearest or farthest"),
    ]


def _truths() -> Iterable[Function]:
    pair, two = ("Set", "Set"), ("Truth", "Truth")
    return [
        Function("exist", ("Set",), "Truth", (), lambda world, found: three_valued_logic.exist(found), "any"),
        Function("quantify", pair, "Truth", ("Quantifier",), _quantify, "how many of the first are the second"),
        Function("quantify_of", pair, "Truth", ("Quantifier", "Number"), _quantify_of, "how many of so many"),
        Function("compare", pair, "Truth", ("Comparison",), _compare, "how many against how many"),
        Function("and", two, "Truth", (), lambda world, one, other: min(one, other), "and"),
        Function("or", two, "Truth", (), lambda world, one, other: max(one, other), "or"),
        Function("if", two, "Truth", (), lambda world, one, other: max(-one, other), "if the first, then the second"),
        Function("iff", two, "Truth", (), lambda world, one, other: one * other, "if and only if"),
    ]


FUNCTIONS: Mapping[str, Function] = {function.name: function for function in (*_sets(), *_truths())}
RUNS: Mapping[str, Callable[..., Any]] = {name: function.run for name, function in FUNCTIONS.items()}
assert set(CONNECTIVES) <= set(FUNCTIONS)


ATTRIBUTES = (("shape", "shape"), ("color", "color"))
PLACES = (("first", 0), ("last", -1))


def _ablations() -> Iterator[Ablation]:
    for attribute, label in ATTRIBUTES:
        for place, number in PLACES:
            change = _pass_input(f"filter_{attribute}", number, instead=0)
            yield Ablation(f"{attribute}-{place}", f"{place} {label} that is named", change)
    for name, label in (("relate", "relation"), ("relate_not", "negated relation")):
        yield Ablation(
            f"{name.replace('_', '-')}", f"{label}: what it is to counts instead", _pass_input(name, 0, instead=0)
        )
    yield Ablation("near", "nearness: what is nearest counts instead", _pass_input("near", 0, instead=0))
    for name, label in (("select", "selector"), ("select_near", "selector by nearness")):
        yield Ablation(
            f"{name.replace('_', '-')}", f"{label}: all it selects from count", _pass_input(name, 0, instead=0)
        )
    for name, label in (("and", "and"), ("or", "or"), ("if", "if"), ("iff", "if and only if")):
        yield Ablation(f"{name}-first", f"first statement before {label}", _pass_input(name, 0, instead=1))
        yield Ablation(f"{name}-second", f"second statement after {label}", _pass_input(name, 0, instead=0))


def _pass_input(function: str, which: int, *, instead: int) -> Callable[[Program], Program | None]:
    """Return a function that replaces the first or last (`which`) step of a function by one of its inputs."""

    def change(program: Program) -> Program | None:
        found = [number for number, step in enumerate(program) if step.function == function]
        if not found or (which == -1 and len(found) == 1):
            return None
        number = found[which]
        source = program[number].inputs[instead]
        if number == len(program) - 1:
            return reachable(program[: source + 1])
        return without(program, number, instead=source)

    return change


ABLATIONS: tuple[Ablation, ...] = tuple(_ablations())
