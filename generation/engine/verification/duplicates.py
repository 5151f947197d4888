"""Counting repeats within splits and between splits during verification."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from generation.engine.verification.verdict import Verdict
from generation.engine.worlds import World
from generation.engine.worlds.base import Repeatable

Hashes = NDArray[np.uint64]


class RepeatCounter:
    """Collects hashes of the keys that may repeat, 8 bytes for each key; none if the world names no such keys."""

    def __init__(self, world: World) -> None:
        self.repeats: tuple[Repeatable, ...] = world.repeats
        self.hashes: dict[tuple[str, str], array[int]] = {}
        self.items: Counter[str] = Counter()

    def add(self, split: str, hashes: Mapping[str, Iterable[int]], *, items: int) -> None:
        """Add the hashes of a batch, by facet, and its number of items."""
        self.items[split] += items
        for one in self.repeats:
            self.hashes.setdefault((split, one.facet), array("Q")).extend(hashes.get(one.facet, ()))

    def note(self, references: Mapping[str, str | None], verdict: Verdict) -> None:
        """Note the repeats within each split, and what it shares with its reference."""
        different = {split: self._different(split) for split in self.items}
        for split, reference in references.items():
            mine, theirs = different.get(split), different.get(reference or "")
            if mine:
                verdict.note(split, "; ".join(self._counted(split, mine)))
            if mine and theirs:
                shared = ", ".join(_shared(one, mine[one], theirs[one]) for one in mine if one in theirs)
                verdict.note(split, f"shared with {reference}: {shared}")

    def _different(self, split: str) -> dict[Repeatable, Hashes]:
        """Return the different hashes of a split, ascending. Kinds without hashes are left out."""
        found = {one: self.hashes[split, one.facet] for one in self.repeats}
        return {one: np.unique(np.array(some, np.uint64)) for one, some in found.items() if some}

    def _counted(self, split: str, different: Mapping[Repeatable, Hashes]) -> Iterator[str]:
        for one, some in different.items():
            count = self.items[split] if one.is_of_item else len(self.hashes[split, one.facet])
            yield f"{count:,} {one.label}, {'all' if len(some) == count else f'{len(some):,}'} different"


def _shared(one: Repeatable, mine: Hashes, theirs: Hashes) -> str:
    count = len(np.intersect1d(mine, theirs, assume_unique=True))
    return f"{count:,} {one.label}" if count else f"no {one.label}"
