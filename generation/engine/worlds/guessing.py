"""Baselines that a world has of its own: rules and simple learners that show what can be had without reasoning."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from generation.engine.items import Item


class Guess(Protocol):
    """What guesses at questions."""

    def __call__(
        self, spec: Any, asked: Iterable[Item], *, learned: Iterable[Item], check: Callable[[], None]
    ) -> Iterator[str]:
        """Yield an answer for each question of `asked`, in order; an empty string where it has none to give.

        Parameters
        ----------
        spec : BaseSpec
            As the split has it.
        asked : iterable of Item
            The split's items, without answers and programs.
        learned : iterable of Item
            Those of its reference, whole, to be read once; empty for a baseline that needs none.
        check : callable
            To be called every few seconds; it may raise to stop.
        """


class Baseline(NamedTuple):
    """A baseline of a world.

    Attributes
    ----------
    name : str
        Small letters, digits and hyphens.
    label : str
        As boards name it.
    sees, fitted : str
        What it sees, and what was fitted to what, in the middle of a sentence.
    needs_reference : bool
        Whether it learns from the split's reference, without which there is no such baseline.
    guess : Guess
    """

    name: str
    label: str
    sees: str
    fitted: str
    needs_reference: bool
    guess: Guess


@runtime_checkable
class HasBaselines(Protocol):
    """A world with baselines of its own."""

    baselines: ClassVar[tuple[Baseline, ...]]


def baselines_of(world: object) -> tuple[Baseline, ...]:
    """Return a world's own baselines."""
    return world.baselines if isinstance(world, HasBaselines) else ()


def unanswered(item: Item) -> Item:
    """Return an item whose questions tell neither their answers nor the programs that would give them."""
    return replace(item, questions=tuple([replace(one, answer=None, program=None) for one in item.questions]))
