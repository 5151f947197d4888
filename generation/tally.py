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
    for i in range(codes.shape[0]):
        if not allowed[codes[i]]:
            marks[i] = number if marks[i] == 0 else MANY


@numba.njit(cache=True)
def count_codes(codes: Any, marks: NDArray[np.uint8], number: int, histogram: NDArray[np.int64]) -> None:
    """Count, in place, the codes of questions that nothing stopped but perhaps filter `number` (0: none).

    Parameters
    ----------
    codes : array (n,) of uint8 or uint16
    marks : array (n,) of uint8
        As `mark_codes` leaves them.
    number : int
    histogram : array (codes there can be,) of int64
    """
    for i in range(codes.shape[0]):
        if marks[i] == 0 or marks[i] == number:
            histogram[codes[i]] += 1
