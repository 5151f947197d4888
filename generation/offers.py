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


Offering = Callable[[Split, str], Offer]

_OFFERS: dict[str, Offering] = {}


def register(name: str, offer: Offering) -> None:
    """Let `offer` give a link for each complete split; the same name registered again replaces it.

    It is told the filter by which the split's page shows questions, as the address has it; empty for all of them.
    """
    _OFFERS[name] = offer


def offers_for(split: Split, text: str = "") -> list[Offer]:
    """Return what may be done with a complete split, or with those of its questions that pass a filter."""
    return [_OFFERS[name](split, text) for name in sorted(_OFFERS)]
