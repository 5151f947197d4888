"""Answering by a bag of words: a linear classifier over n-grams of those sentences that share a word with the question.

It sees which words and short phrases are there, not in which order sentences stand nor what follows from them. What it
gets right, a reader could get right without reasoning.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 5, whose features these are; what is fitted to them
here is a ridge regression on which answer is right.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.language.vocabulary import split_words

LONGEST = 3  # words of an n-gram
RIDGE = 10.0
MOST = 4000  # n-grams of a model, the most frequent ones: solving for them takes seconds
BLOCK = 500  # questions whose features are held at a time
PLACES = 6  # decimals of scores that are compared

Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]


class ReadQuestion(NamedTuple):
    """A question with the sentences that it sees; each group is learned for itself."""

    group: str
    sentences: Sequence[str]
    question: str


class SentenceNgrams(NamedTuple):
    """The different words of a sentence, and its n-grams by number."""

    words: frozenset[str]
    grams: Ints


Bag = list[SentenceNgrams]


class Sentences:
    """Sentences by their texts, each taken apart once; the same n-gram has the same number in all."""

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
        """Return a question and the sentences that share a word with it, each as often as there."""
        question = self[asked.question]
        seen = [self[text] for text in asked.sentences]
        return [question, *(one for one in seen if not one.words.isdisjoint(question.words))]


def grams_of(words: Sequence[str]) -> Iterator[str]:
    """Yield the n-grams of a sentence."""
    for length in range(1, LONGEST + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


class Model:
    """A linear classifier of the bags of one group.

    Parameters
    ----------
    bags : sequence of Bag
        That of each example.
    answers : sequence of str
        That of each example.
    """

    def __init__(self, bags: Sequence[Bag], answers: Sequence[str]) -> None:
        self.answers = sorted(set(answers))
        self.columns = _most_frequent(bags)
        codes = {answer: code for code, answer in enumerate(self.answers)}
        wanted = np.array([codes[answer] for answer in answers])
        self._fit(bags, np.eye(len(self.answers))[wanted])

    def _fit(self, bags: Sequence[Bag], wanted: Matrix) -> None:
        """Solve for weights, from sums over blocks of examples: so any number of them is learned from."""
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
        """Return how often each example has each n-gram, (examples, n-grams); those not learned are left out."""
        found = np.zeros((len(bags), len(self.columns)))
        places = np.full(int(self.columns.max(initial=-1)) + 2, -1, np.int64)
        places[self.columns] = np.arange(len(self.columns))
        for row, bag in enumerate(bags):
            at = places[np.minimum(_grams(bag), len(places) - 1)]
            found[row] = np.bincount(at[at >= 0], minlength=len(self.columns))
        return found

    def guess(self, bags: Sequence[Bag]) -> list[str]:
        """Return the likeliest answer of each; of those as likely the first of the alphabet."""
        scores = np.round(self.counted(bags) @ self.weights + self.constant, PLACES)
        return [self.answers[code] for code in scores.argmax(axis=1)]


def _grams(bag: Bag) -> Ints:
    return np.concatenate([one.grams for one in bag])


def _most_frequent(bags: Sequence[Bag]) -> Ints:
    """Return the n-grams to go by, ascending: the most frequent; of those as frequent, the first that occurred."""
    counts = np.bincount(np.concatenate([_grams(bag) for bag in bags]))
    order = np.lexsort((np.arange(len(counts)), -counts))
    return np.sort(order[: min(MOST, int((counts > 0).sum()))])


def guesses(
    learned: Iterable[tuple[ReadQuestion, str]],
    asked: Iterable[ReadQuestion],
    *,
    check: Callable[[], None] = lambda: None,
) -> Iterator[str]:
    """Yield a guess for each question, in order: of its group's model; of a group never learned, the commonest answer.

    Nothing is guessed where nothing was learned: an empty string.

    Parameters
    ----------
    learned : iterable of (Read, str)
        Questions with their answers, read once.
    asked : iterable of Read
    check : callable
        Called between models and blocks; it may raise to stop.
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
