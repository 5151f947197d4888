"""Skeletons: programs without their values; and descriptions: the filters that apply to one object.

A program's **skeleton** is its steps in stack order, with each run of filters written as one filter and all values left
out. A step that is used twice is written twice. A **description** is a run of filters with its values.
"""

from functools import lru_cache
from itertools import combinations

from generation.engine.program import Program

FILTER = "filter"


def skeleton(program: Program) -> str:
    """Return a program's skeleton, such as `scene-filter-unique-relate-count`."""
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


def describe_skeleton(skeleton: str) -> str:
    """Return a skeleton as a text for users, with arrows between steps and semicolons between branches."""
    return skeleton.replace("-", " → ").replace(" → scene", "; scene").replace("_", " ")


def descriptions(program: Program) -> list[tuple[tuple[str, str], ...]]:
    """Return the attributes and values of each run of filters, in the order of the run."""
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
    """Return all pairs of values in a description of the program, each once, such as `color=red&shape=cube`."""
    return list(dict.fromkeys(pair for one in descriptions(program) for pair in _pairs(one)))


@lru_cache(maxsize=4096)
def _pairs(description: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    said = sorted(f"{attribute}={value}" for attribute, value in description)
    return tuple("&".join(two) for two in combinations(said, 2))


def _filters(function: str) -> bool:
    return function.startswith("filter_")
