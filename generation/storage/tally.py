"""The compiled passes behind filters and counts; one value a question, in question order."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

MANY = 255


@numba.njit(cache=True)
def mark_codes(codes: Any, allowed: NDArray[np.bool_], number: int, marks: NDArray[np.uint8]) -> None:
    """Note in `marks`, in place, which questions a filter stops.

    Parameters
    ----------
    codes : array (n,) of uint8 or uint16
    allowed : array (codes there can be,) of bool
    number : int
        The filter's, 1 .. 254.
    marks : array (n,) of uint8
        0: nothing stopped the question yet; a number: that filter alone did; `MANY`: several did.
    """
    alone = np.uint8(number)
    for i in range(codes.shape[0]):  # no branch: whether a question passes can't be guessed
        mark = marks[i]
        stopped = alone if mark == 0 else np.uint8(MANY)
        marks[i] = mark if allowed[codes[i]] else stopped


@numba.njit(cache=True)
def count_codes(codes: Any, positions: NDArray[np.int64], histogram: NDArray[np.int64]) -> None:
    """Count, in place, the codes of the questions at some positions.

    Parameters
    ----------
    codes : array (n,) of uint8 or uint16
    positions : array (any,) of int64
    histogram : array (codes there can be,) of int64
    """
    for i in range(positions.shape[0]):
        histogram[codes[positions[i]]] += 1
