"""Streams of chance: every random decision of the engine is drawn here, from a named place.

Only `random()` of PCG64 is used: its bits are the same on every machine and release of NumPy. Choosing,
shuffling and the rest are written in terms of it, so that a library's change of method changes nothing here.
"""

import hashlib
import math
from collections.abc import MutableSequence, Sequence
from enum import IntEnum
from typing import TypeVar

import numpy as np

T = TypeVar("T")

SECRET_BYTES = 16


class Stage(IntEnum):
    """What a stream is drawn for; part of its key, so that stages never share numbers."""

    SCENE = 1
    QUESTIONS = 2
    WORDS = 3
    RENDER = 4
    SAMPLE = 5


class Stream:
    """Random numbers of one place in one dataset.

    Parameters
    ----------
    generator : numpy.random.Generator
        Over PCG64; `stream` makes it.
    """

    __slots__ = ("generator", "random")

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self.random = generator.random

    def below(self, count: int) -> int:
        """Return an integer of 0 .. count-1, each as likely."""
        return int(self.random() * count)

    def uniform(self, low: float, high: float) -> float:
        """Return a number of [low, high), each as likely."""
        return low + self.random() * (high - low)

    def choice(self, options: Sequence[T]) -> T:
        """Return one of `options`, each as likely."""
        return options[self.below(len(options))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Put `items` into random order, in place (Fisher and Yates, from the end)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def normal(self) -> float:
        """Return a standard normal number (Box and Muller, one of the pair)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.random()))
        return radius * math.cos(2.0 * math.pi * self.random())


def stream(*, seed: int, split: str, index: int, stage: Stage, attempt: int = 0, secret: bytes = b"") -> Stream:
    """Return the stream of one place: the same key gives the same numbers, another key unrelated ones.

    Parameters
    ----------
    seed : int
        The spec's seed, 0 .. 2**64-1; 0 is a seed like any other.
    split : str
        The split's name.
    index : int
        What the stream is for within the split: a chunk's or an item's number.
    stage : Stage
        The kind of decision.
    attempt : int
        Which try, where a try may be thrown away.
    secret : bytes
        16 bytes for a split whose answers are withheld, empty otherwise.

    Raises
    ------
    ValueError
        If a part of the key is out of its range.
    """
    if not 0 <= seed < 2**64:
        raise ValueError(f"Expected a seed of 0 .. 2**64-1, got {seed}.")
    if len(secret) not in (0, SECRET_BYTES):
        raise ValueError(f"Expected a secret of {SECRET_BYTES} bytes or none, got {len(secret)} bytes.")
    key = (
        seed.to_bytes(8, "little")
        + secret.ljust(SECRET_BYTES, b"\0")
        + hashlib.sha256(split.encode()).digest()
        + index.to_bytes(8, "little")
        + attempt.to_bytes(4, "little")
        + int(stage).to_bytes(4, "little")
        + (b"\1\0\0\0" if secret else b"")  # sixteen zeros are a secret, too
    )
    words = [int.from_bytes(key[at : at + 4], "little") for at in range(0, len(key), 4)]
    return Stream(np.random.Generator(np.random.PCG64(np.random.SeedSequence(words))))
