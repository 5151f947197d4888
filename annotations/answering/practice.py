"""Which questions of a split are easy: they are short as asked, demand little, and are about something in plain sight.

What is short and what is in plain sight is for the world to say (`World.lengths`, `World.is_clear`).
"""

import functools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from django.core.cache import cache
from numpy.typing import NDArray

from generation.models import Scene, Split
from generation.storage.index import IndexedFacet, NotIndexed, SplitIndex
from generation.storage.store import item_of

LOOKED_AT = 200  # scenes, evenly over the split: enough for any session, and found in about a second
KEPT = 7 * 24 * 3600  # seconds
SOME = 50  # scenes read at a time

Positions = NDArray[np.int64]


class Easy(NamedTuple):
    """Questions of a split, by position: short ones in plain sight, short ones wherever they are, all by length."""

    clear: Positions
    short: Positions
    by_length: Positions


def positions(split: Split, *, least: int) -> Positions:
    """Return the easy questions of a split, so many or more: short ones alone, or the shortest, where these are few."""
    clear, short, by_length = _found(split.pk, split.index_digest)
    return next((some for some in (clear, short) if len(some) >= least), by_length[:least])


@functools.lru_cache(maxsize=100)
def _found(key: int, digest: str) -> Easy:
    """Return the easy questions of a sealed split; found once a process, and kept for others."""
    split = Split.objects.for_browse().get(pk=key)
    try:
        index = SplitIndex.open(split)
    except NotIndexed:
        nothing = np.arange(0)
        return Easy(nothing, nothing, np.arange(split.questions))
    limits = split.dataset.get_world().lengths
    lengths = _lengths(index, limits)
    short = np.flatnonzero(lengths <= 1).astype(np.int64)
    by_length = np.argsort(lengths, kind="stable").astype(np.int64)
    name = f"easy-scenes-{digest}-{'-'.join(map(str, limits.values()))}"
    clear: list[int] | None = cache.get(name)
    if clear is None:
        clear = _clear(split, np.unique(index.scenes[short]))
        cache.set(name, clear, KEPT)
    return Easy(short[np.isin(index.scenes[short], clear)], short, by_length)


def _lengths(index: SplitIndex, limits: Mapping[str, int]) -> NDArray[np.float64]:
    """Return (questions,) how long each question is: the largest of its numbers, as parts of what is easy.

    Numbers that no question has are passed over; a question that alone has none is as long as can be.
    """
    longest = np.zeros(index.n)
    for name, most in limits.items():
        facet = index.facets.get(name)
        if facet is not None and (facet.codes != facet.none).any():
            longest = np.maximum(longest, _numbers(facet)[facet.codes] / most)
    return longest


def _numbers(facet: IndexedFacet) -> NDArray[np.float64]:
    """Return the number that each code of a facet stands for, infinity for none."""
    table = np.full(facet.none + 1, np.inf)
    table[: len(facet.values)] = [int(value) for value in facet.values]
    return table


def _clear(split: Split, scenes: NDArray[np.uint32]) -> list[int]:
    """Return which of some scenes are in plain sight, of at most `LOOKED_AT` of them; all of a world that can't say."""
    looked = scenes[np.linspace(0, len(scenes) - 1, min(LOOKED_AT, len(scenes)), dtype=np.int64)].tolist()
    world, spec = split.dataset.get_world(), split.read_spec()
    rows = Scene.objects.filter(split=split.source, position__in=looked).order_by("position")
    read = rows.iterator(chunk_size=SOME)
    return [row.position for row in read if world.is_clear(spec, item_of(row, world=world)) is not False]
