"""Random streams: every random decision of the engine is drawn from a stream with a key.

Only `random()` of PCG64 is used, because its bits are the same on every machine and in every release of NumPy.
Choosing, shuffling and so on are written here on top of it, so that a new method in a library changes nothing.
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
    """The purpose of a stream. It is part of the key, so that two stages never share numbers."""

    SCENE = 1
    QUESTIONS = 2
    WORDS = 3
    RENDER = 4
    SAMPLE = 5


class Stream:
    """A source of random numbers for one key.

    Parameters
    ----------
    generator : numpy.random.Generator
        Uses PCG64; the function `stream` makes it.
    """

    __slots__ = ("generator", "random")

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self.random = generator.random

    def below(self, count: int) -> int:
        """Return a random integer of 0 .. count-1, uniformly distributed."""
        return int(self.random() * count)

    def uniform(self, low: float, high: float) -> float:
        """Return a random number of [low, high), uniformly distributed."""
        return low + self.random() * (high - low)

    def choice(self, options: Sequence[T]) -> T:
        """Return one of `options`, all with equal probability."""
        return options[self.below(len(options))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle `items` in place (Fisher and Yates, from the end)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def normal(self) -> float:
        """Return a standard normal number (Box and Muller; the second number of the pair is not used)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.random()))
        return radius * math.cos(2.0 * math.pi * self.random())


def stream(*, seed: int, split: str, index: int, stage: Stage, attempt: int = 0, secret: bytes = b"") -> Stream:
    """Return the stream for a key: equal keys give equal numbers, different keys give unrelated numbers.

    Parameters
    ----------
    seed : int
        The spec's seed, 0 .. 2**64-1; 0 has no special meaning.
    split : str
        The split's name.
    index : int
        The number of the chunk or item within the split.
    stage : Stage
        The kind of decision.
    attempt : int
        The number of the try, for decisions that are tried again.
    secret : bytes
        16 bytes for a split with withheld answers, empty otherwise.

    Raises
    ------
    ValueError
        If a part of the key is out of range.
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
        + (b"\1\0\0\0" if secret else b"")  # a secret of sixteen zero bytes must differ from no secret
    )
    words = [int.from_bytes(key[at : at + 4], "little") for at in range(0, len(key), 4)]
    return Stream(np.random.Generator(np.random.PCG64(np.random.SeedSequence(words))))
