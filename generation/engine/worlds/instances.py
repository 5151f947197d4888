"""What a world may offer so that its data flow as they are made: words, models, and a shorter way to pictures."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import Chunk, Item, Question
from generation.engine.spec import BaseSpec


class Instance(NamedTuple):
    """One question about one picture.

    Attributes
    ----------
    image : ndarray
        `(height, width, 3)` uint8 sRGB, the same size throughout a split.
    text : str
    answer : str or None
    """

    image: NDArray[np.uint8]
    text: str
    answer: str | None


@runtime_checkable
class HasWords(Protocol):
    """A world that knows beforehand which words its questions have."""

    def words(self, spec: BaseSpec) -> tuple[str, ...]:
        """Return every word, as `vocabulary.split_words` gives them, that a question of this spec can have."""


Models = Callable[[Item, Question], tuple[Any, Any]]
"""Returns a scene and one of its questions as JSON."""


@runtime_checkable
class HasModels(Protocol):
    """A world whose scenes and questions other programs know in a form of their own."""

    def models(self, spec: BaseSpec) -> Models:
        """Return what models the items of this spec, and their questions."""


@runtime_checkable
class HasInstances(Protocol):
    """A maker that makes instances in a shorter way: neither scenes nor programs nor object ids are handed out."""

    def instances(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Instance]:
        """Yield what the chunk's questions and pictures are, made and rendered, in order."""
