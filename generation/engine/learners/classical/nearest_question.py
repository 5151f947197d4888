"""Nearest question: the answer of the training question that shares the largest part of its words.

`generation.engine.scoring.nearest_questions` describes the search. The method sees neither pictures nor stories, so its
accuracy shows how much of a dataset can be answered by the wording alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from generation.engine.language.token_vocabulary import split_words
from generation.engine.learners.base import (
    COMPILER_BYTES,
    NUMBER_BYTES,
    Arrays,
    DataShape,
    LearnerConfig,
    Prediction,
    TrainingReporter,
)
from generation.engine.learners.examples import Examples
from generation.engine.learners.learner_without_checkpoints import LearnerWithoutCheckpoints
from generation.engine.scoring.nearest_questions import Bags, KnownQuestions, bags_of


class NearestQuestion(LearnerWithoutCheckpoints):
    """The nearest question by the share of common words. If several are equally near, it is the first of them."""

    name = "nearest-question"
    label = "Nearest question"
    source = "Jaccard 1901, the share of common words"

    def learn(self, train: Examples, *, report: TrainingReporter) -> None:
        """Keep the words and the answer of each training question."""
        words = dict.fromkeys(word for text in train.texts for word in split_words(text))
        self.words = {word: code for code, word in enumerate(words)}
        self.vocabulary, self.answers = train.vocabulary, train.codes
        self._prepare(_bags(train.texts, self.words))

    @classmethod
    def working_memory(cls, config: LearnerConfig, shape: DataShape) -> int:
        """Return the bytes of the compiled search, and of the words of all training questions."""
        return COMPILER_BYTES + 4 * NUMBER_BYTES * shape.questions * shape.question_words

    def _prepare(self, bags: Bags) -> None:
        self.bags = bags
        self.known = KnownQuestions(bags, self.answers >= 0, words=len(self.words))

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return the answer of the nearest training question to each question."""
        if not len(examples):
            return []
        asked = _bags(examples.texts, self.words)
        found = self.known.nearest(asked, np.arange(len(examples)))
        return [Prediction(self.vocabulary[self.answers[position]]) for position in found]

    @property
    def parameters(self) -> int:
        """Return 0: the method stores the training questions and learns no numbers."""
        return 0

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return the words and answers of all training questions."""
        arrays = {**self.bags._asdict(), "answers": self.answers}
        return arrays, {"words": list(self.words), "vocabulary": list(self.vocabulary)}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Restore words and answers."""
        self.words = {word: code for code, word in enumerate(data["words"])}
        self.vocabulary, self.answers = tuple(data["vocabulary"]), arrays["answers"]
        self._prepare(Bags(**{name: arrays[name] for name in Bags._fields}))


def _bags(texts: Sequence[str], words: Mapping[str, int]) -> Bags:
    """Return the words of each text. Words without a code are only counted."""
    split = [set(split_words(text)) for text in texts]
    postings: list[list[int]] = [[] for _ in words]
    for position, some in enumerate(split):
        for word in some & words.keys():
            postings[words[word]].append(position)
    sizes = np.array([len(some) for some in split], np.int64)
    return bags_of([np.array(one, np.uint32) for one in postings], questions=len(texts), sizes=sizes)
