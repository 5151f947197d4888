"""SHA-256, and JSON in which equal values are equal texts."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")
