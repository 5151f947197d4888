"""Predictions as one file: codes of the vocabulary in question order, and what was said outside of it."""

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

CODES = np.dtype("<i4")
HEAD = np.dtype("<i8")  # questions, answers that are read otherwise, bytes of JSON
NUMBERS = 3


class PackedPredictions:
    """The content of a file of predictions.

    Attributes
    ----------
    codes, read : array (questions,) of int32
        Taken strictly, and with answers read out of free text; not writable.
    """

    def __init__(self, content: bytes) -> None:
        file = io.BytesIO(content)
        head = np.frombuffer(file.read(NUMBERS * HEAD.itemsize), HEAD)
        n, differing, size = (int(number) for number in head)
        self.codes, differ, others = (np.frombuffer(file.read(4 * count), CODES) for count in (n, differing, differing))
        self.read = self.codes
        if differing:
            self.read = self.codes.copy()
            self.read[differ] = others
            self.read.flags.writeable = False
        self._outside = file.read(size)

    @property
    def outside(self) -> dict[int, str]:
        """Return what was said where `codes` has no answer of the vocabulary, by question; parsed each time."""
        return {int(at): text for at, text in json.loads(self._outside).items()}


def pack(codes: NDArray[np.int32], read: NDArray[np.int32], outside: Mapping[int, str]) -> bytes:
    """Return the content of a file of predictions: both arrays, the second where it differs, and the texts as JSON."""
    texts = bytearray(b"{")
    for at in sorted(outside):
        texts += b", " if len(texts) > 1 else b""
        texts += f'"{at}": {json.dumps(outside[at], ensure_ascii=False)}'.encode()
    texts += b"}"
    differ = np.flatnonzero(codes != read)
    parts: list[NDArray[Any]] = [
        np.array([len(codes), len(differ), len(texts)], HEAD),
        codes.astype(CODES),
        differ.astype(CODES),
        read[differ].astype(CODES),
    ]
    return b"".join([*(part.tobytes() for part in parts), texts])
