"""The end-to-end memory network: a question reads the lines of its story in several hops.

It has position encoding, temporal encoding with random empty memories, adjacent tying and a linear start. The gradients
are in `memory_network_steps`.

References
----------
Sukhbaatar et al. 2015, End-To-End Memory Networks, sections 2 and 4.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.language.token_vocabulary import split_words
from generation.engine.learners.base import (
    COMPILER_BYTES,
    NUMBER_BYTES,
    Arrays,
    DataShape,
    EpochConfig,
    ExampleParts,
    LearnerConfig,
    Prediction,
    TrainingReporter,
)
from generation.engine.learners.classical.memory_network_steps import (
    EncodedSentences,
    Network,
    StoryQuestions,
    add_gradients,
    embed,
    scores_of,
    spread,
)
from generation.engine.learners.epoch_learner import EpochLearner, batches_of, count_batches
from generation.engine.learners.examples import Examples

SPREAD = 0.1  # standard deviation of initial weights

Ints = NDArray[np.int64]


class PartReporter(NamedTuple):
    """Reports the progress of one network, whose examples are a `share` of the epoch after `done` of it."""

    report: TrainingReporter
    done: float
    share: float

    def check(self, part: float) -> None:
        """Report the part of this network's examples that is done."""
        self.report.check(self.done + self.share * part)


class MemoryNetworkConfig(EpochConfig):
    """The settings of the memory network. The defaults are those of the paper for a training on one task.

    The paper's joint training has `joint`, an embedding of 50, 60 epochs, and a rate that is halved every 15 epochs.
    The paper ends the linear start when the validation loss stops falling. Here the linear start has a fixed number of
    epochs, which count towards `epochs`. The loss of a step is the sum over its examples.

    Attributes
    ----------
    joint : bool
        Whether one network learns all types of questions; otherwise each type has its own.
    embedding : int
        The size of the embeddings.
    hops : int
    memory : int
        The number of lines that are read: the latest ones.
    noise : float
        The share of empty memories that are put among the lines in training.
    linear_epochs : int
        Epochs at the start in which memories are weighted without softmax, with half the learning rate.
    halve_every : int
        The number of epochs after which the learning rate is halved.
    clip : float
        The largest norm of the gradient of a step.
    starts : int
        The number of networks that are trained from different initial weights. The network with the smallest training
        loss answers.
    """

    epochs: int = Field(120, ge=1, le=10_000)
    patience_steps: int = Field(10**9, ge=1, le=10**9)  # the paper's training does not stop early
    batch: int = Field(32, ge=1, le=100_000)
    learning_rate: float = Field(0.01, gt=0, le=10)
    joint: bool = False
    embedding: int = Field(20, ge=1, le=1000)
    hops: int = Field(3, ge=1, le=20)
    memory: int = Field(50, ge=1, le=1000)
    noise: float = Field(0.1, ge=0, le=1)
    linear_epochs: int = Field(20, ge=0, le=10_000)
    halve_every: int = Field(25, ge=1, le=10_000)
    clip: float = Field(40.0, gt=0, le=1e6)
    starts: int = Field(10, ge=1, le=100)


class EncodedQuestions:
    """The questions of a group, with their words as numbers.

    Attributes
    ----------
    rows : array (n,) of int64
        Their positions among all examples.
    sentences : EncodedSentences
    asked : StoryQuestions
    codes : array (n,) of int64
        The place of each answer among the answers of the group; -1 if the group does not have it or if it is not known.
    """

    def __init__(self, group: "Group", examples: Examples, rows: Ints, *, memory: int) -> None:
        self.rows = rows
        known: dict[str, int] = {}
        stories = examples.stories or ()
        lines, counts = np.zeros((len(rows), memory), np.int64), np.zeros(len(rows), np.int64)
        questions = np.array([known.setdefault(examples.texts[row], len(known)) for row in rows], np.int64)
        for at, row in enumerate(rows):
            latest = stories[row][: -memory - 1 : -1]
            counts[at] = len(latest)
            lines[at, : len(latest)] = [known.setdefault(line, len(known)) for line in latest]
        words = [[group.words[word] for word in split_words(text) if word in group.words] for text in known]
        starts = np.cumsum([0, *map(len, words)], dtype=np.int64)
        self.sentences = EncodedSentences(starts, np.array([word for some in words for word in some], np.int64))
        times = np.broadcast_to(np.arange(memory), lines.shape)
        self.asked = StoryQuestions(questions, lines, counts, times)
        self.codes = np.full(len(rows), -1, np.int64)
        if examples.answers is not None:
            places = {one: code for code, one in enumerate(group.answers)}
            self.codes = np.array([places.get(examples.answers[row], -1) for row in rows], np.int64)

    def select(self, places: Ints, times: Ints | None = None) -> tuple[StoryQuestions, Ints]:
        """Return some of the questions, and the sentences that they use."""
        asked = self.asked
        lines, counts = asked.lines[places], asked.counts[places]
        used = np.concatenate([asked.questions[places], lines[np.arange(lines.shape[1]) < counts[:, None]]])
        found = StoryQuestions(asked.questions[places], lines, counts, asked.times[places] if times is None else times)
        return found, np.unique(used)


