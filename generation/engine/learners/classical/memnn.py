"""MemNN: a memory network that learns from supporting lines, with the three extensions of its paper.

For a question, the network finds a line, then further lines that match the question and the lines found so far, and
then the word that matches all of them. It is trained with the supporting lines, by a margin between the right candidate
and each other one. The compiled steps are in `memnn_steps`.

The extensions are settings. With `adaptive` (AM in the paper) the network finds lines, and words of the answer, until
it chooses the end; otherwise it finds two lines and one word. With `phrase` 3 (NG), texts are bags of phrases of up to
three words. With `nonlinear` (NL), two layers with tanh embed both sides of a match.

Some parts differ from the papers. A line is found only once. The features that compare the times of two lines are one
vector for the newer line, and one for a line after the last one that was found. Steps are those of Adagrad on batches.
An answer is chosen among the words of all possible answers.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 5 and appendix A. Weston, Chopra and Bordes 2014,
Memory Networks, section 3.
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
    EpochConfig,
    ExampleParts,
    LearnerConfig,
    Prediction,
    TrainingReporter,
)
from generation.engine.learners.classical import memnn_steps as steps
from generation.engine.learners.classical.memnn_steps import Form, StoryQuestions, Weights
from generation.engine.learners.epoch_learner import EpochLearner, batches_of, count_batches
from generation.engine.learners.examples import Examples

LINES, MOST = 2, 10  # the largest number of lines without and with `adaptive`
SPREAD = 0.1  # the standard deviation of initial vectors

Ints = NDArray[np.int64]


class MemNNConfig(EpochConfig):
    """The settings of MemNN. The papers do not give those of the 20 tasks.

    Attributes
    ----------
    joint : bool
        Whether one network learns all types of questions; otherwise each type has its own.
    adaptive : bool
        Whether the network finds up to ten lines and words, until it chooses the end.
    phrase : int
        The largest number of words of a feature: 1 for a bag of words, 3 for a bag of phrases of one to three words.
    nonlinear : bool
        Whether two layers with tanh embed both sides of a match.
    embedding : int
        The size of a vector.
    margin : float
        The least difference between the scores of the right candidate and of another one.
    """

    epochs: int = Field(100, ge=1, le=10_000)
    batch: int = Field(16, ge=1, le=100_000)
    learning_rate: float = Field(0.03, gt=0, le=10)
    joint: bool = False
    adaptive: bool = False
    phrase: int = Field(1, ge=1, le=5)
    nonlinear: bool = False
    embedding: int = Field(50, ge=1, le=1000)
    margin: float = Field(1.0, gt=0, le=100)


class Group:
    """The network of a type of questions, or of all.

    Attributes
    ----------
    features : dict of tuple of str to int
        The numbers of the words, and after them those of the phrases.
    words : int
        The number of words.
    answers : list of str
        All possible answers; the first one is given if the words that were chosen are none.
    form : Form
    weights : Weights
    """

    def __init__(
        self, features: Sequence[Sequence[str]], answers: Sequence[str], *, config: MemNNConfig, most: int
    ) -> None:
        self.features = {tuple(one): number for number, one in enumerate(features)}
        self.words = sum(len(one) == 1 for one in self.features)
        self.answers, self.phrase = list(answers), config.phrase
        sets = {tuple(sorted(words_of(one))): one for one in reversed(self.answers)}
        self.answers_by_words = sets | {words_of(one): one for one in self.answers}  # a path is told by its order
        self.is_answer = np.zeros(self.words, np.bool_)
        self.is_answer[[self.features[word,] for one in answers for word in words_of(one)]] = True
        self.form = Form(len(self.features), self.words, config.adaptive, config.nonlinear, most, config.margin)
        self.weights = Weights(*(np.zeros(shape) for shape in self._shapes(config.embedding)))

    def _shapes(self, size: int) -> tuple[tuple[int, ...], ...]:
        features = len(self.features)
        return (3 * features + 1, size), (2, size), (3 * features + 2 * self.words + 1, size), (2, size, size)

    @classmethod
    def of(cls, examples: Examples, rows: Ints, *, config: MemNNConfig) -> "Group":
        """Return a group without weights, with the words, phrases and answers of these examples."""
        assert examples.stories is not None and examples.supports is not None
        texts = {text for row in rows for text in (examples.texts[row], *examples.stories[row])}
        phrases = {phrase for text in texts for phrase in phrases_of(split_words(text), config.phrase)}
        phrases |= {(word,) for answer in examples.vocabulary for word in words_of(answer)}
        most = MOST if config.adaptive else min(LINES, max(len(examples.supports[row]) for row in rows))
        ordered = sorted(phrases, key=lambda phrase: (len(phrase), phrase))
        return cls(ordered, examples.vocabulary, config=config, most=most)

    def begin(self, chance: np.random.Generator) -> None:
        """Make the initial weights, and what a training needs besides them."""
        for array in self.weights[:3]:
            array[:] = chance.normal(0, SPREAD, array.shape)
        self.weights.layers[:] = np.eye(self.weights.layers.shape[1])
        self.gradient, self.sums = (Weights(*map(np.zeros_like, self.weights)) for _ in range(2))

    def read(self, examples: Examples, rows: Ints) -> StoryQuestions:
        """Return these examples as numbers. Unknown words are left out."""
        assert examples.stories is not None
        known: dict[str, int] = {}
        questions = [known.setdefault(examples.texts[row], len(known)) for row in rows]
        stories = [[known.setdefault(line, len(known)) for line in examples.stories[row]] for row in rows]
        supports = [examples.supports[row] if examples.supports is not None else () for row in rows]
        answers = [words_of(examples.answers[row]) if examples.answers is not None else () for row in rows]
        codes = [[self.features[word,] for word in words if (word,) in self.features] for words in answers]
        texts = [
            [self.features[one] for one in phrases_of(split_words(text), self.phrase) if one in self.features]
            for text in known
        ]
        parts = (texts, stories, [list(dict.fromkeys(some)) for some in supports], codes)
        (starts, features), *others = (_joined(part) for part in parts)
        (line_starts, lines), (support_starts, supporting), (word_starts, words) = others
        return StoryQuestions(
            starts, features, np.array(questions, np.int64), line_starts, lines, support_starts, supporting,
            word_starts, words,
        )  # fmt: skip

    def learn(self, asked: StoryQuestions, rows: Ints, rate: float) -> float:
        """Change the weights by one step, and return the sum of the losses."""
        loss = steps.add_gradients(self.weights, asked, rows, self.form, self.gradient)
        for arrays in zip(self.weights, self.gradient, self.sums, strict=True):
            size = arrays[0].shape[-1]
            steps.change(*(array.reshape(-1, size) for array in arrays), rate)
        return float(loss)

    def guesses(self, asked: StoryQuestions) -> Iterator[str]:
        """Yield the most likely answers."""
        totals = steps.candidate_words(self.weights, self.form)
        candidates = steps.activate(totals, self.weights.layers[1], self.form.nonlinear)
        words = [phrase[0] for phrase in list(self.features)[: self.words]]
        for row in range(len(asked.questions)):
            found = steps.find_lines(self.weights, asked, row, self.form)
            chosen = steps.choose_words(self.weights, asked, row, found, candidates, self.is_answer, self.form)
            yield self._answer(tuple(words[code] for code in chosen))

    def _answer(self, words: tuple[str, ...]) -> str:
        """Return the answer with these words; otherwise the one with the first word alone, or any."""
        forms = (words, tuple(sorted(set(words))), words[:1])
        return next((self.answers_by_words[one] for one in forms if one in self.answers_by_words), self.answers[0])


class MemNN(EpochLearner):
    """Memory networks that learn from supporting lines, one for each type of question or one for all."""

    name = "memnn"
    label = "MemNN"
    source = "Weston et al. 2015, Towards AI-Complete Question Answering, section 5 and appendix A"
    config_model: ClassVar[type[LearnerConfig]] = MemNNConfig
    mini: ClassVar[Mapping[str, Any]] = {"epochs": 30}
    needs: ClassVar[ExampleParts] = ExampleParts(stories=True, supports=True)
    config: MemNNConfig
    groups: dict[str, Group]

    def begin(self, train: Examples) -> None:
        """Make the words and the initial weights of each group."""
        chance = np.random.Generator(np.random.PCG64(self.seed))
        rows = train.rows_by_kind(joint=self.config.joint)
        self.groups = {name: Group.of(train, some, config=self.config) for name, some in rows.items()}
        for group in self.groups.values():
            group.begin(chance)
        self.training_questions = [self.groups[name].read(train, some) for name, some in rows.items()]

    @classmethod
    def working_memory(cls, config: MemNNConfig, shape: DataShape) -> int:
        """Return the bytes of the weights of each group, with what a training or a checkpoint needs, and of stories."""
        groups, among = (1, shape.kinds) if config.joint else (shape.kinds, 1)
        words = shape.words if config.joint else shape.kind_words
        features = words if config.phrase == 1 else min(shape.phrases * among, words**config.phrase)
        weights = (6 * features + 2 * words + 2 * config.embedding) * config.embedding
        kept = 2 * groups * 3 * weights  # with gradients and sums of squares; twice as bytes of a checkpoint
        read = config.phrase * (shape.texts * shape.question_words + shape.lines * shape.line_words)
        read += (shape.questions + shape.other_questions) * shape.story_lines
        return COMPILER_BYTES + NUMBER_BYTES * (kept + read) + TEXT_BYTES * groups * features

    def steps_of_epoch(self, train: Examples) -> int:
        """Return the number of steps in an epoch of the network with the fewest examples."""
        return min(count_batches(len(asked.questions), self.config.batch) for asked in self.training_questions)

    def run_epoch(self, train: Examples, chance: np.random.Generator, *, epoch: int, report: TrainingReporter) -> float:
        """Pass through the training examples once, and return the mean loss."""
        total, seen = 0.0, 0
        for group, asked in zip(self.groups.values(), self.training_questions, strict=True):
            for rows in batches_of(len(asked.questions), self.config.batch, chance):
                report.check(seen / len(train), total / seen if seen else None)
                total += group.learn(asked, rows, self.config.learning_rate)
                seen += len(rows)
        return total / len(train)

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return the most likely answer to each question."""
        self.check_examples(examples)
        found = [next(iter(self.groups.values())).answers[0]] * len(examples)
        for name, rows in examples.rows_by_kind(joint=self.config.joint).items():
            if name in self.groups:
                group = self.groups[name]
                asked = group.read(examples.without_answers(), rows)
                for row, guess in zip(rows, group.guesses(asked), strict=True):
                    found[row] = guess
        return [Prediction(one) for one in found]

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return the weights, the words and phrases, and the answers of each group."""
        arrays, groups = dict[str, NDArray[Any]](), []
        for number, (name, group) in enumerate(self.groups.items()):
            arrays |= {f"{part}-{number}": array for part, array in group.weights._asdict().items()}
            known = {"features": [list(one) for one in group.features], "answers": group.answers}
            groups.append({"group": name, "most": group.form.most, **known})
        return arrays, {"groups": groups}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Restore weights, words, phrases and answers."""
        self.groups = {}
        for number, one in enumerate(data["groups"]):
            group = Group(one["features"], one["answers"], config=self.config, most=one["most"])
            for part, array in group.weights._asdict().items():
                array[:] = arrays[f"{part}-{number}"]
            self.groups[one["group"]] = group

    def training_state(self) -> Arrays:
        """Return the sums of squared gradients."""
        groups = enumerate(self.groups.values())
        return {f"{part}-{number}": array for number, one in groups for part, array in one.sums._asdict().items()}

    def restore_training(self, arrays: Arrays) -> None:
        """Restore the sums of squared gradients."""
        for number, group in enumerate(self.groups.values()):
            group.gradient, group.sums = (Weights(*map(np.zeros_like, group.weights)) for _ in range(2))
            for part, array in group.sums._asdict().items():
                array[:] = arrays[f"{part}-{number}"]


def words_of(answer: str) -> tuple[str, ...]:
    """Return the words of an answer, in its order."""
    return tuple(word for word in split_words(answer) if word != JOINT)


def phrases_of(words: Sequence[str], longest: int) -> Iterator[tuple[str, ...]]:
    """Yield the phrases of one to `longest` words of a text, each as often as it occurs."""
    for size in range(1, longest + 1):
        for start in range(len(words) - size + 1):
            yield tuple(words[start : start + size])


def _joined(parts: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return where each part starts in the numbers of all parts, and these numbers."""
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return starts, np.array([number for part in parts for number in part], np.int64)
