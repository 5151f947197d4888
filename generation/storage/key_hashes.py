"""Keys of questions as hashes: by them one split is told what another had seen.

A question has keys of several names (its text, its program, ...). `KeyColumns` gathers them while a split is sealed, as
`Keys` they lie in its index, and `seen_codes` compares two splits'.
"""

import hashlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.worlds import SEEN, UNSEEN

BLOCK = 500_000  # keys looked up, or questions compared, at a time
CODES = {value: code for code, value in enumerate((SEEN, UNSEEN))}
NONE = 255
PARTS = ("distinct", "places", "starts")


@lru_cache(maxsize=8192)
def hashed(key: str) -> int:
    """Return a key's hash: 64 bits, so that two keys of a million share one once in 37 million datasets."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


class Keys(NamedTuple):
    """All keys of one name that a split's questions have, in question order.

    Attributes
    ----------
    distinct : array (keys,) of uint64
        Each hash once, ascending.
    places : array (uses,) of unsigned integers
        Where each key of each question stands among them.
    starts : array (questions + 1,) of uint32
        Question `i` has those from `starts[i]` to `starts[i + 1]`.
    """

    distinct: NDArray[np.uint64]
    places: NDArray[Any]
    starts: NDArray[np.uint32]

    @property
    def n(self) -> int:
        return len(self.starts) - 1


class KeyColumns:
    """The keys of a split's questions, gathered in their order: 8 bytes a key and 4 a question are all it keeps."""

    def __init__(self, names: Sequence[str]) -> None:
        self.hashes = {name: array("Q") for name in names}
        self.starts = {name: array("I", [0]) for name in names}

    def add(self, keys: Mapping[str, Sequence[str]]) -> None:
        for name, hashes in self.hashes.items():
            hashes.extend([hashed(key) for key in keys[name]])
            self.starts[name].append(len(hashes))

    def taken(self) -> Iterator[tuple[str, Keys]]:
        """Yield the keys of each name, which are dropped here."""
        for name in list(self.hashes):
            hashes = np.array(self.hashes.pop(name), np.uint64)
            distinct = np.unique(hashes)
            yield name, Keys(distinct, _places(hashes, distinct), np.array(self.starts.pop(name), np.uint32))


def _places(hashes: NDArray[np.uint64], distinct: NDArray[np.uint64]) -> NDArray[Any]:
    """Return where each hash stands among the distinct ones, in the smallest type that has room."""
    places = np.empty(len(hashes), np.min_scalar_type(len(distinct)))
    for first in range(0, len(hashes), BLOCK):
        places[first : first + BLOCK] = np.searchsorted(distinct, hashes[first : first + BLOCK])
    return places


def seen_codes(mine: Keys, reference: Keys) -> NDArray[np.uint8]:
    """Return for each question whether the reference's questions have all of its keys.

    Parameters
    ----------
    mine, reference : Keys

    Returns
    -------
    array (mine.n,) of uint8
        Codes of (`SEEN`, `UNSEEN`), `NONE` for a question without keys.
    """
    is_new = ~np.isin(mine.distinct, reference.distinct, assume_unique=True)
    codes = np.full(mine.n, NONE, np.uint8)
    for first in range(0, mine.n, BLOCK):
        starts = mine.starts[first : first + BLOCK + 1].astype(np.int64)
        places = mine.places[starts[0] : starts[-1]]
        new = np.concatenate([[0], np.cumsum(is_new[places], dtype=np.int64)])
        counts = new[starts[1:] - starts[0]] - new[starts[:-1] - starts[0]]
        found = np.where(counts > 0, CODES[UNSEEN], CODES[SEEN])
        codes[first : first + len(found)] = np.where(starts[1:] > starts[:-1], found, NONE)
    return codes