class Group:
    """The networks of a type of questions, or of all.

    Attributes
    ----------
    name : str
    words : dict of str to int
        The words of questions and stories, and after them the answers, which are embedded like words.
    answers : list of str
        The answers that occur in training, at `answer_words` among the words.
    networks : list of Network
        One for each start.
    losses : array (starts,)
        The mean training loss of each network in the last epoch.
    """

    def __init__(self, name: str, words: Sequence[str], answers: Sequence[str]) -> None:
        self.name = name
        self.words = {word: number for number, word in enumerate(words)}
        self.answers = list(answers)
        self.answer_words = np.array([self.words[answer] for answer in answers], np.int64)
        self.networks: list[Network] = []
        self.losses = np.zeros(0)

    @classmethod
    def of(cls, name: str, examples: Examples, rows: Ints) -> "Group":
        """Return a group without networks, with the words of these examples."""
        assert examples.answers is not None and examples.stories is not None
        texts = {text for row in rows for text in (examples.texts[row], *examples.stories[row])}
        answers = sorted({examples.answers[row] for row in rows})
        words = {word for text in texts for word in split_words(text)}
        return cls(name, [*sorted(words), *(answer for answer in answers if answer not in words)], answers)

    def begin(self, config: MemoryNetworkConfig, chance: np.random.Generator) -> None:
        """Make the initial weights."""
        tables, size = config.hops + 1, config.embedding
        for _ in range(config.starts):
            words = chance.normal(0, SPREAD, (tables, len(self.words), size))
            self.networks.append(Network(words, chance.normal(0, SPREAD, (tables, config.memory, size))))
        self.losses = np.zeros(config.starts)

    @property
    def best(self) -> Network:
        """Return the network with the smallest training loss that is a number; the first one if there is none."""
        return self.networks[int(np.nan_to_num(self.losses, nan=np.inf).argmin())]

    def guess(self, readings: EncodedQuestions, *, is_linear: bool) -> list[str]:
        """Return the most likely answers."""
        asked, used = readings.select(np.arange(len(readings.rows)))
        embedded = embed(readings.sentences, used, self.best.words)
        scores = scores_of(self.best, embedded, asked, self.answer_words, is_linear)
        return [self.answers[code] for code in scores.argmax(axis=1)]


