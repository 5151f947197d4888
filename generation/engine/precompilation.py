"""Compiling in advance: the numba kernels are compiled once, before processes fork."""

from collections.abc import Iterable

from generation.engine.items import Media
from generation.engine.spec import merge
from generation.engine.worlds import REGISTRY, get_maker, get_world


def warm(worlds: Iterable[str] = tuple(REGISTRY), *, draws: bool = True) -> None:
    """Make an item of each preset and draw one of each world, so that all kernels are compiled and cached.

    Parameters
    ----------
    worlds : iterable of str
        Names of worlds. Worlds of other packages are skipped: this runs when a site starts, and their errors must not
        stop it.
    draws : bool
        Whether pictures will be drawn.
    """
    for name in sorted(REGISTRY.keys() & set(worlds)):
        maker = get_world(name).maker
        for number, preset in enumerate(maker.presets() if maker is not None else ()):
            _warm(name, preset, draws=draws and number == 0)


def _warm(name: str, preset: str, *, draws: bool) -> None:
    world, maker = get_world(name), get_maker(name)
    data = maker.preset(preset)
    split = next(iter(data["splits"]))
    spec = world.read_spec(merge(data, {"splits": {other: None for other in data["splits"] if other != split}}))
    item = next(iter(maker.make(spec, split, maker.plan(spec, split)[0])))
    world.facet_codes(spec.for_split(split), item)
    if draws and world.media == Media.IMAGE:
        maker.render(spec, split, item)
