"""Layouts on a grid: cells that are each beside an earlier cell, and walks over them.

Directions are numbers: 0 north (or above), 1 south (below), 2 east (right), 3 west (left).
"""

from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

from generation.engine.seeding import Stream

Cell = tuple[int, int]
"""Steps to the east and to the north."""

Edge = tuple[int, int, int]
"""A cell's number, the number of the cell beside which it was placed, and its direction from there."""

COMPASS: Mapping[str, Cell] = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
MOVES = tuple(COMPASS.values())
OPPOSITE = (1, 0, 3, 2)
COUNTED = 8  # cells; there are too many trees of more cells to list


class GridLayout(NamedTuple):
    """Cells; each but the first is beside an earlier one.

    Attributes
    ----------
    cells : tuple of Cell
    edges : tuple of Edge
        One for each cell but the first.
    """

    cells: tuple[Cell, ...]
    edges: tuple[Edge, ...]


START = GridLayout(((0, 0),), ())


def beside(cell: Cell, direction: int) -> Cell:
    """Return the next cell in a direction."""
    return cell[0] + MOVES[direction][0], cell[1] + MOVES[direction][1]


def distance(one: Cell, other: Cell) -> int:
    """Return the number of steps between two cells if all cells between them are free."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def laid(layout: GridLayout, number: int, direction: int) -> GridLayout:
    """Return a layout with one more cell, beside the cell `number`."""
    cell = beside(layout.cells[number], direction)
    return GridLayout((*layout.cells, cell), (*layout.edges, (len(layout.cells), number, direction)))


@cache
def walks(steps: int) -> tuple[GridLayout, ...]:
    """Return every walk with this number of steps that visits no cell twice."""
    if steps == 0:
        return (START,)
    return tuple(
        laid(walk, steps - 1, direction)
        for walk in walks(steps - 1)
        for direction in range(4)
        if beside(walk.cells[-1], direction) not in walk.cells
    )


def within(walk: tuple[Cell, ...], cell: Cell) -> bool:
    """Return whether a cell may lie on another shortest walk from the walk's start to its end."""
    return distance(walk[0], cell) + distance(cell, walk[-1]) < len(walk)


def is_only_way(walk: tuple[Cell, ...], others: tuple[Cell, ...] = ()) -> bool:
    """Return whether a walk stays the only shortest one if people may also walk between all neighbouring cells."""
    chord = any(distance(one, other) == 1 for at, one in enumerate(walk) for other in walk[at + 2 :])
    return not chord and not any(within(walk, cell) for cell in others)


def is_askew(walk: tuple[Cell, ...]) -> bool:
    """Return whether start and end share neither row nor column."""
    return walk[0][0] != walk[-1][0] and walk[0][1] != walk[-1][1]


@cache
def only_ways(steps: int) -> tuple[GridLayout, ...]:
    """Return the walks that are the only shortest ones if there are no other cells."""
    return tuple(walk for walk in walks(steps) if is_only_way(walk.cells))


@cache
def askew(steps: int) -> tuple[GridLayout, ...]:
    """Return the walks whose start and end share neither row nor column."""
    return tuple(walk for walk in walks(steps) if is_askew(walk.cells))


def grown(walk: GridLayout, count: int, chance: Stream, *, clear: bool) -> GridLayout:
    """Return a layout of `count` cells that begins with a walk; with `clear`, no other cell is `within` the walk."""
    cells, edges = list(walk.cells), list(walk.edges)
    while len(cells) < count:
        number, direction = divmod(chance.below(4 * len(cells)), 4)
        cell = beside(cells[number], direction)
        if cell not in cells and not (clear and within(walk.cells, cell)):
            edges.append((len(cells), number, direction))
            cells.append(cell)
    return GridLayout(tuple(cells), tuple(edges))


@cache
def trees(count: int) -> tuple[GridLayout, ...]:
    """Return every tree of `count` neighbouring cells; trees that differ only by a shift count once."""
    if count > COUNTED:
        raise ValueError(f"Expected at most {COUNTED} cells, got {count}.")
    if count == 1:
        return (START,)
    found: dict[frozenset[tuple[Cell, Cell]], GridLayout] = {}
    for tree in trees(count - 1):
        for number, direction in product(range(count - 1), range(4)):
            if beside(tree.cells[number], direction) not in tree.cells:
                larger = laid(tree, number, direction)
                found.setdefault(_joints(larger), larger)
    return tuple(found.values())


def _joints(tree: GridLayout) -> frozenset[tuple[Cell, Cell]]:
    west, south = min(cell[0] for cell in tree.cells), min(cell[1] for cell in tree.cells)
    cells = [(east - west, north - south) for east, north in tree.cells]
    return frozenset((min(cells[a], cells[b]), max(cells[a], cells[b])) for a, b, _ in tree.edges)


def walks_within(tree: GridLayout, steps: int) -> list[tuple[int, ...]]:
    """Return the walks with this number of steps along a tree's edges, as cell numbers, in both directions."""
    near: dict[int, list[int]] = {number: [] for number in range(len(tree.cells))}
    for one, other, _ in tree.edges:
        near[one].append(other)
        near[other].append(one)
    found: list[tuple[int, ...]] = [(number,) for number in near]
    for _ in range(steps):
        found = [(*walk, after) for walk in found for after in near[walk[-1]] if after not in walk]
    return found
