"""The compiled steps of `split_index`: marking and counting codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.numba_compiler import njit

MANY = 255


@njit(cache=True)
def mark_codes(codes: Any, allowed: NDArray[np.bool_], number: int, marks: NDArray[np.uint8]) -> None:
    """Mark in place the questions that a filter excludes.

    Parameters
    ----------
    codes : array (n,) of uint8 or uint16
    allowed : array (number of possible codes,) of bool
    number : int
        The filter's number, 1 .. 254.
    marks : array (n,) of uint8
        0: no filter excluded the question yet; a number: only that filter did; `MANY`: several did.
    """
    alone = np.uint8(number)
    for i in range(codes.shape[0]):  # without a branch, because a branch would be unpredictable and slow
        mark = marks[i]
        stopped = alone if mark == 0 else np.uint8(MANY)
        marks[i] = mark if allowed[codes[i]] else stopped


@njit(cache=True)
def count_codes(codes: Any, positions: NDArray[np.int64], histogram: NDArray[np.int64]) -> None:
    """Count, in place, the codes of the questions at these positions.

    Parameters
    ----------
    codes : array (n,) of uint8 or uint16
    positions : array (any,) of int64
    histogram : array (number of possible codes,) of int64
    """
    for i in range(positions.shape[0]):
        histogram[codes[positions[i]]] += 1
