"""What a world's paper says about its data, to stand beside the same figures of ours."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from generation.engine.worlds import World


class Texts(NamedTuple):
    """How many questions a split has, how many different ones, and how many that its train split has too."""

    questions: int
    unique: int
    overlap: int | None = None


class People(NamedTuple):
    """How people were asked: how many questions, and how many people each."""

    questions: int
    each: int


class Published(NamedTuple):
    """Figures of a paper; what it doesn't say is left out.

    Attributes
    ----------
    source : str
        Who said it, for people.
    texts : mapping of str to Texts
        By the split's name; "" is all of them together.
    type_mode : mapping of str to float
        Accuracy of the most frequent train answer of each type, on questions of that type.
    people : People or None
    """

    source: str = ""
    texts: Mapping[str, Texts] = {}
    type_mode: Mapping[str, float] = {}
    people: People | None = None


@runtime_checkable
class HasPaper(Protocol):
    """A world whose paper gives such figures."""

    @property
    def published(self) -> Published:
        """Return them."""


def published_of(world: World) -> Published:
    """Return what the world's paper says; nothing where it has none."""
    return world.published if isinstance(world, HasPaper) else Published()