class MemoryNetwork(EpochLearner):
    """End-to-end memory networks, one for each type of question or one for all."""

    name = "memn2n"
    label = "MemN2N"
    source = "Sukhbaatar et al. 2015, End-To-End Memory Networks, sections 2 and 4"
    config_model: ClassVar[type[LearnerConfig]] = MemoryNetworkConfig
    mini: ClassVar[Mapping[str, Any]] = {"starts": 3}
    needs: ClassVar[ExampleParts] = ExampleParts(stories=True)
    config: MemoryNetworkConfig
    groups: dict[str, Group]

    def begin(self, train: Examples) -> None:
        """Make the words and the initial weights of each group."""
        chance = np.random.Generator(np.random.PCG64(self.seed))
        rows = train.rows_by_kind(joint=self.config.joint)
        self.groups = {name: Group.of(name, train, some) for name, some in rows.items()}
        for group in self.groups.values():
            group.begin(self.config, chance)
        self.training_questions = [self._read(self.groups[name], train, some) for name, some in rows.items()]
        self.is_linear = self.config.linear_epochs > 0

    @classmethod
    def working_memory(cls, config: MemoryNetworkConfig, shape: DataShape) -> int:
        """Return the bytes of all networks, and of a step or a checkpoint, of which the larger one counts."""
        tables, groups = config.hops + 1, 1 if config.joint else shape.kinds
        words = (shape.words if config.joint else shape.kind_words) + -(-shape.answers // groups)
        network = tables * (words + config.memory) * config.embedding
        sentences = -(-(shape.texts + shape.lines) // groups)
        batch = min(config.batch, shape.questions)
        step = 3 * network + 2 * tables * sentences * config.embedding + 4 * batch * config.memory
        kept = groups * (config.starts + 1) * network  # with the best networks so far
        checkpoint = 2 * (kept + groups * network)  # as bytes, and as the bytes of the file
        read = (shape.questions + shape.other_questions) * config.memory
        return COMPILER_BYTES + NUMBER_BYTES * (kept + read + max(step, checkpoint))

    def _read(self, group: Group, examples: Examples, rows: Ints) -> EncodedQuestions:
        return EncodedQuestions(group, examples, rows, memory=self.config.memory)

    def steps_of_epoch(self, train: Examples) -> int:
        """Return the number of steps in an epoch of the network with the fewest examples."""
        return min(count_batches(len(readings.rows), self.config.batch) for readings in self.training_questions)

    def run_epoch(self, train: Examples, chance: np.random.Generator, *, epoch: int, report: TrainingReporter) -> float:
        """Pass through the training examples once with each network, and return the mean loss of the best ones."""
        self.is_linear = epoch < self.config.linear_epochs
        total, done = 0.0, 0.0
        for group, readings in zip(self.groups.values(), self.training_questions, strict=True):
            share = len(readings.rows) / len(train) / len(group.networks)
            for start, network in enumerate(group.networks):
                watch = PartReporter(report, done, share)
                group.losses[start] = self._pass(group, network, readings, chance, epoch=epoch, report=watch)
                done += share
            total += np.fmin.reduce(group.losses) * len(readings.rows)  # NaN only if all starts have diverged
        return float(total / len(train))

    def _pass(
        self,
        group: Group,
        network: Network,
        readings: EncodedQuestions,
        chance: np.random.Generator,
        *,
        epoch: int,
        report: PartReporter,
    ) -> float:
        """Change a network by one pass through its examples, and return the mean loss."""
        rate, total, seen = self.rate(epoch), 0.0, 0
        for places in batches_of(len(readings.rows), self.config.batch, chance):
            report.check(seen / len(readings.rows))
            seen += len(places)
            asked, used = readings.select(places, self._times(len(places), chance))
            codes = readings.codes[places]
            loss, gradient = loss_of(
                network, readings.sentences, asked, used, group.answer_words, codes, self.is_linear
            )
            norm = np.sqrt(sum(float((array**2).sum()) for array in gradient))
            step = rate * min(1.0, self.config.clip / max(norm, 1e-12))
            for array, slope in zip(network, gradient, strict=True):
                array -= step * slope
            total += loss
        return total / len(readings.rows)

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        config = self.config
        if epoch < config.linear_epochs:
            return config.learning_rate / 2
        return config.learning_rate * 0.5 ** ((epoch - config.linear_epochs) // config.halve_every)

    def _times(self, n: int, chance: np.random.Generator) -> Ints:
        """Return the times of the lines `(n, memory)` with random empty memories among them."""
        is_after_gap = chance.random((n, self.config.memory)) < self.config.noise
        times = np.arange(self.config.memory) + is_after_gap.cumsum(axis=1)
        return np.minimum(times, self.config.memory - 1)

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return the most likely answer to each question."""
        self.check_examples(examples)
        found = [self.default_answer] * len(examples)
        for name, rows in examples.rows_by_kind(joint=self.config.joint).items():
            if name in self.groups:
                readings = self._read(self.groups[name], examples.without_answers(), rows)
                guesses = self.groups[name].guess(readings, is_linear=self.is_linear)
                for row, guess in zip(rows, guesses, strict=True):
                    found[row] = guess
        return [Prediction(one) for one in found]

    @property
    def default_answer(self) -> str:
        """Return the answer to questions of an unknown type."""
        return next(iter(self.groups.values())).answers[0]

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return the best network, the words and the answers of each group."""
        arrays, groups = dict[str, NDArray[Any]](), []
        for number, group in enumerate(self.groups.values()):
            arrays |= {f"{name}-{number}": array for name, array in group.best._asdict().items()}
            groups.append({"name": group.name, "words": list(group.words), "answers": group.answers})
        return arrays, {"groups": groups, "is_linear": self.is_linear}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Restore a network, words and answers for each group."""
        self.is_linear, self.groups = bool(data["is_linear"]), {}
        for number, one in enumerate(data["groups"]):
            group = self.groups[one["name"]] = Group(one["name"], one["words"], one["answers"])
            group.networks = [Network(*(arrays[f"{name}-{number}"].copy() for name in Network._fields))]
            group.losses = np.zeros(1)

    def training_state(self) -> Arrays:
        """Return all networks, and their losses."""
        found = dict[str, NDArray[Any]]()
        for number, group in enumerate(self.groups.values()):
            found[f"losses-{number}"] = group.losses
            for start, network in enumerate(group.networks):
                found |= {f"{name}-{number}-{start}": array for name, array in network._asdict().items()}
        return found

    def restore_training(self, arrays: Arrays) -> None:
        """Restore all networks and their losses."""
        for number, group in enumerate(self.groups.values()):
            group.losses = arrays[f"losses-{number}"].copy()
            group.networks = [
                Network(*(arrays[f"{name}-{number}-{start}"].copy() for name in Network._fields))
                for start in range(len(group.losses))
            ]


def loss_of(
    network: Network,
    sentences: EncodedSentences,
    asked: StoryQuestions,
    used: Ints,
    answers: Ints,
    codes: Ints,
    is_linear: bool,
) -> tuple[float, Network]:
    """Return the sum of the cross-entropies of some questions, and its gradient by all weights.

    Parameters
    ----------
    network : Network
    sentences : EncodedSentences
    asked : StoryQuestions
    used : array of int64
        The sentences that occur in `asked`, each once.
    answers : array (answers,) of int64
        The words that are answers.
    codes : array (n,) of int64
        The place of the right answer of each question in `answers`.
    is_linear : bool
        Whether memories are weighted without softmax.
    """
    embedded = embed(sentences, used, network.words)
    gradient = Network(np.zeros_like(network.words), np.zeros_like(network.times))
    change = np.zeros_like(embedded)
    loss = add_gradients(network, embedded, asked, answers, codes, is_linear, change, gradient)
    spread(sentences, used, change, gradient.words)
    return loss, gradient
