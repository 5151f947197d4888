"""Bag of words: multinomial logistic regression over the words of the question, and of its story if it has one.

The method sees no picture. Words of questions and words of stories have separate weights, and each of the two bags is
scaled to length 1.

References
----------
Zhou et al. 2015, Simple Baseline for Visual Question Answering, the row BOW.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.language.token_vocabulary import Vocabulary, split_words
from generation.engine.learners.base import (
    NUMBER_BYTES,
    Arrays,
    DataShape,
    EpochConfig,
    ExampleParts,
    LearnerConfig,
    Prediction,
    TrainingReporter,
)
from generation.engine.learners.classical.adam import Adam, Weights
from generation.engine.learners.epoch_learner import EpochLearner, batches_of
from generation.engine.learners.examples import Examples

BLOCK = 1000  # examples that are answered in one step

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class BagOfWordsConfig(EpochConfig):
    """The settings of the bag of words. The paper gives none of these values.

    Attributes
    ----------
    weight_decay : float
        The weight of half the sum of the squared weights in the loss.
    """

    epochs: int = Field(100, ge=1, le=10_000)
    learning_rate: float = Field(0.01, gt=0, le=10)
    weight_decay: float = Field(1e-5, ge=0, le=1)


class Words(NamedTuple):
    """The words of texts.

    Attributes
    ----------
    starts : array (texts + 1,) of int64
        The start of each text's words in `numbers`.
    numbers : array of int64
    """

    starts: Ints
    numbers: Ints


class BagOfWords(EpochLearner):
    """Multinomial logistic regression, trained by Adam.

    Attributes
    ----------
    weights : dict of str to array
        `words`, with a row for each word of questions and then, if the training examples have stories, a row for each
        word of stories, and a column for each answer; and `constant (answers,)`.
    vocabulary : Vocabulary
    """

    name = "bag-of-words"
    label = "Bag of words"
    source = "Zhou et al. 2015, Simple Baseline for Visual Question Answering, the row BOW"
    uses = ExampleParts(stories=True)
    config_model: ClassVar[type[LearnerConfig]] = BagOfWordsConfig
    mini: ClassVar[Mapping[str, Any]] = {"epochs": 30}
    config: BagOfWordsConfig

    def begin(self, train: Examples) -> None:
        """Collect the words, and begin with weights of 0."""
        stories = {line for story in train.stories or () for line in story}
        words = {word for text in (*set(train.texts), *stories) for word in split_words(text)}
        self.vocabulary = Vocabulary(words, train.vocabulary)
        shape = ((1 + train.has("stories")) * len(self.vocabulary), len(train.vocabulary))
        self.weights: Weights = {"words": np.zeros(shape), "constant": np.zeros(shape[1])}
        self.adam = Adam(self.weights, learning_rate=self.config.learning_rate)
        self.training_words = self._read(train)

    def run_epoch(self, train: Examples, chance: np.random.Generator, *, epoch: int, report: TrainingReporter) -> float:
        """Pass through the training examples once, and return the mean loss."""
        words, codes, total, seen = self.training_words, train.codes, 0.0, 0
        for rows in batches_of(len(train), self.config.batch, chance):
            report.check(seen / len(train), total / seen if seen else None)
            seen += len(rows)
            known = rows[codes[rows] >= 0]
            if len(known):
                features = self._features(words, known)
                loss, gradients = loss_of(self.weights, features, codes[known], decay=self.config.weight_decay)
                self.adam.step(gradients)
                total += loss * len(known)
        return total / len(train)

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return the most likely answer to each question."""
        words, found = self._read(examples), list[Prediction]()
        for start in range(0, len(examples), BLOCK):
            rows = np.arange(start, min(start + BLOCK, len(examples)))
            features = self._features(words, rows)
            best = scores_of(self.weights, features).argmax(axis=1)
            found += [Prediction(self.vocabulary.answers[code]) for code in best]
        return found

    @classmethod
    def working_memory(cls, config: BagOfWordsConfig, shape: DataShape) -> int:
        """Return the bytes of the weights, gradients and moments, of all words, and of the features of a batch."""
        width = (1 + (shape.lines > 0)) * shape.words
        rows = min(max(config.batch, BLOCK), shape.questions)
        words = 3 * (shape.questions + shape.other_questions) * shape.example_words
        return NUMBER_BYTES * (7 * width * shape.answers + words + 3 * rows * (width + shape.answers))

    @property
    def _parts(self) -> int:
        return len(self.weights["words"]) // len(self.vocabulary)  # 2 with stories

    def _features(self, words: Words, rows: Ints) -> Floats:
        return features_of(words, rows, width=len(self.weights["words"]), parts=self._parts)

    def _read(self, examples: Examples) -> Words:
        """Return the words of each example; those of stories, if they have weights, are numbered after the others."""
        stories = (examples.stories if self._parts == 2 else None) or ((),) * len(examples)
        known: dict[str, list[int]] = {}
        found = []
        for text, story in zip(examples.texts, stories, strict=True):
            numbers = self.vocabulary.encode(text)
            for line in story:
                if line not in known:
                    known[line] = [len(self.vocabulary) + number for number in self.vocabulary.encode(line)]
                numbers += known[line]
            found.append(numbers)
        starts = np.cumsum([0, *map(len, found)], dtype=np.int64)
        return Words(starts, np.array([number for numbers in found for number in numbers], np.int64))

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return weights, words and answers."""
        return self.weights, {"words": list(self.vocabulary.words[2:]), "answers": list(self.vocabulary.answers)}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Restore weights, words and answers."""
        self.vocabulary = Vocabulary(data["words"], tuple(data["answers"]))
        self.weights = {name: arrays[name].copy() for name in ("words", "constant")}
        self.adam = Adam(self.weights, learning_rate=self.config.learning_rate)

    def training_state(self) -> Arrays:
        """Return the moments of Adam."""
        return self.adam.state()

    def restore_training(self, arrays: Arrays) -> None:
        """Restore the moments of Adam."""
        self.adam.restore(arrays)


