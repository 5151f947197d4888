"""Stories and questions as tasks make them, before the story's split is known."""

from typing import NamedTuple, Protocol, runtime_checkable

from generation.engine.program import Program
from generation.engine.seeding import Stream
from generation.engine.worlds.babi.story import Line
from generation.engine.worlds.babi.story_parameters import StoryParameters


class Ask(NamedTuple):
    """A question: the number of lines that it may use, its text, and the program of its answer and supporting facts."""

    scope: int
    text: str
    program: Program


class ToldStory(NamedTuple):
    """A story with its questions in order."""

    lines: tuple[Line, ...]
    asks: tuple[Ask, ...]


class Task(Protocol):
    """One of the twenty tasks.

    Attributes
    ----------
    number : int
        1 to 20.
    name : str
        The name in files and facets.
    label : str
        The name for people.
    lengths : tuple of int
        The numbers of questions of successive stories, repeated from the beginning; their sum divides
        `story_allocation.BLOCK`.
    """

    number: int
    name: str
    label: str
    lengths: tuple[int, ...]

    def tell(self, parameters: StoryParameters, chance: Stream, *, questions: int) -> ToldStory | None:
        """Return a story with this number of questions, or None if this try failed and another one is needed."""

    def answers(self, parameters: StoryParameters) -> tuple[str, ...]:
        """Return every possible answer in canonical form; the words of a set are sorted and joined by commas."""


class Space(NamedTuple):
    """The number of different texts: of whole stories, and of visible lines together with their question."""

    stories: int
    questions: int


@runtime_checkable
class CountableTask(Protocol):
    """A task whose stories can be counted."""

    def space(self, parameters: StoryParameters) -> Space | None:
        """Return the exact numbers, or None if there are too many stories to list."""
