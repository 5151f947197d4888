"""Stored predictions: codes of a split's vocabulary in question order, in a file named by their digest.

The file never changes, so scores and slices can be computed again from it.
"""

import functools
import hashlib
import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import EngineError
from generation.engine.predictions import Predictions
from generation.engine.predictions.packed_predictions import PackedPredictions, pack
from generation.models import Split
from generation.storage import files
from generation.storage.split_index import SplitIndex
from webapp.leaderboards.models import Submission

FOLDER = "predictions"
LINES_AT_ONCE = 4096  # lines per chunk
AT_HAND = 64  # predictions that a process caches


class DamagedPredictions(EngineError):
    """The file of predictions is missing or is not what was stored."""


def pack_all(found: Predictions) -> bytes:
    return pack(found.codes, found.read, found.outside)


def store(content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    files.put(name_of(digest), content)
    return digest


def load(digest: str) -> PackedPredictions:
    """Return the predictions with this digest; raise `DamagedPredictions` if the file is not what was stored."""
    return _load(digest)


def codes_for(submission: Submission, split: Split, *, read: bool = False) -> NDArray[np.int32]:
    """Return a submission's codes for its own split or for a question set derived from it.

    Parameters
    ----------
    submission : Submission
    split : Split
    read : bool
        Whether answers are also extracted from free text.
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
    return f"{FOLDER}/{digest[:2]}/{digest}"


@functools.lru_cache(maxsize=AT_HAND)
def _load(digest: str) -> PackedPredictions:
    try:
        content = files.get(name_of(digest))
    except OSError as error:
        raise DamagedPredictions("Expected predictions, got none. Restore them from a backup.", where=digest) from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise DamagedPredictions("Expected the predictions that were stored, got others.", where=digest)
    return PackedPredictions(content)


def lines_of(found: PackedPredictions, vocabulary: Sequence[str]) -> Iterator[bytes]:
    """Yield predictions as JSON lines, many per chunk; answers outside the vocabulary are shortened texts."""
    outside = found.outside
    for start in range(0, len(found.codes), LINES_AT_ONCE):
        codes = found.codes[start : start + LINES_AT_ONCE].tolist()
        texts = [vocabulary[code] if code >= 0 else outside.get(at, "") for at, code in enumerate(codes, start)]
        yield "".join(
            json.dumps({"question_id": at, "answer": text}, ensure_ascii=False) + "\n"
            for at, text in enumerate(texts, start)
        ).encode()
