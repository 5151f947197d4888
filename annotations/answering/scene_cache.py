"""Remembers which scene belongs to a picture's address, for pictures that a page has just named.

Looking up the participant and what they were given costs as much as storing an answer. A process that does not know an
address must look it up in the database.
"""

import threading
from typing import NamedTuple

from annotations.answering.questions import words_at
from generation.models import Dataset, Scene, Split

MOST = 20_000  # addresses that a process remembers

Address = tuple[str, str, str]
"""Address of a picture: the study's code, the participant's secret, and a token of what they were given."""


class _Shown(NamedTuple):
    split: Split
    position: int


_lock = threading.Lock()
_shown: dict[Address, _Shown] = {}


def remember(address: Address, split: Split, position: int) -> None:
    """Remember which question an address belongs to; the address was made for a participant who was given it."""
    with _lock:
        if len(_shown) >= MOST:
            _shown.clear()
        _shown[address] = _Shown(split, position)


def scene_of(address: Address) -> tuple[Scene, Dataset] | None:
    """Return the scene at an address and its dataset, or None if this process does not know the address."""
    known = _shown.get(address)
    if known is None:
        return None
    row = words_at(known.split, known.position)
    return None if row is None or row.scene is None else (row.scene, known.split.dataset)
