"""Answering with a bag of words: a linear classifier over n-grams of the sentences that share a word with the question.

The classifier sees which words and short phrases occur, but neither the order of the sentences nor conclusions from
them. Therefore the questions that it answers correctly can be answered without reasoning.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 5. The features are taken from there; here a ridge
regression is fitted to them, with the correct answer as its target.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.language.token_vocabulary import split_words

LONGEST = 3  # number of words of the longest n-gram
RIDGE = 10.0
MOST = 4000  # number of n-grams in a model, the most frequent ones; solving for more takes too long
BLOCK = 500  # questions whose features are in memory at the same time
PLACES = 6  # decimals of scores in comparisons

Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]


class ReadQuestion(NamedTuple):
    """A question with the sentences that it may use. A separate model is learned for each group."""

    group: str
    sentences: Sequence[str]
    question: str


class SentenceNgrams(NamedTuple):
    """The different words of a sentence, and the numbers of its n-grams."""

    words: frozenset[str]
    grams: Ints


Bag = list[SentenceNgrams]


class Sentences:
    """Cached sentences. The same n-gram has the same number in all sentences."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.known: dict[str, SentenceNgrams] = {}

    def __getitem__(self, text: str) -> SentenceNgrams:
        found = self.known.get(text)
        if found is None:
            words = [word for word in split_words(text) if word[0].isalnum()]
            parts = [self.numbers.setdefault(gram, len(self.numbers)) for gram in grams_of(words)]
            found = self.known[text] = SentenceNgrams(frozenset(words), np.array(parts, np.int64))
        return found

    def bag(self, asked: ReadQuestion) -> Bag:
        """Return a question and the sentences that share a word with it, with repeats."""
        question = self[asked.question]
        seen = [self[text] for text in asked.sentences]
        return [question, *(one for one in seen if not one.words.isdisjoint(question.words))]


