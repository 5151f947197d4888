"""The structured SVM: it finds the lines from which the answer follows, then the answer from these lines.

Both steps are linear models over indicators of words, pairs of words and common words of two sentences. They are
trained with the supporting lines of the training questions. The compiled steps are in `structured_svm_steps`.

Some parts differ from the paper. A rule replaces the coreference system: pronouns become the names of the line before
them. Instead of semantic roles, features state whether a word is the first one of its sentence. A beam search finds the
set of lines, where the paper searches all sets of at most three; a set may be as large as the largest set in training.
Additional features count the lines with the same word that are between two lines or after a line. The paper does not
state its training algorithm; here it is passive-aggressive, and the final weights are the mean over all steps.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 5 and appendix B.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.items import JOINT
from generation.engine.language.token_vocabulary import split_words
from generation.engine.learners.base import (
    COMPILER_BYTES,
    NUMBER_BYTES,
    TEXT_BYTES,
    Arrays,
    DataShape,
    ExampleParts,
    LearnerConfig,
    Prediction,
    TrainingReporter,
)
from generation.engine.learners.classical import structured_svm_steps as steps
from generation.engine.learners.classical.structured_svm_steps import FEATURES, Story
from generation.engine.learners.examples import Examples
from generation.engine.learners.learner_without_checkpoints import LearnerWithoutCheckpoints

DETERMINERS = frozenset({"a", "an", "the"})
PRONOUNS = frozenset({"he", "she", "they"})
NO_LINES = np.zeros(0, np.int64)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class StructuredSvmConfig(LearnerConfig):
    """The settings of the structured SVM. The paper does not give them.

    Attributes
    ----------
    joint : bool
        Whether one model learns all types of questions; otherwise each type has its own.
    epochs : int
        Passes through the training questions, for each of the two steps.
    beam : int
        The number of sets of lines of each size that the search extends.
    largest_step : float
        The largest size of a change of the weights.
    """

    joint: bool = False
    epochs: int = Field(10, ge=1, le=1000)
    beam: int = Field(8, ge=1, le=1000)
    largest_step: float = Field(0.1, gt=0, le=1000)


class SvmModel:
    """The two linear models of a group of questions.

    Attributes
    ----------
    words : dict of str to int
    names : set of str
        Words that have a capital letter within sentences.
    answers : list of str
    most : int
        The largest number of supporting lines.
    known : tuple of arrays of int64
        The words of all answers, where those of each answer start, and each of the words once.
    lines, replies : array (FEATURES,) of float64
        The weights by which lines and answers are chosen.
    """

    def __init__(self, words: Sequence[str], names: Sequence[str], answers: Sequence[str], *, most: int) -> None:
        self.words, self.names = {word: number for number, word in enumerate(words)}, frozenset(names)
        self.answers, self.most = list(answers), most
        known = [[self.words[part] for part in split_words(answer) if part in self.words] for answer in answers]
        parts = np.array([word for some in known for word in some], np.int64)
        self.known = (parts, np.cumsum([0, *map(len, known)], dtype=np.int64), np.unique(parts))
        self.lines, self.replies = np.zeros(FEATURES), np.zeros(FEATURES)
        self.room = (steps.empty_features(), steps.empty_features())

    def stories(self, examples: Examples, rows: Ints) -> Iterator[Story]:
        """Yield questions as numbers. New words get new numbers."""
        words, parts = dict(self.words), set(self.known[2].tolist())
        read: dict[tuple[str, ...], Ints] = {}
        assert examples.stories is not None

        def encode(some: tuple[str, ...]) -> Ints:
            if some not in read:
                read[some] = np.array([words.setdefault(word, len(words)) for word in some], np.int64)
            return read[some]

        for row in rows:
            lines = [encode(some) for some in resolve_pronouns(examples.stories[row], self.names)]
            starts = np.cumsum([0, *map(len, lines)], dtype=np.int64)
            answering = np.array([not parts.isdisjoint(some.tolist()) for some in lines], np.bool_)
            flat = np.concatenate([*lines, np.zeros(0, np.int64)])
            yield Story(encode(plain_words(examples.texts[row])), starts, flat, answering)

    def learn_lines(self, story: Story, gold: Ints, means: "MeanWeights", config: StructuredSvmConfig) -> None:
        """Change the weights of lines by one question with its supporting lines."""
        found, right, wrong = self.find_lines(story, beam=config.beam, gold=gold), *self.room
        if not np.array_equal(found, gold):
            for lines, features in ((gold, right), (found, wrong)):
                features.filled[0] = 0
                steps.add_lines(story, lines, features)
            cost = len(np.setxor1d(found, gold))
            means.separate(right, wrong, by=cost, largest=config.largest_step)
        means.steps += 1

    def learn_reply(
        self, story: Story, gold: Ints, code: int, means: "MeanWeights", config: StructuredSvmConfig
    ) -> None:
        """Change the weights of answers by one question with its supporting lines and its answer."""
        best = steps.best_answer(self.replies, story, gold, *self.known, code, self.room[0])
        if best != code:
            for one, features in zip((code, best), self.room, strict=True):
                features.filled[0] = 0
                steps.add_answer(story, gold, one, *self.known, features)
            means.separate(*self.room, by=1, largest=config.largest_step)
        means.steps += 1

    def find_lines(self, story: Story, *, beam: int, gold: Ints | None = None) -> Ints:
        """Return the supporting lines, ascending. With `gold`, each error of a set adds to its score."""
        given = (NO_LINES, 0.0) if gold is None else (gold, 1.0)
        found: Ints = steps.search(self.lines, story, self.most, beam, *given, self.room[0])
        return found

    def reply(self, story: Story, lines: Ints) -> str:
        """Return the answer that follows from supporting lines."""
        return self.answers[steps.best_answer(self.replies, story, lines, *self.known, -1, self.room[0])]


class MeanWeights:
    """Weights that are changed in place, with the sums from which their mean over all steps is computed."""

    def __init__(self, weights: Floats) -> None:
        self.weights, self.sums, self.room, self.steps = weights, np.zeros(FEATURES), np.zeros(FEATURES), 0

    def separate(self, right: steps.FeatureBuffer, wrong: steps.FeatureBuffer, *, by: float, largest: float) -> None:
        """Change the weights if `right` does not score higher than `wrong` by a margin."""
        loss = steps.score_of(self.weights, wrong) + by - steps.score_of(self.weights, right)
        if loss > 0:
            steps.change(self.weights, self.sums, right, wrong, loss, largest, self.steps, self.room)

    def finish(self) -> None:
        """Replace the weights by their mean."""
        self.weights -= self.sums / self.steps


class StructuredSvm(LearnerWithoutCheckpoints):
    """Two structured SVMs for each type of question: one finds the lines, the other chooses the answer."""

    name = "structured-svm"
    label = "Structured SVM"
    source = "Weston et al. 2015, Towards AI-Complete Question Answering, section 5 and appendix B"
    config_model: ClassVar[type[LearnerConfig]] = StructuredSvmConfig
    needs: ClassVar[ExampleParts] = ExampleParts(stories=True, supports=True)
    config: StructuredSvmConfig
    models: dict[str, SvmModel]

    def learn(self, train: Examples, *, report: TrainingReporter) -> None:
        """Learn both steps for each group of questions."""
        self.models = {}
        chance = np.random.Generator(np.random.PCG64(self.seed))
        done = 0
        for name, rows in train.rows_by_kind(joint=self.config.joint).items():
            self.models[name] = model = model_of(train, rows)
            stories = list(model.stories(train, rows))
            assert train.supports is not None and train.answers is not None
            supports = [np.unique(np.array(train.supports[row], np.int64)) for row in rows]
            codes = [model.answers.index(train.answers[row]) for row in rows]
            lines, replies = MeanWeights(model.lines), MeanWeights(model.replies)
            for _ in range(self.config.epochs):
                report.check(done / len(train) / self.config.epochs)
                done += len(rows)
                for row in chance.permutation(len(rows)):
                    model.learn_lines(stories[row], supports[row], lines, self.config)
                    model.learn_reply(stories[row], supports[row], codes[row], replies, self.config)
            lines.finish()
            replies.finish()

    @classmethod
    def working_memory(cls, config: StructuredSvmConfig, shape: DataShape) -> int:
        """Return the bytes of the weights of each group, the sums for one group's mean, and the stories as numbers."""
        weights = FEATURES * (2 * (1 if config.joint else shape.kinds) + 4)
        words = shape.questions * (shape.example_words + 2 * shape.story_lines)
        return COMPILER_BYTES + NUMBER_BYTES * (weights + words) + TEXT_BYTES * shape.questions

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return the most likely answer to each question."""
        self.check_examples(examples)
        found = [next(iter(self.models.values())).answers[0]] * len(examples)
        for name, rows in examples.rows_by_kind(joint=self.config.joint).items():
            model = self.models.get(name)
            if model is not None:
                for row, story in zip(rows, model.stories(examples, rows), strict=True):
                    found[row] = model.reply(story, model.find_lines(story, beam=self.config.beam))
        return [Prediction(one) for one in found]

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return the weights that are not 0, and the words, names and answers of each group."""
        arrays, groups = dict[str, NDArray[Any]](), []
        for number, (name, model) in enumerate(self.models.items()):
            for kind, weights in (("lines", model.lines), ("replies", model.replies)):
                places = np.flatnonzero(weights)
                arrays |= {f"{kind}-{number}": weights[places], f"{kind}-places-{number}": places}
            known = {"words": list(model.words), "names": sorted(model.names), "answers": model.answers}
            groups.append({"group": name, "most": model.most, **known})
        return arrays, {"groups": groups}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Restore weights, words, names and answers."""
        self.models = {}
        for number, one in enumerate(data["groups"]):
            model = SvmModel(one["words"], one["names"], one["answers"], most=one["most"])
            for kind, weights in (("lines", model.lines), ("replies", model.replies)):
                weights[arrays[f"{kind}-places-{number}"]] = arrays[f"{kind}-{number}"]
            self.models[one["group"]] = model

    @property
    def parameters(self) -> int:
        """Return the number of weights that are not 0."""
        return sum(
            int(np.count_nonzero(weights)) for one in self.models.values() for weights in (one.lines, one.replies)
        )


def model_of(train: Examples, rows: Ints) -> SvmModel:
    """Return a model without weights, with the words, names and answers of these examples."""
    assert train.stories is not None and train.answers is not None and train.supports is not None
    texts = {text for row in rows for text in (train.texts[row], *train.stories[row])}
    names = names_of(texts)
    words = sorted({word for text in texts for word in plain_words(text)})
    answers = sorted({train.answers[row] for row in rows})
    parts = sorted({part for answer in answers for part in split_words(answer)} - set(words) - {JOINT})
    most = max(len(set(train.supports[row])) for row in rows)
    return SvmModel([*words, *parts], sorted(names), answers, most=most)


def plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a text without determiners and punctuation."""
    return tuple(word for word in split_words(text) if word[0].isalnum() and word not in DETERMINERS)


def names_of(texts: set[str]) -> set[str]:
    """Return the words, in lower case, that have a capital letter within a text and never occur in small letters."""
    words = [word for text in texts for word in text.split()[1:]]
    names = {part for word in words if word[0].isupper() for part in split_words(word)}
    return names - {part for word in words if word[0].islower() for part in split_words(word)}


def resolve_pronouns(story: Sequence[str], names: frozenset[str]) -> list[tuple[str, ...]]:
    """Return the words of each line. Pronouns are replaced by the names of the last line that has names."""
    found, last = list[tuple[str, ...]](), list[str]()
    for line in story:
        words = list[str]()
        for word in plain_words(line):
            words += last if word in PRONOUNS and last else [word]
        last = [word for word in words if word in names] or last
        found.append(tuple(words))
    return found
