"""Several people's answers to each question: what the majority says, what Dawid and Skene's model says, how they agree.

Answers are kept in three arrays of one length, an entry for each answer: which question, which person, which answer.
Questions and persons are numbered from 0; answers are codes of the vocabulary.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.score import NONE, TIE

ENOUGH = 50  # answers of a kind from which a person's confusions are estimated one by one
PASSES = 200
CLOSE = 1e-7
PRIOR = 1.0  # right answers and wrong answers that everybody is taken to have given before


class Votes(NamedTuple):
    """Answers, in no particular order.

    Attributes
    ----------
    questions, people, answers : arrays (answers,) of int64
        Of each answer its question, its person, and its code of the vocabulary, 0 or more.
    n : int
        How many questions there are, answered or not.
    """

    questions: NDArray[np.int64]
    people: NDArray[np.int64]
    answers: NDArray[np.int64]
    n: int


class VoteCounts(NamedTuple):
    """How often each answer was given to each question, by question and then by code.

    Attributes
    ----------
    questions, answers : arrays (pairs,) of int64
        Each question with each answer that it got.
    times : array (pairs,) of float64
        How often, or the sum of those answers' weights.
    """

    questions: NDArray[np.int64]
    answers: NDArray[np.int64]
    times: NDArray[np.float64]


def counted(votes: Votes, weights: NDArray[np.float64] | None = None) -> VoteCounts:
    """Return how often each answer was given to each question; `weights` (answers,) counts some more than others."""
    width = int(votes.answers.max(initial=0)) + 1
    pairs, places = np.unique(votes.questions * width + votes.answers, return_inverse=True)
    return VoteCounts(
        pairs // width, pairs % width, np.bincount(places, weights=weights, minlength=len(pairs)).astype(float)
    )


def majority(votes: Votes) -> NDArray[np.int64]:
    """Return (n,) each question's most frequent answer: `TIE` where several are, `NONE` where there is no answer."""
    found = np.full(votes.n, NONE, np.int64)
    pairs = counted(votes)
    if not len(pairs.times):
        return found
    starts = np.flatnonzero(np.diff(pairs.questions, prepend=-1))
    most = np.maximum.reduceat(pairs.times, starts)
    is_most = pairs.times == np.repeat(most, np.diff(np.append(starts, len(pairs.times))))
    several = np.add.reduceat(is_most.astype(np.int64), starts) > 1
    found[pairs.questions[is_most]] = pairs.answers[is_most]
    found[pairs.questions[starts[several]]] = TIE
    return found


class VoteModel(NamedTuple):
    """What Dawid and Skene's model makes of answers of one kind.

    Attributes
    ----------
    answers : array (n,) of int64
        The likeliest answer to each question, `NONE` where there is none of the kind.
    sure : array (n,) of float64
        How likely it is, 0 where there is none.
    skill : array (people,) of float64
        The share of a person's answers that the model takes to be right; NaN for who gave none.
    is_simple : array (people,) of bool
        Whether a person is described by that share alone, having given fewer than `ENOUGH` answers.
    passes : int
    """

    answers: NDArray[np.int64]
    sure: NDArray[np.float64]
    skill: NDArray[np.float64]
    is_simple: NDArray[np.bool_]
    passes: int


def dawid_skene(votes: Votes, classes: Sequence[int], *, enough: int = ENOUGH) -> VoteModel:
    """Return the likeliest true answers, by expectation maximisation from the shares of votes.

    Who gave `enough` answers has a confusion matrix; who gave fewer errs with one probability, to all other classes
    alike. Every person is taken to have been right and wrong `PRIOR` times before, with each true class.

    Parameters
    ----------
    votes : Votes
        Only questions whose true answer is of one kind. Answers outside `classes` are passed over.
    classes : sequence of int
        The codes of the answers of that kind, ascending; two or more.
    enough : int

    References
    ----------
    Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm.
    """
    known = np.asarray(classes, np.int64)
    size = len(known)
    is_known = np.isin(votes.answers, known)
    questions, people = votes.questions[is_known], votes.people[is_known]
    given = np.searchsorted(known, votes.answers[is_known])
    crowd = int(votes.people.max(initial=-1)) + 1
    each = np.bincount(people, minlength=crowd)
    is_simple = each < enough
    asked, rows = np.unique(questions, return_inverse=True)
    belief = np.zeros((len(asked), size))
    np.add.at(belief, (rows, given), 1.0)
    belief /= belief.sum(axis=1, keepdims=True)
    change, passes = 1.0, 0
    while change >= CLOSE and passes < PASSES:
        confusion = _confusion(belief, rows, people, given, crowd=crowd, is_simple=is_simple)
        prior = belief.sum(axis=0) + 1.0 / size
        log = np.tile(np.log(prior / prior.sum()), (len(asked), 1))
        np.add.at(log, rows, np.log(confusion[people, :, given]))
        log -= log.max(axis=1, keepdims=True)
        before, belief = belief, np.exp(log)
        belief /= belief.sum(axis=1, keepdims=True)
        change, passes = float(np.abs(belief - before).max(initial=0.0)), passes + 1
    answers, sure = np.full(votes.n, NONE, np.int64), np.zeros(votes.n)
    answers[asked], sure[asked] = known[belief.argmax(axis=1)], belief.max(axis=1, initial=0.0)
    right = np.bincount(people, weights=belief[rows, given], minlength=crowd)
    with np.errstate(invalid="ignore"):
        skill = np.where(each > 0, right / each, np.nan)
    return VoteModel(answers, sure, skill, is_simple, passes)


def _confusion(
    belief: NDArray[np.float64],
    rows: NDArray[np.int64],
    people: NDArray[np.int64],
    given: NDArray[np.int64],
    *,
    crowd: int,
    is_simple: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return (people, classes, classes) how likely each person gives each answer where another is true."""
    size = belief.shape[1]
    seen = np.empty((crowd, size, size))
    for true in range(size):
        times = np.bincount(people * size + given, belief[rows, true], crowd * size)
        seen[:, true] = times.reshape(crowd, size)
    prior = np.full((size, size), PRIOR / (size - 1))
    np.fill_diagonal(prior, PRIOR)
    full = seen + prior
    full /= full.sum(axis=2, keepdims=True)
    right = np.trace(seen, axis1=1, axis2=2) + PRIOR
    share = right / (seen.sum(axis=(1, 2)) + 2 * PRIOR)
    simple = np.broadcast_to(((1 - share) / (size - 1))[:, None, None], seen.shape).copy()
    simple[:, np.arange(size), np.arange(size)] = share[:, None]
    return np.where(is_simple[:, None, None], simple, full)
