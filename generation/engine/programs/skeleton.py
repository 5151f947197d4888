"""Skeletons: programs without their values, and what programs say of one object at a time.

A program's **skeleton** is its steps in the order in which a stack would run them, every run of filters written as one,
every value left out; a step that is used twice is written twice. **Descriptions** are those runs with their values.
"""

from functools import lru_cache
from itertools import combinations

from generation.engine.program import Program

FILTER = "filter"


def skeleton(program: Program) -> str:
    """Return a program's skeleton, as `scene-filter-unique-relate-count`."""
    return _skeleton(tuple([(step.function, step.inputs) for step in program]))


@lru_cache(maxsize=4096)
def _skeleton(steps: tuple[tuple[str, tuple[int, ...]], ...]) -> str:
    names: list[str] = []

    def write(number: int) -> None:
        function, inputs = steps[number]
        for source in inputs:
            write(source)
        if not _filters(function):
            names.append(function)
        elif not _filters(steps[inputs[0]][0]):
            names.append(FILTER)

    write(len(steps) - 1)
    return "-".join(names)


def said(skeleton: str) -> str:
    """Return a skeleton for people: steps lead to each other, branches stand apart."""
    return skeleton.replace("-", " → ").replace(" → scene", "; scene").replace("_", " ")


def descriptions(program: Program) -> list[tuple[tuple[str, str], ...]]:
    """Return what each run of filters asks of an object: attributes with their values, in the run's order."""
    found: dict[int, tuple[tuple[str, str], ...]] = {}
    ends = set()
    for number, step in enumerate(program):
        if _filters(step.function):
            source = step.inputs[0]
            found[number] = (*found.get(source, ()), (step.function.partition("_")[2], step.values[0]))
            ends.discard(source)
            ends.add(number)
    return [found[number] for number in sorted(ends)]


def pairs(program: Program) -> list[str]:
    """Return every two values that the program asks of one object, each once, as `color=red&shape=cube`."""
    return list(dict.fromkeys(pair for one in descriptions(program) for pair in _pairs(one)))


@lru_cache(maxsize=4096)
def _pairs(description: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    said = sorted(f"{attribute}={value}" for attribute, value in description)
    return tuple("&".join(two) for two in combinations(said, 2))


def _filters(function: str) -> bool:
    return function.startswith("filter_")
