"""Counting what occurs more than once in a split, and what splits share, while they are verified."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from generation.engine.verification.verdict import Verdict
from generation.engine.worlds import World
from generation.engine.worlds.repeats import HasRepeats, Repeatable

Hashes = NDArray[np.uint64]


class Repeats:
    """Keeps hashes of what may repeat: 8 bytes for each question and thing; nothing where a world names none."""

    def __init__(self, world: World) -> None:
        self.repeats: tuple[Repeatable, ...] = world.repeats if isinstance(world, HasRepeats) else ()
        self.hashes: dict[tuple[str, str], array[int]] = {}
        self.items: Counter[str] = Counter()

    def add(self, split: str, hashes: Mapping[str, Iterable[int]], *, items: int) -> None:
        """Take in those of a batch of a split, by facet, and how many items it has."""
        self.items[split] += items
        for one in self.repeats:
            self.hashes.setdefault((split, one.facet), array("Q")).extend(hashes.get(one.facet, ()))

    def note(self, references: Mapping[str, str | None], verdict: Verdict) -> None:
        """Note what repeats in splits, and what each shares with the reference that it has."""
        different = {split: self._different(split) for split in self.items}
        for split, reference in references.items():
            mine, theirs = different.get(split), different.get(reference or "")
            if mine:
                verdict.note(split, "; ".join(self._counted(split, mine)))
            if mine and theirs:
                shared = ", ".join(_shared(one, mine[one], theirs[one]) for one in mine if one in theirs)
                verdict.note(split, f"shared with {reference}: {shared}")

    def _different(self, split: str) -> dict[Repeatable, Hashes]:
        """Return each different hash of a split once, ascending; nothing of what it has none of."""
        found = {one: self.hashes[split, one.facet] for one in self.repeats}
        return {one: np.unique(np.array(some, np.uint64)) for one, some in found.items() if some}

    def _counted(self, split: str, different: Mapping[Repeatable, Hashes]) -> Iterator[str]:
        """Yield of how many things how many are different: `200 stories, 198 different`."""
        for one, some in different.items():
            count = self.items[split] if one.is_of_item else len(self.hashes[split, one.facet])
            yield f"{count:,} {one.label}, {'all' if len(some) == count else f'{len(some):,}'} different"


def _shared(one: Repeatable, mine: Hashes, theirs: Hashes) -> str:
    count = len(np.intersect1d(mine, theirs, assume_unique=True))
    return f"{count:,} {one.label}" if count else f"no {one.label}"
