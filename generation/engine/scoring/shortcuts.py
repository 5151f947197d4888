"""Answering without looking: guesses from what a question's words tell, learned on one split and scored on another.

Everything is arrays of codes. A question's *group* is what a cue tells of it: its type, its template, its first
words; -1 where the cue tells nothing. Answers are codes of the vocabulary; `UNKNOWN` is an answer outside it, `NONE`
no answer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNKNOWN, NONE = -1, -2
SAMPLING = 20  # the seed of samples

Ints = NDArray[np.int64]


class Score(NamedTuple):
    """How many of how many questions were answered rightly, and the share that guessing would get right."""

    n: int
    right: int
    chance: float


def modes(groups: Ints, answers: Ints, *, count: int) -> Ints:
    """Return the most frequent answer of each group; of answers as frequent, the one with the lowest code.

    Parameters
    ----------
    groups, answers : arrays (questions,)
        Of questions to learn from.
    count : int
        How many groups there are.

    Returns
    -------
    array (count + 1,)
        The guess for each group; last, and for groups of which nothing was learned, the most frequent answer of all.
        `NONE` everywhere where no question has an answer.
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


def score(guesses: Ints, answers: Ints, chances: NDArray[np.float64]) -> Score:
    """Return how guesses fare; questions without an answer don't count.

    Parameters
    ----------
    guesses, answers : arrays (questions,)
    chances : array (questions,)
        The probability with which a uniform guess among the answers that a question admits is right.
    """
    answered = answers != NONE
    n = int(answered.sum())
    right = int(((guesses == answers) & (answers >= 0)).sum())
    return Score(n, right, round(float(chances[answered].mean()), 6) if n else 0.0)


def table(values: Sequence[str], wanted: Sequence[str], *, size: int) -> Ints:
    """Return, for each of `size` codes of `values`, the code that `wanted` has for the same value, or -1.

    Codes beyond `values`, such as that of no value, become -1.
    """
    codes = {value: code for code, value in enumerate(wanted)}
    found = np.full(size, -1, dtype=np.int64)
    found[: len(values)] = [codes.get(value, -1) for value in values]
    return found


def distinct(texts: NDArray[np.uint64]) -> int:
    """Return how many different texts there are, of which each is given as its hash."""
    return len(np.unique(texts))


def known(texts: NDArray[np.uint64], learned: NDArray[np.uint64]) -> int:
    """Return how many of `texts` are among `learned`; one that is there twice counts twice."""
    return int(np.isin(texts, learned).sum())


def sampled(n: int, most: int) -> Ints:
    """Return at most so many of the positions 0 .. n-1, in order: of as many equal parts one each, by chance.

    The same `n` and `most` give the same positions.
    """
    if n <= most:
        return np.arange(n)
    chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence(SAMPLING))).random(most)
    ends = np.arange(most + 1) * n // most
    return ends[:-1] + np.floor(chance * np.diff(ends)).astype(np.int64)