def grams_of(words: Sequence[str]) -> Iterator[str]:
    """Yield all n-grams of a sentence."""
    for length in range(1, LONGEST + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


@dataclass(frozen=True)
class Model:
    """A linear classifier for the bags of one group.

    Attributes
    ----------
    answers : sequence of str
    columns : array (n-grams,) of int64
        The numbers of the n-grams that it knows.
    weights : array (n-grams, answers) of float64
    constant : array (answers,) of float64
    """

    answers: Sequence[str]
    columns: Ints
    weights: Matrix
    constant: Matrix

    @classmethod
    def fit(cls, bags: Sequence[Bag], answers: Sequence[str]) -> "Model":
        """Return the classifier of examples, given by the bag and the answer of each."""
        known = sorted(set(answers))
        codes = {answer: code for code, answer in enumerate(known)}
        wanted = np.eye(len(known))[np.array([codes[answer] for answer in answers])]
        empty = cls(known, _most_frequent(bags), np.empty(0), np.empty(0))
        weights, constant = empty._solve(bags, wanted)
        return replace(empty, weights=weights, constant=constant)

    def _solve(self, bags: Sequence[Bag], wanted: Matrix) -> tuple[Matrix, Matrix]:
        """Return weights and constant. Sums over blocks of examples keep memory small for any number of examples."""
        wide, n = len(self.columns), len(bags)
        squares, products, total = np.zeros((wide, wide)), np.zeros((wide, wanted.shape[1])), np.zeros(wide)
        for start in range(0, n, BLOCK):
            counts = self.counted(bags[start : start + BLOCK])
            squares += counts.T @ counts
            products += counts.T @ wanted[start : start + BLOCK]
            total += counts.sum(axis=0)
        mean, shares = total / n, wanted.mean(axis=0)
        squares += RIDGE * np.eye(wide) - n * np.outer(mean, mean)
        weights = np.linalg.solve(squares, products - n * np.outer(mean, shares))
        return weights, shares - mean @ weights

    def counted(self, bags: Sequence[Bag]) -> Matrix:
        """Return the counts (examples, n-grams) of the learned n-grams in each example."""
        found = np.zeros((len(bags), len(self.columns)))
        places = np.full(int(self.columns.max(initial=-1)) + 2, -1, np.int64)
        places[self.columns] = np.arange(len(self.columns))
        for row, bag in enumerate(bags):
            at = places[np.minimum(_grams(bag), len(places) - 1)]
            found[row] = np.bincount(at[at >= 0], minlength=len(self.columns))
        return found

    def guess(self, bags: Sequence[Bag]) -> list[str]:
        """Return the most likely answer for each bag; of equally likely answers the first in the alphabet."""
        scores = np.round(self.counted(bags) @ self.weights + self.constant, PLACES)
        return [self.answers[code] for code in scores.argmax(axis=1)]


def _grams(bag: Bag) -> Ints:
    return np.concatenate([one.grams for one in bag])


def _most_frequent(bags: Sequence[Bag]) -> Ints:
    """Return the most frequent n-grams, ascending; of equally frequent ones those that occurred first."""
    counts = np.bincount(np.concatenate([_grams(bag) for bag in bags]))
    order = np.lexsort((np.arange(len(counts)), -counts))
    return np.sort(order[: min(MOST, int((counts > 0).sum()))])


class Classifier:
    """The models of all groups.

    Attributes
    ----------
    sentences : Sentences
        It has the numbers of all n-grams of the models.
    models : mapping of str to Model
        The model of each group.
    otherwise : str
        The guess for an unknown group.
    """

    def __init__(self, sentences: Sentences, models: Mapping[str, Model], otherwise: str) -> None:
        self.sentences, self.models, self.otherwise = sentences, models, otherwise

    @classmethod
    def learn(cls, learned: Iterable[tuple[ReadQuestion, str]], *, check: Callable[[], None]) -> "Classifier":
        """Return the classifier of questions with their answers. `check` is called between models."""
        sentences, bags, answers = Sentences(), dict[str, list[Bag]](), dict[str, list[str]]()
        for one, answer in learned:
            bags.setdefault(one.group, []).append(sentences.bag(one))
            answers.setdefault(one.group, []).append(answer)
        commonest = Counter(answer for each in answers.values() for answer in sorted(each)).most_common(1)
        models = {}
        for group in bags:
            check()
            models[group] = Model.fit(bags[group], answers[group])
        return cls(sentences, models, commonest[0][0] if commonest else "")

    def guesses(self, asked: Iterable[ReadQuestion], *, check: Callable[[], None] = lambda: None) -> Iterator[str]:
        """Yield a guess for each question, in order. `check` is called between blocks."""
        waiting = iter(asked)
        while block := list(islice(waiting, BLOCK)):
            check()
            yield from self._of_block(block)

    def _of_block(self, block: Sequence[ReadQuestion]) -> list[str]:
        found = [self.otherwise] * len(block)
        for group in dict.fromkeys(one.group for one in block):
            model = self.models.get(group)
            if model is not None:
                places = [at for at, one in enumerate(block) if one.group == group]
                bags = [self.sentences.bag(block[at]) for at in places]
                for at, guess in zip(places, model.guess(bags), strict=True):
                    found[at] = guess
        return found


def guesses(
    learned: Iterable[tuple[ReadQuestion, str]],
    asked: Iterable[ReadQuestion],
    *,
    check: Callable[[], None] = lambda: None,
) -> Iterator[str]:
    """Yield a guess for each question, in order, from the model of its group.

    For an unknown group the guess is the most frequent answer of all, and an empty string if nothing was learned.

    Parameters
    ----------
    learned : iterable of (ReadQuestion, str)
        Questions with their answers; iterated once.
    asked : iterable of ReadQuestion
    check : callable
        Called between models and blocks. It may raise an exception to stop.
    """
    yield from Classifier.learn(learned, check=check).guesses(asked, check=check)
