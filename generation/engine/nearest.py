"""Nearest questions by their words: the highest share of words in common.

Two questions are as near as the words they share are many among the words of either (Jaccard 1901); a word counts once,
however often it occurs. Of questions as near, the first one counts. Shares are compared as fractions, exactly.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Words(NamedTuple):
    """Which questions have which words.

    Attributes
    ----------
    starts : array (words + 1,) of int64
        Where each word's postings start.
    postings : array of uint32
        Positions of the questions that have a word, word after word.
    sizes : array (questions,) of int64
        How many different words a question has.
    """

    starts: NDArray[np.int64]
    postings: NDArray[np.uint32]
    sizes: NDArray[np.int64]


def words_of(postings: Sequence[NDArray[np.uint32]], *, questions: int) -> Words:
    """Return the words of so many questions, from the positions of those that have each word."""
    starts = np.zeros(len(postings) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in postings], out=starts[1:])
    flat = np.concatenate([*postings, np.zeros(0, dtype=np.uint32)]).astype(np.uint32)
    return Words(starts, flat, np.bincount(flat, minlength=questions).astype(np.int64))


def bags(words: Mapping[str, NDArray[np.uint32]], asked: NDArray[np.int64]) -> list[set[str]]:
    """Return the words of the questions at the positions `asked`, from the positions of those that have each word."""
    found: list[set[str]] = [set() for _ in asked]
    for word, positions in words.items():
        for place in np.flatnonzero(np.isin(asked, positions)):
            found[place].add(word)
    return found


def nearest(
    known: Words, asked: Sequence[NDArray[np.int64]], sizes: Sequence[int], usable: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the position of the nearest of the known questions for each that is asked.

    Parameters
    ----------
    known : Words
    asked : sequence of arrays
        Of each question the codes of those of its words that `known` has.
    sizes : sequence of int
        How many different words each has, those that `known` doesn't have too.
    usable : array (known questions,) of bool
        Which of them may be named.

    Returns
    -------
    array (asked,) of int64
        -1 where none may be named.
    """
    found = np.empty(len(asked), dtype=np.int64)
    shared = np.zeros(len(known.sizes), dtype=np.int32)
    for place, (codes, size) in enumerate(zip(asked, sizes, strict=True)):
        found[place] = _nearest(known.starts, known.postings, known.sizes, codes, size, usable, shared)
    return found


@njit(cache=True)
def _nearest(
    starts: NDArray[np.int64],
    postings: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    size: int,
    usable: NDArray[np.bool_],
    shared: NDArray[np.int32],
) -> int:
    """Return the first of the questions that share most; `shared` is room to count in."""
    shared[:] = 0
    for code in codes:
        for at in range(starts[code], starts[code + 1]):
            shared[postings[at]] += 1
    best, common, either = -1, 0, 1
    for place in range(len(sizes)):
        if usable[place]:
            union = size + sizes[place] - shared[place]
            if best < 0 or shared[place] * either > common * union:
                best, common, either = place, shared[place], union
    return best
