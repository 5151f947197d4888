"""What a world may offer so that its data flow as they are made: its words, and a shorter way to pictures."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from generation.engine.spec import BaseSpec
from generation.engine.worlds import Chunk


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


@runtime_checkable
class HasInstances(Protocol):
    """A maker that makes instances in a shorter way: neither scenes nor programs nor object ids are handed out."""

    def instances(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Instance]:
        """Yield what the chunk's questions and pictures are, made and rendered, in order."""
