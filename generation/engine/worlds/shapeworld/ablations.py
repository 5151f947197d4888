"""The steps that may be left out of captions' programs: attributes, relations, selectors, branches.

Of several steps of a kind the first in the caption is named; its other ones stay.
"""

from collections.abc import Callable, Iterator

from generation.engine.program import Program, reachable, without
from generation.engine.programs.ablation import Ablation

ATTRIBUTES = (("shape", "shape"), ("color", "color"))
PLACES = (("first", 0), ("last", -1))


def _ablations() -> Iterator[Ablation]:
    for attribute, label in ATTRIBUTES:
        for place, number in PLACES:
            change = _handed_on(f"filter_{attribute}", number, instead=0)
            yield Ablation(f"{attribute}-{place}", f"{place} {label} that is named", change)
    for name, label in (("relate", "relation"), ("relate_not", "negated relation")):
        yield Ablation(
            f"{name.replace('_', '-')}", f"{label}: what it is to counts instead", _handed_on(name, 0, instead=0)
        )
    yield Ablation("near", "nearness: what is nearest counts instead", _handed_on("near", 0, instead=0))
    for name, label in (("select", "selector"), ("select_near", "selector by nearness")):
        yield Ablation(
            f"{name.replace('_', '-')}", f"{label}: all it selects from count", _handed_on(name, 0, instead=0)
        )
    for name, label in (("and", "and"), ("or", "or"), ("if", "if"), ("iff", "if and only if")):
        yield Ablation(f"{name}-first", f"first statement before {label}", _handed_on(name, 0, instead=1))
        yield Ablation(f"{name}-second", f"second statement after {label}", _handed_on(name, 0, instead=0))


def _handed_on(function: str, which: int, *, instead: int) -> Callable[[Program], Program | None]:
    """Return what puts one of a step's inputs in its place, of the first or last (`which`) step of a function."""

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
