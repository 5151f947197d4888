"""The scorer of all predictions, of participants and of models.

Predictions are codes of a split's vocabulary in question order. Negative codes are not in the vocabulary and are wrong.
Only a guess among several answers, a code below `GUESS`, counts as partly correct, by its probability.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.replies.vocabulary import OUTSIDE as OUTSIDE

NONE = -2  # no answer
TIE = -3  # several answers were given equally often
DECIMALS = 6  # decimal places of the expected number of correct guesses
GUESS = -1000  # GUESS - n is a guess among n equally likely answers


class Slicing(NamedTuple):
    """A facet by which scores are broken down.

    Attributes
    ----------
    codes : array (questions,) of unsigned integers
        Positions in the facet's values; the type's highest code for no value.
    values : int
        Number of values.
    is_flags : bool
        Whether a code is a bit mask: bit `i` is set if value `i` holds.
    """

    codes: NDArray[np.unsignedinteger]
    values: int
    is_flags: bool = False


class Slice(NamedTuple):
    """The number of questions with each value of a facet, and how many of them were correct; both have shape (values,).

    If two facets are crossed, both have shape (values of one, values of the other). Counts are int64; with guesses
    `right` is the expected number, float64.
    """

    n: NDArray[np.int64]
    right: NDArray[np.int64] | NDArray[np.float64]


class ScoreCounts(NamedTuple):
    """The score of predictions: `right` of `n` questions are correct, and the same for each value of each facet.

    With guesses, `right` is the expected number, rounded to a millionth.
    """

    n: int
    right: float
    facets: Mapping[str, Slice]

    @property
    def accuracy(self) -> float | None:
        """Return the share of correct answers, 0 .. 1; None without questions."""
        return self.right / self.n if self.n else None


def score(
    predictions: NDArray[np.integer],
    answers: NDArray[np.integer],
    slicings: Mapping[str, Slicing],
    *,
    among: NDArray[np.bool_] | None = None,
) -> ScoreCounts:
    """Return the score of predictions, overall and by each facet.

    Parameters
    ----------
    predictions, answers : arrays (questions,) of integers
        Codes of one vocabulary. A negative prediction is wrong, except that a guess is partly correct.
    slicings : mapping of str to Slicing
    among : array (questions,) of bool, or None
        The questions to score, such as those of a sample; None for all.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    for name, length in {"predictions": len(predictions), **{k: len(v.codes) for k, v in slicings.items()}}.items():
        if length != len(answers):
            raise ValueError(f"Expected {len(answers)} {name}, got {length}.")
    wanted = slice(None) if among is None else among
    is_right = right_of(predictions, answers)[wanted]
    facets = {name: _slice(one, one.codes[wanted], is_right) for name, one in slicings.items()}
    right = is_right.sum()
    return ScoreCounts(
        len(is_right), int(right) if is_right.dtype == np.bool_ else round(float(right), DECIMALS), facets
    )


def is_guess(predictions: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return (questions,) bool: whether each prediction is a guess."""
    return np.asarray(predictions, np.int64) < GUESS


def right_of(predictions: NDArray[np.integer], answers: NDArray[np.integer]) -> NDArray[np.bool_] | NDArray[np.float64]:
    """Return (questions,) whether each prediction is correct; with guesses, the probability of it, 0 .. 1."""
    is_right = (predictions == answers) & (np.asarray(predictions, np.int64) >= 0)
    guessed = is_guess(predictions) & (np.asarray(answers, np.int64) >= 0)
    if not guessed.any():
        return is_right
    return np.where(guessed, 1 / np.maximum(1, GUESS - np.asarray(predictions, np.int64)), is_right)


def _slice(
    slicing: Slicing, codes: NDArray[np.unsignedinteger], is_right: NDArray[np.bool_] | NDArray[np.float64]
) -> Slice:
    none = int(np.iinfo(codes.dtype).max)
    n = np.bincount(codes, minlength=none + 1)[:none]
    if is_right.dtype == np.bool_:
        right = np.bincount(codes[is_right.astype(np.bool_)], minlength=none + 1)[:none]
    else:
        right = np.bincount(codes, weights=is_right, minlength=none + 1)[:none].round(DECIMALS)
    if not slicing.is_flags:
        return Slice(n[: slicing.values], right[: slicing.values])
    masks = np.arange(none)
    has = [(masks >> bit) & 1 == 1 for bit in range(slicing.values)]
    return Slice(
        np.array([n[one].sum() for one in has], np.int64), np.array([right[one].sum() for one in has], right.dtype)
    )


def in_bands(codes: NDArray[np.unsignedinteger], numbers: Sequence[int], bands: Sequence[tuple[int, int]]) -> Slicing:
    """Return a numeric facet as a slicing by bands of numbers.

    Parameters
    ----------
    codes : array (questions,) of unsigned integers
        Positions in `numbers`; the type's highest code for no value.
    numbers : sequence of int
    bands : sequence of (first, last)
        Bands with both ends included; they must not overlap. A number outside all bands has no value.
    """
    none = int(np.iinfo(codes.dtype).max)
    values, table = np.array(numbers, np.int64), np.full(none + 1, none, codes.dtype)
    for place, (first, last) in enumerate(bands):
        table[: len(values)][(first <= values) & (values <= last)] = place
    return Slicing(table[codes], len(bands))


def tally(one: Slicing, two: Slicing, *, among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Return (values of one, values of two): the number of questions with both values."""
    wanted = slice(None) if among is None else among
    wide = two.values + 1
    found = np.zeros((one.values + 1) * wide, np.int64)
    for rows in layers(one, one.codes[wanted]):
        for columns in layers(two, two.codes[wanted]):
            found += np.bincount(rows * wide + columns, minlength=len(found))
    return found.reshape(one.values + 1, wide)[: one.values, : two.values]


def layers(slicing: Slicing, codes: NDArray[np.unsignedinteger]) -> Iterator[NDArray[np.int64]]:
    """Yield the value of each question, `slicing.values` for none. For flags, yield one array for each flag."""
    none = np.iinfo(codes.dtype).max
    if not slicing.is_flags:
        yield np.minimum(codes, slicing.values).astype(np.int64)
        return
    for bit in range(slicing.values):
        yield np.where((codes >> bit & 1 == 1) & (codes != none), bit, slicing.values)
