"""Canonical JSON and the fingerprint of a split. Two datasets are the same if their fingerprints are equal.

The fingerprint is the SHA-256 over the canonical JSON of every scene and its questions, in question order, one
line each. It does not cover slugs, file names, images, facets or the renderer.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> str:
    """Return the canonical JSON text of a value: sorted keys, no spaces, characters not escaped.

    Raises
    ------
    ValueError
        If the value contains NaN or an infinity, which JSON cannot express.
    """
    return _ENCODER.encode(value)


def digest(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def question_line(
    text: str, kind: str, answer: str | None, program: str | None, family: int | None, scope: int | None
) -> str:
    """Return the canonical JSON of `Question.to_json` from its parts; `program` is its canonical JSON already."""
    said = "null" if answer is None else encode_basestring(answer)
    template, limit = "null" if family is None else family, "null" if scope is None else scope
    return (
        f'{{"answer":{said},"family":{template},"kind":{encode_basestring(kind)},"program":{program or "null"},'
        f'"scope":{limit},"text":{encode_basestring(text)}}}'
    )


class Fingerprint:
    """The running fingerprint of one split. Add scenes and questions in question order."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, scene: Any, questions: Iterable[Mapping[str, Any]]) -> None:
        """Add one item: its scene (JSON value or None) and its questions, in the form of `Question.to_json`."""
        self._hash.update(canonical(scene).encode() + b"\n")
        for question in questions:
            self._hash.update(canonical(question).encode() + b"\n")

    def add_lines(self, lines: Iterable[str]) -> None:
        """Add scenes and questions as canonical JSON, which is faster if they are stored in this form."""
        self._hash.update("\n".join([*lines, ""]).encode())

    def hexdigest(self) -> str:
        """Return the fingerprint of everything added so far."""
        return self._hash.hexdigest()


def dataset_fingerprint(splits: Mapping[str, str]) -> str:
    """Return a dataset's fingerprint: SHA-256 over its splits' names and fingerprints, sorted by name."""
    return digest([[name, splits[name]] for name in sorted(splits)])