def features_of(words: Words, rows: Ints, *, width: int, parts: int) -> Floats:
    """Return the counts `(rows, width)` of each word; each of the equal parts of the columns has length 1."""
    begins = words.starts[rows]
    lengths = words.starts[rows + 1] - begins
    before = np.cumsum(lengths) - lengths
    at = np.repeat(begins - before, lengths) + np.arange(lengths.sum())
    places = np.repeat(np.arange(len(rows)), lengths) * width + words.numbers[at]
    counts = np.bincount(places, minlength=len(rows) * width).reshape(len(rows), parts, width // parts)
    found: Floats = counts / np.maximum(np.linalg.norm(counts, axis=2, keepdims=True), 1)
    return found.reshape(len(rows), width)


def scores_of(weights: Weights, features: Floats) -> Floats:
    """Return the scores `(rows, answers)` of all answers."""
    return features @ weights["words"] + weights["constant"]


def loss_of(weights: Weights, features: Floats, codes: Ints, *, decay: float) -> tuple[float, Weights]:
    """Return the mean cross-entropy with the penalty on large weights, and the gradient for each array of weights.

    Parameters
    ----------
    weights : dict of str to array
    features : array (rows, words)
    codes : array (rows,)
        The place of the right answer of each row.
    decay : float
    """
    scores = scores_of(weights, features)
    scores -= scores.max(axis=1, keepdims=True)
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    places = (np.arange(len(codes)), codes)
    change = np.exp(logs)
    change[places] -= 1
    change /= len(codes)
    loss = -float(logs[places].mean()) + decay / 2 * float((weights["words"] ** 2).sum())
    return loss, {"words": features.T @ change + decay * weights["words"], "constant": change.sum(axis=0)}
