"""Compiling ahead: the numba kernels are compiled once, before processes fork."""

from generation.engine.spec import merged
from generation.engine.worlds import REGISTRY, Media, get_maker, get_world


def warm() -> None:
    """Make the first scene of each preset, and draw a world's first, so that every kernel is compiled and cached.

    Of our own worlds: a site begins with this, and another package's must not keep it from that.
    """
    for name in sorted(REGISTRY):
        maker = get_world(name).maker
        for number, preset in enumerate(maker.presets() if maker is not None else ()):
            _warm(name, preset, draws=number == 0)


def _warm(name: str, preset: str, *, draws: bool) -> None:
    world, maker = get_world(name), get_maker(name)
    data = maker.preset(preset)
    split = next(iter(data["splits"]))
    spec = world.read_spec(merged(data, {"splits": {other: None for other in data["splits"] if other != split}}))
    item = next(iter(maker.make(spec, split, maker.plan(spec, split)[0])))
    if draws and world.media == Media.IMAGE:
        maker.render(spec, split, item)
