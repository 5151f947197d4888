"""Pictures that a page has named and that are fetched in a moment: the process that made it knows what they show.

Asking the database who asks and what was given to them costs as much as an answer. A process that doesn't know an
address does ask.
"""

import threading
from typing import NamedTuple

from annotations.answering.questions import words_at
from generation.models import Dataset, Scene, Split

MOST = 20_000  # addresses that a process remembers

Address = tuple[str, str, str]
"""Of a picture: the study's code, the participant's secret, and a token that names what was given to them."""


class _Shown(NamedTuple):
    split: Split
    position: int


_lock = threading.Lock()
_shown: dict[Address, _Shown] = {}


def remember(address: Address, split: Split, position: int) -> None:
    """Know which question's picture is at an address that was made for somebody it was given to."""
    with _lock:
        if len(_shown) >= MOST:
            _shown.clear()
        _shown[address] = _Shown(split, position)


def scene_of(address: Address) -> tuple[Scene, Dataset] | None:
    """Return the scene at an address, and its dataset; None where this process doesn't know it."""
    known = _shown.get(address)
    if known is None:
        return None
    row = words_at(known.split, known.position)
    return None if row is None or row.scene is None else (row.scene, known.split.dataset)
