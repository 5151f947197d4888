"""Worlds of other packages, which name them under the entry point `horsesense.worlds`.

For example in the `pyproject.toml` of a package::

    [project.entry-points."horsesense.worlds"]
    marbles = "marbles.world:WORLD"
"""

import functools
from importlib.metadata import EntryPoint, entry_points

from generation.engine.errors import BrokenWorld
from generation.engine.worlds.base import World

GROUP = "horsesense.worlds"


@functools.cache
def entry_points_by_name() -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points by name; they are looked up once in a process."""
    points = entry_points(group=GROUP)
    return {name: tuple(points.select(name=name)) for name in sorted(points.names)}


def load(name: str) -> World:
    """Return the world that an entry point names.

    Parameters
    ----------
    name : str
        One of `found()`.

    Raises
    ------
    BrokenWorld
        If the world cannot be loaded, is not a `World`, or has another name. The message names the package.
    """
    points = entry_points_by_name()[name]
    if len(points) > 1:
        raise BrokenWorld(f"Expected one world of that name, got {len(points)}: {_describe(points)}.", where=name)
    [point] = points
    try:
        world = point.load()
    except Exception as error:  # code of another package can raise anything
        came = f"{type(error).__name__}: {error}"
        raise BrokenWorld(f"Expected {_describe(points)} to load, got {came}.", where=name) from error
    if not isinstance(world, World):
        wanted, came = f"{World.__module__}.World", type(world).__name__
        raise BrokenWorld(f"Expected an instance of {wanted} at {_describe(points)}, got {came}.", where=name)
    if world.name != name:
        raise BrokenWorld(
            f"Expected the world at {_describe(points)} to go by its name, got {world.name!r}.", where=name
        )
    return world


def _describe(points: tuple[EntryPoint, ...]) -> str:
    return " and ".join(f"{point.value} ({point.dist.name if point.dist else 'no package'})" for point in points)
