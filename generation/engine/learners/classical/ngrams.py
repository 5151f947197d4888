"""N-grams: a linear classifier over phrases of one to three words from the lines that share a word with the question.

`generation.engine.scoring.ngram_classifier` describes the classifier. Each type of question has
its own model, as each task has in the paper.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 5.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generation.engine.learners.base import (
    NUMBER_BYTES,
    TEXT_BYTES,
    Arrays,
    DataShape,
    ExampleParts,
    LearnerConfig,
    Prediction,
    TrainingReporter,
)
from generation.engine.learners.examples import Examples
from generation.engine.learners.learner_without_checkpoints import LearnerWithoutCheckpoints
from generation.engine.scoring.ngram_classifier import BLOCK, MOST, Classifier, Model, ReadQuestion, Sentences


class NgramsConfig(LearnerConfig):
    """The settings of the n-gram classifier.

    Attributes
    ----------
    joint : bool
        Whether one model learns all types of questions.
    """

    joint: bool = False


class Ngrams(LearnerWithoutCheckpoints):
    """The n-gram classifier. It answers questions without stories from the phrases of the question alone."""

    name = "n-grams"
    label = "N-grams"
    source = "Weston et al. 2015, Towards AI-Complete Question Answering, section 5"
    uses = ExampleParts(stories=True)
    config_model: ClassVar[type[LearnerConfig]] = NgramsConfig
    config: NgramsConfig
    classifier: Classifier

    def learn(self, train: Examples, *, report: TrainingReporter) -> None:
        """Solve for the weights of each type of question."""
        assert train.answers is not None
        pairs = zip(self._read(train), train.answers, strict=True)
        self.classifier = Classifier.learn(pairs, check=partial(report.check, 0.0))

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return the most likely answer to each question."""
        return [Prediction(guess) for guess in self.classifier.guesses(self._read(examples))]

    @classmethod
    def working_memory(cls, config: NgramsConfig, shape: DataShape) -> int:
        """Return the bytes of the sums over pairs of phrases, of a block of counts, weights and sentences."""
        groups, among = (1, shape.kinds) if config.joint else (shape.kinds, 1)
        wide = min(MOST, among * shape.phrases)
        numbers = wide * (4 * wide + min(BLOCK, shape.questions) + groups * 2 * shape.answers)
        return NUMBER_BYTES * numbers + 3 * TEXT_BYTES * (shape.texts + shape.lines)

    def _read(self, examples: Examples) -> Iterator[ReadQuestion]:
        lines = examples.stories or ((),) * len(examples)
        for kind, story, text in zip(examples.kinds, lines, examples.texts, strict=True):
            yield ReadQuestion("" if self.config.joint else kind, story, text)

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return the weights, phrases and answers of each type of question."""
        grams, arrays, groups = list(self.classifier.sentences.numbers), dict[str, NDArray[Any]](), []
        for number, (group, model) in enumerate(self.classifier.models.items()):
            arrays |= {f"weights-{number}": model.weights, f"constant-{number}": model.constant}
            known = [grams[column] for column in model.columns]
            groups.append({"group": group, "answers": list(model.answers), "grams": known})
        return arrays, {"groups": groups, "otherwise": self.classifier.otherwise}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Restore weights, phrases and answers."""
        sentences, models = Sentences(), {}
        for number, one in enumerate(data["groups"]):
            columns = [sentences.numbers.setdefault(gram, len(sentences.numbers)) for gram in one["grams"]]
            weights, constant = arrays[f"weights-{number}"], arrays[f"constant-{number}"]
            models[one["group"]] = Model(one["answers"], np.array(columns, np.int64), weights, constant)
        self.classifier = Classifier(sentences, models, data["otherwise"])
