"""Several people's answers to each question: majority votes and the model of Dawid and Skene.

Answers are stored in three arrays with one entry for each answer: its question, its person and the answer. Questions
and persons are numbered from 0; answers are codes of the vocabulary.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.score import NONE, TIE

ENOUGH = 50  # answers from which a person's full confusion matrix is estimated
PASSES = 200
CLOSE = 1e-7
PRIOR = 1.0  # correct and wrong answers that are added for everybody


class Votes(NamedTuple):
    """Answers, in no particular order.

    Attributes
    ----------
    questions, people, answers : arrays (answers,) of int64
        The question and the person of each answer, and its code in the vocabulary, 0 or more.
    n : int
        The number of questions, with or without answers.
    """

    questions: NDArray[np.int64]
    people: NDArray[np.int64]
    answers: NDArray[np.int64]
    n: int


class VoteCounts(NamedTuple):
    """How often each answer was given to each question, sorted by question and then by code.

    Attributes
    ----------
    questions, answers : arrays (pairs,) of int64
        All pairs of a question and an answer that it got.
    times : array (pairs,) of float64
        The number of these answers, or the sum of their weights.
    """

    questions: NDArray[np.int64]
    answers: NDArray[np.int64]
    times: NDArray[np.float64]


def count_votes(votes: Votes, weights: NDArray[np.float64] | None = None) -> VoteCounts:
    """Return how often each answer was given to each question, with optional `weights` (answers,)."""
    width = int(votes.answers.max(initial=0)) + 1
    pairs, places = np.unique(votes.questions * width + votes.answers, return_inverse=True)
    return VoteCounts(
        pairs // width, pairs % width, np.bincount(places, weights=weights, minlength=len(pairs)).astype(float)
    )


def majority(votes: Votes) -> NDArray[np.int64]:
    """Return (n,) each question's most frequent answer: `TIE` if there are several, `NONE` if there are no answers."""
    found = np.full(votes.n, NONE, np.int64)
    pairs = count_votes(votes)
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
    """The result of Dawid and Skene's model for answers of one kind.

    Attributes
    ----------
    answers : array (n,) of int64
        The most likely answer to each question; `NONE` for questions without answers of this kind.
    sure : array (n,) of float64
        The probability of that answer; 0 if there is none.
    skill : array (people,) of float64
        The share of a person's answers that are correct according to the model; NaN for persons without answers.
    is_simple : array (people,) of bool
        Whether a person is described only by that share, because they gave fewer than `enough` answers.
    passes : int
    """

    answers: NDArray[np.int64]
    sure: NDArray[np.float64]
    skill: NDArray[np.float64]
    is_simple: NDArray[np.bool_]
    passes: int


def dawid_skene(votes: Votes, classes: Sequence[int], *, enough: int = ENOUGH) -> VoteModel:
    """Return the most likely true answers, by expectation maximisation that starts from the shares of votes.

    A person with at least `enough` answers has a confusion matrix. A person with fewer answers errs with a single
    probability, equally towards all other classes. `PRIOR` correct and wrong answers are added for every person and
    true class.

    Parameters
    ----------
    votes : Votes
        Only questions whose true answer is of one kind. Answers outside `classes` are ignored.
    classes : sequence of int
        The codes of the answers of that kind, ascending; at least two.
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
    """Return (people, classes, classes) the probability that a person gives each answer if another is true."""
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
