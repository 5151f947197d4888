"""Compiling ahead: the numba kernels are compiled once, before processes fork."""

from generation.engine.spec import merged
from generation.engine.worlds import REGISTRY, get_world


def warm() -> None:
    """Make and draw the first scene of each world's first preset, so that every kernel is compiled and cached."""
    for name in sorted(REGISTRY):
        world = get_world(name)
        if world.maker is None:
            continue
        data = world.maker.preset(world.maker.presets()[0])
        split = next(iter(data["splits"]))
        spec = world.read_spec(merged(data, {"splits": {other: None for other in data["splits"] if other != split}}))
        chunk = world.maker.plan(spec, split)[0]
        item = next(iter(world.maker.make(spec, split, chunk)))
        world.maker.render(spec, split, item)
