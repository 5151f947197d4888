"""Answering with a bag of words: a linear classifier over n-grams of the sentences that share a word with the question.

The classifier sees which words and short phrases occur, but neither the order of the sentences nor conclusions from
them. Therefore the questions that it answers correctly can be answered without reasoning.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 5. The features are taken from there; here a ridge
regression is fitted to them, with the correct answer as its target.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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


class Model:
    """A linear classifier for the bags of one group.

    Parameters
    ----------
    bags : sequence of Bag
        The bag of each example.
    answers : sequence of str
        The answer of each example.
    """

    def __init__(self, bags: Sequence[Bag], answers: Sequence[str]) -> None:
        self.answers = sorted(set(answers))
        self.columns = _most_frequent(bags)
        codes = {answer: code for code, answer in enumerate(self.answers)}
        wanted = np.array([codes[answer] for answer in answers])
        self._fit(bags, np.eye(len(self.answers))[wanted])

    def _fit(self, bags: Sequence[Bag], wanted: Matrix) -> None:
        """Solve for the weights. Sums over blocks of examples keep memory small for any number of examples."""
        wide, n = len(self.columns), len(bags)
        squares, products, total = np.zeros((wide, wide)), np.zeros((wide, wanted.shape[1])), np.zeros(wide)
        for start in range(0, n, BLOCK):
            counts = self.counted(bags[start : start + BLOCK])
            squares += counts.T @ counts
            products += counts.T @ wanted[start : start + BLOCK]
            total += counts.sum(axis=0)
        mean, shares = total / n, wanted.mean(axis=0)
        squares += RIDGE * np.eye(wide) - n * np.outer(mean, mean)
        self.weights = np.linalg.solve(squares, products - n * np.outer(mean, shares))
        self.constant = shares - mean @ self.weights

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
    sentences, bags, answers = Sentences(), dict[str, list[Bag]](), dict[str, list[str]]()
    for one, answer in learned:
        bags.setdefault(one.group, []).append(sentences.bag(one))
        answers.setdefault(one.group, []).append(answer)
    commonest = Counter(answer for each in answers.values() for answer in sorted(each)).most_common(1)
    otherwise = commonest[0][0] if commonest else ""
    models = {}
    for group in bags:
        check()
        models[group] = Model(bags[group], answers[group])
    waiting = iter(asked)
    while block := list(islice(waiting, BLOCK)):
        check()
        yield from _of_block(block, sentences, models, otherwise)


def _of_block(
    block: Sequence[ReadQuestion], sentences: Sentences, models: dict[str, Model], otherwise: str
) -> Iterator[str]:
    found = [otherwise] * len(block)
    for group in dict.fromkeys(one.group for one in block):
        model = models.get(group)
        if model is not None:
            places = [at for at, one in enumerate(block) if one.group == group]
            for at, guess in zip(places, model.guess([sentences.bag(block[at]) for at in places]), strict=True):
                found[at] = guess
    yield from found
