"""Keys of questions as hashes, by which two splits are compared.

A question has keys of several names (its text, its program, ...). `KeyColumns` collects them while a split is sealed,
the split's index stores them as `Keys`, and `seen_codes` compares two splits.
"""

import hashlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.worlds import SEEN, UNSEEN

BLOCK = 500_000  # number of keys that are looked up, or of questions that are compared, at a time
CODES = {value: code for code, value in enumerate((SEEN, UNSEEN))}
NONE = 255
PARTS = ("distinct", "places", "starts")


@lru_cache(maxsize=8192)
def hash_key(key: str) -> int:
    # 64 bits: with a million keys, one in 37 million datasets has a collision.
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


class Keys(NamedTuple):
    """All keys of one name of a split's questions, in question order.

    Attributes
    ----------
    distinct : array (keys,) of uint64
        All different hashes, ascending.
    places : array (uses,) of unsigned integers
        The position of each question's keys in `distinct`.
    starts : array (questions + 1,) of uint32
        Question `i` has the keys from `starts[i]` to `starts[i + 1]`.
    """

    distinct: NDArray[np.uint64]
    places: NDArray[Any]
    starts: NDArray[np.uint32]

    @property
    def n(self) -> int:
        return len(self.starts) - 1


class KeyColumns:
    """Collects the keys of a split's questions in order. It needs 8 bytes per key and 4 per question."""

    def __init__(self, names: Sequence[str]) -> None:
        self.hashes = {name: array("Q") for name in names}
        self.starts = {name: array("I", [0]) for name in names}

    def add(self, keys: Mapping[str, Sequence[str]]) -> None:
        for name, hashes in self.hashes.items():
            hashes.extend([hash_key(key) for key in keys[name]])
            self.starts[name].append(len(hashes))

    def taken(self) -> Iterator[tuple[str, Keys]]:
        """Yield the keys of each name, and free their memory."""
        for name in list(self.hashes):
            hashes = np.array(self.hashes.pop(name), np.uint64)
            distinct = np.unique(hashes)
            yield name, Keys(distinct, _places(hashes, distinct), np.array(self.starts.pop(name), np.uint32))


def _places(hashes: NDArray[np.uint64], distinct: NDArray[np.uint64]) -> NDArray[Any]:
    """Return the position of each hash in `distinct`, in the smallest integer type that suffices."""
    places = np.empty(len(hashes), np.min_scalar_type(len(distinct)))
    for first in range(0, len(hashes), BLOCK):
        places[first : first + BLOCK] = np.searchsorted(distinct, hashes[first : first + BLOCK])
    return places


def seen_codes(mine: Keys, reference: Keys) -> NDArray[np.uint8]:
    """Return for each question whether the reference contains all of its keys.

    Parameters
    ----------
    mine, reference : Keys

    Returns
    -------
    array (mine.n,) of uint8
        Codes of (`SEEN`, `UNSEEN`), or `NONE` for a question without keys.
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
