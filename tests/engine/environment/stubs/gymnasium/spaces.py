"""A stand-in for the spaces of gymnasium; values of another type, size or letter are not in them."""

from collections.abc import Mapping
from typing import Any

import numpy as np


class Text:
    def __init__(self, max_length: int, *, charset: str) -> None:
        self.max_length, self.charset = max_length, frozenset(charset)

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, str) and 1 <= len(value) <= self.max_length and self.charset >= set(value)


class Box:
    def __init__(self, low: int, high: int, shape: tuple[int, ...], dtype: str) -> None:
        self.low, self.high, self.shape, self.dtype = low, high, shape, np.dtype(dtype)

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, np.ndarray) and value.shape == self.shape and value.dtype == self.dtype


class Dict:
    def __init__(self, spaces: Mapping[str, Any]) -> None:
        self.spaces = dict(spaces)

    def __contains__(self, value: Any) -> bool:
        return set(value) == set(self.spaces) and all(value[name] in space for name, space in self.spaces.items())
