"""Worlds of other packages: those that name one under the entry point `horsesense.worlds`.

A package says so in its `pyproject.toml`::

    [project.entry-points."horsesense.worlds"]
    marbles = "marbles.world:WORLD"
"""

import functools
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from generation.engine.errors import BrokenWorld

GROUP = "horsesense.worlds"


@functools.cache
def found() -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points of each name; looked for once a process."""
    points = entry_points(group=GROUP)
    return {name: tuple(points.select(name=name)) for name in sorted(points.names)}


def load(name: str, *, members: frozenset[str]) -> Any:
    """Return the world that an entry point names.

    Parameters
    ----------
    name : str
        One of `found()`.
    members : frozenset of str
        What a world has to have.

    Raises
    ------
    BrokenWorld
        Naming the package, if the world doesn't load, isn't one, or goes by another name.
    """
    points = found()[name]
    if len(points) > 1:
        raise BrokenWorld(f"Expected one world of that name, got {len(points)}: {_said(points)}.", where=name)
    [point] = points
    try:
        world = point.load()
    except Exception as error:  # whatever somebody else's module raises
        came = f"{type(error).__name__}: {error}"
        raise BrokenWorld(f"Expected {_said(points)} to load, got {came}.", where=name) from error
    missing = sorted(member for member in members if not hasattr(world, member))
    if missing:
        raise BrokenWorld(f"Expected a world at {_said(points)}, got one without {', '.join(missing)}.", where=name)
    if world.name != name:
        raise BrokenWorld(f"Expected the world at {_said(points)} to go by its name, got {world.name!r}.", where=name)
    return world


def _said(points: tuple[EntryPoint, ...]) -> str:
    return " and ".join(f"{point.value} ({point.dist.name if point.dist else 'no package'})" for point in points)
