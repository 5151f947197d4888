"""What a task tells and asks before anybody knows which split the story belongs to."""

from typing import NamedTuple, Protocol, runtime_checkable

from generation.engine.program import Program
from generation.engine.seeding import Stream
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.story import Line


class Ask(NamedTuple):
    """A question: how many lines it sees, its words, its program, which gives answer and supporting facts."""

    scope: int
    text: str
    program: Program


class ToldStory(NamedTuple):
    """A story with its questions, in the order in which they are asked."""

    lines: tuple[Line, ...]
    asks: tuple[Ask, ...]


class Task(Protocol):
    """One of the twenty tasks.

    Attributes
    ----------
    number : int
        1 to 20.
    name : str
        As files and facets have it.
    label : str
        For people.
    lengths : tuple of int
        How many questions stories have, one after the other, beginning anew at the end; they add up to a divisor of
        `layout.BLOCK`.
    """

    number: int
    name: str
    label: str
    lengths: tuple[int, ...]

    def tell(self, knobs: Knobs, chance: Stream, *, questions: int) -> ToldStory | None:
        """Return a story with so many questions; None where this draw came to nothing and another is to be made."""

    def answers(self, knobs: Knobs) -> tuple[str, ...]:
        """Return every answer that there can be, canonical: of a set in alphabetical order, joined by commas."""


class Space(NamedTuple):
    """How many different texts there are: of whole stories, and of what questions see with the question."""

    stories: int
    questions: int


@runtime_checkable
class CountableTask(Protocol):
    """A task whose stories can be counted."""

    def space(self, knobs: Knobs) -> Space | None:
        """Return how many there are, exactly; None where they are too many to list."""
