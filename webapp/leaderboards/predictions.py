"""Predictions as they are kept: codes of a split's vocabulary in question order, in a file named by their digest.

The file never changes; a submission's scores can be computed again from it at any time, and slices are.
"""

import functools
import hashlib
import io
import json
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation import files
from generation.engine.errors import EngineError
from generation.engine.predictions import Predictions
from generation.index import SplitIndex
from generation.models import Split
from webapp.leaderboards.models import Submission

FOLDER = "predictions"
CODES = np.dtype("<i4")
AT_HAND = 64  # predictions that a process keeps in memory


class Damaged(EngineError):
    """The file of predictions is not what was stored."""


class Stored(NamedTuple):
    """Predictions as `generation.engine.predictions` gave them.

    Attributes
    ----------
    codes, read : array (questions,) of int32
        Taken strictly, and with answers read out of free text.
    outside : mapping of int to str
        What was said where `codes` has no answer of the vocabulary, by question.
    """

    codes: NDArray[np.int32]
    read: NDArray[np.int32]
    outside: Mapping[int, str]


def store(predictions: Predictions) -> str:
    """Return the digest under which predictions are kept from now on."""
    content = _packed(predictions)
    digest = hashlib.sha256(content).hexdigest()
    files.put(name_of(digest), content)
    return digest


def load(digest: str) -> Stored:
    """Return the predictions of a digest; raise `Damaged` where they are not those that were stored."""
    return _load(digest)


def codes_for(submission: Submission, split: Split, *, read: bool = False) -> NDArray[np.int32]:
    """Return a submission's codes for its own split, or for one that is derived from it.

    Parameters
    ----------
    submission : Submission
    split : Split
    read : bool
        Whether answers are read out of free text too.
    """
    stored = load(submission.predictions)
    codes = stored.read if read else stored.codes
    if split.pk == submission.split_id:
        return codes
    positions = SplitIndex.open(split).positions
    if positions is None or split.parent_id != submission.split_id:
        raise ValueError(f"Expected {submission.split} or a split derived from it, got {split}.")
    return codes[positions]


def name_of(digest: str) -> str:
    """Return the name of the file that has predictions."""
    return f"{FOLDER}/{digest[:2]}/{digest}"


@functools.lru_cache(maxsize=AT_HAND)
def _load(digest: str) -> Stored:
    try:
        content = files.get(name_of(digest))
    except OSError as error:
        raise Damaged("Expected predictions, got none. Restore them from a backup.", where=digest) from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise Damaged("Expected the predictions that were stored, got others.", where=digest)
    return _unpacked(content)


def _packed(predictions: Predictions) -> bytes:
    """Return the file of predictions: both arrays, the second where it differs, and what was said outside."""
    outside = json.dumps({str(at): text for at, text in sorted(predictions.outside.items())}, ensure_ascii=False)
    n, size = len(predictions.codes), len(outside.encode())
    differ = np.flatnonzero(predictions.codes != predictions.read)
    parts = [
        np.array([n, len(differ), size], "<i8"),
        predictions.codes.astype(CODES),
        differ.astype(CODES),
        predictions.read[differ].astype(CODES),
    ]
    return b"".join([*(part.tobytes() for part in parts), outside.encode()])


def _unpacked(content: bytes) -> Stored:
    file = io.BytesIO(content)
    n, differing, size = (int(number) for number in np.frombuffer(file.read(24), "<i8"))
    codes, differ, others = (np.frombuffer(file.read(4 * count), CODES) for count in (n, differing, differing))
    read = codes
    if differing:
        read = codes.copy()
        read[differ] = others
        read.flags.writeable = False
    outside = json.loads(file.read(size))
    return Stored(codes, read, {int(at): text for at, text in outside.items()})
