"""Canonical JSON and the fingerprint of a split: what 'the same dataset' means.

The fingerprint is the SHA-256 over the canonical JSON of every scene and its questions, in question order, one
line each. No slug, file name, image, facet or renderer is in it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: keys sorted, no spaces, characters as they are.

    Raises
    ------
    ValueError
        For NaN or an infinity, which JSON has no form for.
    """
    return _ENCODER.encode(value)


def digest(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


class Fingerprint:
    """The running fingerprint of one split: feed it scenes and questions in question order."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, scene: Any, questions: Iterable[Mapping[str, Any]]) -> None:
        """Take one item: its scene (JSON value or None) and its questions, as `Question.to_json` gives them."""
        self._hash.update(canonical(scene).encode() + b"\n")
        for question in questions:
            self._hash.update(canonical(question).encode() + b"\n")

    def hexdigest(self) -> str:
        """Return the fingerprint of all that was added so far."""
        return self._hash.hexdigest()


def dataset_fingerprint(splits: Mapping[str, str]) -> str:
    """Return a dataset's fingerprint: SHA-256 over its splits' names and fingerprints, sorted by name."""
    return digest([[name, splits[name]] for name in sorted(splits)])
