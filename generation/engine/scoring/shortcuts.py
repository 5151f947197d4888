"""Answering without pictures: guesses from a question's words, learned on one split and scored on another.

All data are arrays of codes. A question's *group* is the information that a cue gives: its type, its template or its
first words; -1 if the cue gives nothing. Answers are codes of the vocabulary; `UNKNOWN` is an answer outside it,
`NONE` is no answer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNKNOWN, NONE = -1, -2
SAMPLING = 20  # seed of samples

Ints = NDArray[np.int64]


class GuessScore(NamedTuple):
    """The number of questions, how many were answered correctly, and the expected share for random guessing."""

    n: int
    right: int
    chance: float


def modes(groups: Ints, answers: Ints, *, count: int) -> Ints:
    """Return the most frequent answer of each group; of equally frequent answers the one with the lowest code.

    Parameters
    ----------
    groups, answers : arrays (questions,)
        The questions to learn from.
    count : int
        Number of groups.

    Returns
    -------
    array (count + 1,)
        The guess for each group. Groups without questions, and the last entry, get the most frequent answer of all. All
        entries are `NONE` if no question has an answer.
    """
    answered = answers >= 0
    overall = _mode(answers[answered])
    guesses = np.full(count + 1, overall, dtype=np.int64)
    known = answered & (groups >= 0)
    if known.any():
        wide = int(answers.max()) + 1
        pairs, often = np.unique(groups[known] * wide + answers[known], return_counts=True)
        group, answer = pairs // wide, pairs % wide
        order = np.lexsort((answer, -often, group))
        first = np.unique(group[order], return_index=True)[1]
        guesses[group[order][first]] = answer[order][first]
    return guesses


def _mode(answers: Ints) -> int:
    return int(np.argmax(np.bincount(answers))) if len(answers) else NONE


def score(guesses: Ints, answers: Ints, chances: NDArray[np.float64]) -> GuessScore:
    """Return the score of guesses; questions without an answer do not count.

    Parameters
    ----------
    guesses, answers : arrays (questions,)
    chances : array (questions,)
        The probability that a uniform guess among the possible answers of a question is correct.
    """
    answered = answers != NONE
    n = int(answered.sum())
    right = int(((guesses == answers) & (answers >= 0)).sum())
    return GuessScore(n, right, round(float(chances[answered].mean()), 6) if n else 0.0)


def table(values: Sequence[str], wanted: Sequence[str], *, size: int) -> Ints:
    """Return, for each of `size` codes of `values`, the code of the same value in `wanted`, or -1.

    Codes beyond `values`, such as the code for no value, become -1.
    """
    codes = {value: code for code, value in enumerate(wanted)}
    found = np.full(size, -1, dtype=np.int64)
    found[: len(values)] = [codes.get(value, -1) for value in values]
    return found


def distinct(texts: NDArray[np.uint64]) -> int:
    """Return the number of different texts. Each text is given as its hash."""
    return len(np.unique(texts))


def count_known(texts: NDArray[np.uint64], learned: NDArray[np.uint64]) -> int:
    """Return how many of `texts` are in `learned`, counting repeats."""
    return int(np.isin(texts, learned).sum())


def sample_positions(n: int, most: int) -> Ints:
    """Return a stratified random sample of at most `most` of the positions 0 .. n-1, in order.

    The same `n` and `most` always give the same positions.
    """
    if n <= most:
        return np.arange(n)
    chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence(SAMPLING))).random(most)
    ends = np.arange(most + 1) * n // most
    return ends[:-1] + np.floor(chance * np.diff(ends)).astype(np.int64)
