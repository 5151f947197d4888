"""What may occur more than once in a split, as stories of a few lines do, and how many different ones there are."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from generation.engine.spec import BaseSpec


class Repeatable(NamedTuple):
    """Something that an item has, or each of its questions, and that others may have just the same.

    Attributes
    ----------
    facet : str
        The facet about the train split whose one key says which are the same.
    label : str
        What they are to people, as `stories`.
    is_of_item : bool
        Whether an item has one, which is the same for all its questions.
    """

    facet: str
    label: str
    is_of_item: bool


@runtime_checkable
class HasRepeats(Protocol):
    """A world that tells what of its splits may occur more than once, and by which facet that is counted."""

    @property
    def repeats(self) -> tuple[Repeatable, ...]:
        """What may occur more than once."""

    @property
    def repeats_by(self) -> str:
        """The facet by whose values it is counted: one that each question has a value of."""

    def spaces(self, spec: BaseSpec) -> Mapping[str, Mapping[str, int]]:
        """Return how many different ones there are in all splits together, where these are few enough to be counted.

        By value of the facet `repeats_by`, then by `Repeatable.facet`.
        """
