"""Which questions of a split are easy: they ask little, about something in plain sight.

What a question demands and what is in plain sight is for its world to say (`World.lengths`, `World.is_clear`).
"""

import functools
from typing import NamedTuple

import numpy as np
from django.core.cache import cache
from numpy.typing import NDArray

from generation.index import NotIndexed, Range, SplitIndex
from generation.models import Scene, Split
from generation.store import item_of

LONGEST = 6  # steps, of the shortest equivalent program where that is known
LOOKED_AT = 200  # scenes, evenly over the split: enough for any session, and found in about a second
KEPT = 7 * 24 * 3600  # seconds
SOME = 50  # scenes read at a time

Positions = NDArray[np.int64]


class Easy(NamedTuple):
    """Questions of a split, by position: short ones in plain sight, and short ones wherever they are."""

    clear: Positions
    short: Positions


def positions(split: Split, *, least: int) -> Positions:
    """Return the easy questions of a split; short ones alone where these are too few, and all where those are."""
    found = _found(split.pk, split.index_digest)
    return next((some for some in found if len(some) >= least), np.arange(split.questions))


@functools.lru_cache(maxsize=100)
def _found(key: int, digest: str) -> Easy:
    """Return the easy questions of a sealed split; found once a process, and kept for others."""
    nothing = np.arange(0)
    split = Split.objects.for_browse().get(pk=key)
    try:
        index = SplitIndex.open(split)
    except NotIndexed:
        return Easy(nothing, nothing)
    length = next((name for name in split.dataset.get_world().lengths if name in index.facets), None)
    short = nothing if length is None else index.select({length: Range(None, LONGEST)})
    name = f"easy-scenes-{digest}"
    clear: list[int] | None = cache.get(name)
    if clear is None:
        clear = _clear(split, np.unique(index.scenes[short]))
        cache.set(name, clear, KEPT)
    return Easy(short[np.isin(index.scenes[short], clear)], short)


def _clear(split: Split, scenes: NDArray[np.uint32]) -> list[int]:
    """Return which of some scenes are in plain sight, of at most `LOOKED_AT` of them; all of a world that can't say."""
    looked = scenes[np.linspace(0, len(scenes) - 1, min(LOOKED_AT, len(scenes)), dtype=np.int64)].tolist()
    world, spec = split.dataset.get_world(), split.read_spec()
    rows = Scene.objects.filter(split=split.source, position__in=looked).order_by("position")
    read = rows.iterator(chunk_size=SOME)
    return [row.position for row in read if world.is_clear(spec, item_of(row, world=world)) is not False]
