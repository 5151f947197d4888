"""What of a split occurs more than once, counted by the keys that its index has of each question."""

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.access import Visitor, What, may_see
from generation.engine.errors import BadSpec
from generation.engine.worlds.repeats import HasRepeats, Repeatable
from generation.models import Dataset, Split
from generation.storage.index import NotIndexed, SplitIndex, open_digest


class Counted(NamedTuple):
    """Of how many things how many are different."""

    all: int
    different: int


class Row(NamedTuple):
    """A value, or all together, with a figure for each split and each thing that may repeat; None: there is none.

    `spaces` says of each thing how many different ones there are in all splits together; None where nobody counted.
    """

    label: str
    cells: list[Counted | None]
    spaces: list[int | None]

    @property
    def is_plain(self) -> bool:
        """Return whether nothing repeats, of many more that there are."""
        return not any(self.spaces) and all(cell is None or cell.all == cell.different for cell in self.cells)


class Repeats(NamedTuple):
    """What repeats in a dataset: columns, and a row for all together before one for each value that says something."""

    splits: list[str]
    labels: list[str]
    rows: list[Row]
    plain: list[str]

    @property
    def has_spaces(self) -> bool:
        """Return whether it is known of anything how many different ones there are."""
        return any(any(row.spaces) for row in self.rows)


def repeats_of(user: Visitor, dataset: Dataset, splits: Sequence[Split]) -> Repeats | None:
    """Return what repeats in these complete splits; None where its world counts nothing or a visitor sees nothing."""
    try:
        world = dataset.get_world()
    except BadSpec:
        return None
    if not isinstance(world, HasRepeats) or not all(may_see(user, split, What.QUESTION) for split in splits):
        return None
    found = [(split, index) for split in splits if (index := _index(split, world)) is not None]
    if not found:
        return None
    facet = found[0][1].facets[world.repeats_by]
    spaces = _spaces(world, splits)
    counted = [_by_value(split.index_digest, one, world.repeats_by) for split, _ in found for one in world.repeats]
    rows = [Row("all", [column[-1] for column in counted], [None] * len(world.repeats))]
    for code, value in enumerate(facet.values):
        cells = [column[code] for column in counted]
        if any(cells):
            known = spaces.get(value, {})
            rows.append(Row(facet.labels[code], cells, [known.get(one.facet) for one in world.repeats]))
    told = [row for row in rows[1:] if not row.is_plain]
    return Repeats(
        [split.name for split, _ in found],
        [one.label for one in world.repeats],
        [rows[0], *told],
        [row.label for row in rows[1:] if row.is_plain],
    )


def _spaces(world: HasRepeats, splits: Sequence[Split]) -> Mapping[str, Mapping[str, int]]:
    """Return how many different ones there are; nothing where splits are of different kinds."""
    first, *others = [world.spaces(split.read_spec()) for split in splits]
    return first if all(other == first for other in others) else {}


def _index(split: Split, world: HasRepeats) -> SplitIndex | None:
    """Return a split's index; None where it has no keys of what may repeat."""
    try:
        index = SplitIndex.open(split)
    except NotIndexed:
        return None
    return index if all(one.facet in index.keys for one in world.repeats) else None


@functools.lru_cache(maxsize=256)
def _by_value(digest: str, repeatable: Repeatable, by: str) -> Mapping[int, Counted | None]:
    """Return how many there are and how many different ones, for each value's code; for all together under -1."""
    index = open_digest(digest)
    keys, codes = index.keys[repeatable.facet], index.facets[by].codes
    has_one = np.flatnonzero(np.diff(keys.starts.astype(np.int64)) == 1)
    places = keys.places[keys.starts[has_one]].astype(np.int64)
    things = index.scenes[has_one].astype(np.int64) if repeatable.is_of_item else has_one
    found: dict[int, Counted | None] = {-1: _counted(things, places)}
    of = codes[has_one]
    for code in range(len(index.facets[by].values)):
        some = of == code
        found[code] = _counted(things[some], places[some]) if some.any() else None
    return found


def _counted(things: NDArray[np.int64], places: NDArray[np.int64]) -> Counted:
    return Counted(len(np.unique(things)), len(np.unique(places)))
