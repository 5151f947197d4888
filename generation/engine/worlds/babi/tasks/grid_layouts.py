"""Lines for layouts on a grid, and counts of the possible stories."""

from collections.abc import Callable, Sequence
from math import factorial, perm

from generation.engine.seeding import Stream
from generation.engine.worlds.babi import grid
from generation.engine.worlds.babi.grid import Cell, Edge, GridLayout
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.task_interface import Space

Askable = Callable[[tuple[Cell, ...], tuple[Cell, ...]], bool]
"""Whether a question may be about a walk, given the other cells."""


def some(options: Sequence[str], count: int, chance: Stream) -> list[str]:
    """Return `count` different options in random order."""
    left = list(options)
    return [left.pop(chance.below(len(left))) for _ in range(count)]


def lines_of(
    layout: GridLayout,
    names: Sequence[str],
    chance: Stream,
    *,
    say: Callable[[str, int, str], Line],
    last: Edge | None = None,
) -> tuple[Line, ...]:
    """Return a line for each edge of a layout, seen from a random end.

    Their order is random, except that the line of the edge `last` comes last.
    """
    edges = list(layout.edges)
    chance.shuffle(edges)
    if last is not None:
        edges.append(edges.pop(edges.index(last)))
    return tuple(
        [
            say(names[one], direction, names[other])
            if chance.random() < 0.5
            else say(names[other], grid.OPPOSITE[direction], names[one])
            for one, other, direction in edges
        ]
    )


def space_of(names: int, cells: int, steps: int, *, askable: Askable, questions: int) -> Space | None:
    """Return the number of stories with this many cells, and the number with a question; None for too many cells.

    Each layout has every order of its lines, each line from either end, and every choice of names. Each walk in
    `askable` has `questions` questions.
    """
    if cells > grid.COUNTED:
        return None
    trees = walks = 0
    for tree in grid.trees(cells):
        found = sum(_is_askable(tree, walk, askable) for walk in grid.walks_within(tree, steps))
        trees, walks = trees + (found > 0), walks + found
    texts = perm(names, cells) * factorial(cells - 1) * 2 ** (cells - 1)
    return Space(trees * texts, walks * questions * texts)


def _is_askable(tree: GridLayout, walk: tuple[int, ...], askable: Askable) -> bool:
    others = tuple(cell for number, cell in enumerate(tree.cells) if number not in walk)
    return askable(tuple(tree.cells[number] for number in walk), others)
