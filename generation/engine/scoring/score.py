"""The one scorer: how predictions, be they people's or a model's, are held against answers.

Predictions are codes of a split's vocabulary in question order; negative ones are no answer of it, and wrong. Only a
guess among several answers, a code below `GUESS`, is right in part: as likely as it is right.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

OUTSIDE = -1  # an answer that the vocabulary doesn't have
NONE = -2  # no answer
TIE = -3  # several answers were given equally often
DECIMALS = 6  # of how many guesses are right
GUESS = -1000  # this less n is a guess among n answers, each as likely


class Accuracy:
    """The share of questions answered rightly; terms 1 or 0 over 1."""

    name: ClassVar[str] = "accuracy"
    label: ClassVar[str] = "accuracy"
    higher_is_better: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def terms(
        self, answers: NDArray[np.int64], predictions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return numerators and denominators, shape `(questions,)`, for codes; a negative prediction is wrong."""
        right = (answers == predictions) & (predictions >= 0)
        return right.astype(np.int64), np.ones(len(answers), np.int64)


ACCURACY = Accuracy()


class Slicing(NamedTuple):
    """A facet by which scores are broken down.

    Attributes
    ----------
    codes : array (questions,) of unsigned integers
        Positions in the facet's values; the type's highest code where there is none.
    values : int
        How many values there are.
    is_flags : bool
        Whether a code is a bit mask instead: bit `i` says that value `i` holds.
    """

    codes: NDArray[np.unsignedinteger]
    values: int
    is_flags: bool = False


class Slice(NamedTuple):
    """Of how many questions with each value of a facet the predictions were right; both (values,).

    Where two facets are crossed both are (values of one, values of the other). Counts are of int64; how many guesses
    are right is what is expected, of float64.
    """

    n: NDArray[np.int64]
    right: NDArray[np.int64] | NDArray[np.float64]


class Score(NamedTuple):
    """How right predictions were: of `n` questions `right`, and the same for each value of each facet.

    Of guesses `right` is how many are expected to be right, to a millionth.
    """

    n: int
    right: float
    facets: Mapping[str, Slice]

    @property
    def accuracy(self) -> float | None:
        """Return the share that was right, 0 .. 1; None of nothing."""
        return self.right / self.n if self.n else None


def score(
    predictions: NDArray[np.integer],
    answers: NDArray[np.integer],
    slicings: Mapping[str, Slicing],
    *,
    among: NDArray[np.bool_] | None = None,
) -> Score:
    """Return how right predictions are, overall and by every facet.

    Parameters
    ----------
    predictions, answers : arrays (questions,) of integers
        Codes of one vocabulary; a negative prediction is wrong, and a guess right in part.
    slicings : mapping of str to Slicing
    among : array (questions,) of bool, or None
        Only these questions are looked at, as a sample's; None for all.

    Raises
    ------
    ValueError
        If lengths differ.
    """
    for name, length in {"predictions": len(predictions), **{k: len(v.codes) for k, v in slicings.items()}}.items():
        if length != len(answers):
            raise ValueError(f"Expected {len(answers)} {name}, got {length}.")
    wanted = slice(None) if among is None else among
    is_right = right_of(predictions, answers)[wanted]
    facets = {name: _slice(one, one.codes[wanted], is_right) for name, one in slicings.items()}
    right = is_right.sum()
    return Score(len(is_right), int(right) if is_right.dtype == np.bool_ else round(float(right), DECIMALS), facets)


def is_guess(predictions: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return (questions,) which predictions are guesses."""
    return np.asarray(predictions, np.int64) < GUESS


def right_of(predictions: NDArray[np.integer], answers: NDArray[np.integer]) -> NDArray[np.bool_] | NDArray[np.float64]:
    """Return (questions,) which predictions are right; where some are guesses, how likely each is right, 0 .. 1."""
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


def banded(codes: NDArray[np.unsignedinteger], numbers: Sequence[int], bands: Sequence[tuple[int, int]]) -> Slicing:
    """Return a facet of numbers, to be broken down by bands of them.

    Parameters
    ----------
    codes : array (questions,) of unsigned integers
        Positions in `numbers`; the type's highest code where there is none.
    numbers : sequence of int
    bands : sequence of (first, last)
        Both included; no two have a number in common. A number in no band has no value.
    """
    none = int(np.iinfo(codes.dtype).max)
    values, table = np.array(numbers, np.int64), np.full(none + 1, none, codes.dtype)
    for place, (first, last) in enumerate(bands):
        table[: len(values)][(first <= values) & (values <= last)] = place
    return Slicing(table[codes], len(bands))


def tally(one: Slicing, two: Slicing, *, among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Return (values of one, values of two), how many questions have both."""
    wanted = slice(None) if among is None else among
    wide = two.values + 1
    found = np.zeros((one.values + 1) * wide, np.int64)
    for rows in _layers(one, one.codes[wanted]):
        for columns in _layers(two, two.codes[wanted]):
            found += np.bincount(rows * wide + columns, minlength=len(found))
    return found.reshape(one.values + 1, wide)[: one.values, : two.values]


def _layers(slicing: Slicing, codes: NDArray[np.unsignedinteger]) -> Iterator[NDArray[np.int64]]:
    """Yield values of questions, `slicing.values` for none: all at once, of flags one after the other."""
    none = np.iinfo(codes.dtype).max
    if not slicing.is_flags:
        yield np.minimum(codes, slicing.values).astype(np.int64)
        return
    for bit in range(slicing.values):
        yield np.where((codes >> bit & 1 == 1) & (codes != none), bit, slicing.values)


def crossed(
    predictions: NDArray[np.integer],
    answers: NDArray[np.integer],
    one: Slicing,
    two: Slicing,
    *,
    among: NDArray[np.bool_] | None = None,
) -> Slice:
    """Return how right predictions without guesses are, by every two values of two facets; see `score`."""
    is_right = right_of(predictions, answers).astype(np.bool_)
    counted = is_right if among is None else is_right & among
    return Slice(tally(one, two, among=among), tally(one, two, among=counted))
