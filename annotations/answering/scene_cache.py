"""Remembers which scene belongs to the address of a picture, when a page with this address is made.

Without this cache, the process must find the participant and their questions in the database, which takes as long as
storing an answer. A process that does not know an address does this.
"""

import threading
from typing import NamedTuple

from annotations.answering.questions import words_at
from generation.models import Dataset, Scene, Split

MOST = 20_000  # the most addresses that a process remembers

Address = tuple[str, str, str]
"""Address of a picture: the study's code, the participant's secret, and a token of what they were given."""


class _Shown(NamedTuple):
    split: Split
    position: int


_lock = threading.Lock()
_shown: dict[Address, _Shown] = {}


def remember(address: Address, split: Split, position: int) -> None:
    """Remember the question of an address; the address must belong to a participant to whom the question was given."""
    with _lock:
        if len(_shown) >= MOST:
            _shown.clear()
        _shown[address] = _Shown(split, position)


def scene_of(address: Address) -> tuple[Scene, Dataset] | None:
    """Return the scene of an address and its dataset, or None if this process does not know the address."""
    known = _shown.get(address)
    if known is None:
        return None
    row = words_at(known.split, known.position)
    return None if row is None or row.scene is None else (row.scene, known.split.dataset)
