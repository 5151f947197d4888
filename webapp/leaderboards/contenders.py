"""Who is read on a board's pages: methods with the predictions of their runs, and on which questions."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.score import NONE

Codes = NDArray[np.integer]


class Contender(NamedTuple):
    """A row of a board, with the predictions of its runs.

    Attributes
    ----------
    key : str
        In addresses.
    label : str
        For people.
    runs : sequence of array (questions,)
        Codes of the split's vocabulary; `NONE` where nobody was asked.
    is_human : bool
    """

    key: str
    label: str
    runs: Sequence[Codes]
    is_human: bool = False


def asked_of(contenders: Sequence[Contender]) -> NDArray[np.bool_] | None:
    """Return (questions,) which questions everybody was asked; None where that is all of them.

    People are asked a sample: who stands beside them is read on it too.
    """
    asked = [run != NONE for one in contenders if one.is_human for run in one.runs]
    return functools.reduce(np.logical_and, asked) if asked else None
