"""What upper layers offer to do with a split: links on its page, for its owner.

A lower layer does not know the upper ones. Each of them registers, when it is loaded, a function that gives a link.
"""

from collections.abc import Callable
from typing import NamedTuple

from generation.models import Split


class Offer(NamedTuple):
    """A link: what it says, and where it leads."""

    label: str
    address: str


_OFFERS: dict[str, Callable[[Split], Offer]] = {}


def register(name: str, offer: Callable[[Split], Offer]) -> None:
    """Let `offer` give a link for each complete split; the same name registered again replaces it."""
    _OFFERS[name] = offer


def offers_for(split: Split) -> list[Offer]:
    """Return what may be done with a complete split."""
    return [_OFFERS[name](split) for name in sorted(_OFFERS)]
