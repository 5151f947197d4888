"""The base classes of learners: methods that are trained on the examples of one split and answer those of others.

A learner has a frozen config with the values of its paper as defaults. `fit` trains it, `predict` answers, and `save`
writes its weights as safetensors and everything else as JSON. `load` reads both without pickle. The same seed and the
same number of threads give the same predictions on the same machine.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.errors import BadSpec, BadTraining
from generation.engine.learners.examples import Examples, Region
from generation.engine.learners.model_files import read_model, write_model
from generation.engine.program import Program
from generation.engine.spec import Frozen, merge, read

Arrays = Mapping[str, NDArray[Any]]
SizeName = Literal["mini", "paper"]


class LearnerConfig(Frozen):
    """The base class of the settings of learners. It has no settings itself."""


class EpochProgress(NamedTuple):
    """The progress of a training.

    Attributes
    ----------
    epoch, epochs : int
        The epochs that are done, and the largest number of epochs.
    loss : float or None
        The mean training loss of the last epoch.
    val_accuracy, best_val_accuracy : float or None
        Accuracy on the validation examples after the last epoch, and after the best epoch; 0 to 1.
    examples_seen : int
        Training examples in all, repeats included.
    """

    epoch: int
    epochs: int
    loss: float | None
    val_accuracy: float | None
    best_val_accuracy: float | None
    examples_seen: int


class TrainingReporter(Protocol):
    """The object that a learner calls during its training. Each method may raise an error to stop the training."""

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Receive the number of epochs that are done, and the largest number of epochs."""

    def recall(self, history: Sequence[tuple[int, float, float]]) -> None:
        """Receive number, loss and validation accuracy of each earlier epoch, when a training continues after it."""

    def check(self, part: float, loss: float | None = None) -> None:
        """Receive the part of the epoch that is done, 0 to 1, and the mean training loss so far.

        Learners call it every few seconds.
        """

    def progress(self, progress: EpochProgress) -> None:
        """Receive the progress after an epoch."""


class Prediction(NamedTuple):
    """What a learner predicts for an example.

    Attributes
    ----------
    answer : str
    regions : tuple of (Region, float), or None
        The regions of the picture that a counting method counted, each with a score from 0 to 1.
    number : float or None
        The count before it was rounded to `answer`, if the method predicts a number.
    """

    answer: str
    regions: tuple[tuple[Region, float], ...] | None = None
    number: float | None = None


class ExampleParts(NamedTuple):
    """Parts of examples in addition to texts and answers."""

    images: bool = False
    stories: bool = False
    supports: bool = False
    programs: bool = False
    regions: bool = False
    counts: bool = False


class DataShape(NamedTuple):
    """The size of the examples of a training, for an estimate of its memory.

    Attributes
    ----------
    questions, pictures : int
        The number of training questions, and of the pictures or stories that they are about.
    other_questions, other_pictures : int
        The numbers of those that are in memory at the same time: of the validation split and the largest test split.
    words, answers, kinds : int
        The number of different words, answers and types of questions.
    kind_words : int
        The mean number of different words in the questions and stories of one type.
    texts, lines : int
        The number of different questions, and of different lines of all stories.
    phrases : int
        The largest number of different phrases of one to three words in the questions and stories of one type.
    question_words, line_words : int
        The largest number of words of a question, and of a line of a story.
    story_lines : int
        The largest number of lines of a story; 0 without stories.
    regions : int
        The largest number of elements of a picture.
    example_bytes : int
        The mean bytes of an example as Python objects, without its picture.
    """

    questions: int
    words: int
    answers: int
    kinds: int = 1
    pictures: int = 1
    other_questions: int = 0
    other_pictures: int = 0
    kind_words: int = 1
    texts: int = 1
    lines: int = 0
    phrases: int = 1
    question_words: int = 1
    line_words: int = 0
    story_lines: int = 0
    regions: int = 0
    example_bytes: int = 0

    @property
    def example_words(self) -> int:
        """Return the largest number of words of a question and its story."""
        return self.question_words + self.story_lines * self.line_words


PROCESS_BYTES = 60 * 2**20  # of a training process that has no examples yet
COMPILER_BYTES = 160 * 2**20  # of Numba, which compiles a method's steps or loads them
TEXT_BYTES = 500  # of a short text and its words as Python objects
NUMBER_BYTES = 8
FORMER_SETTINGS = ("patience",)  # in models of release 0.1; predictions do not depend on them
PART_LABELS = {"supports": "supporting lines", "counts": "numbers as answers"}


class Learner(ABC):
    """A method that learns from examples.

    Parameters
    ----------
    config : LearnerConfig
    seed : int
        The seed of all random numbers: initial weights, order of examples, dropout.

    Attributes
    ----------
    name, label : str
        The name in commands and addresses, and the name on boards.
    source : str
        The citation of the paper and of its section.
    config_model : type of LearnerConfig
    mini : mapping
        The settings of the size `mini`, for two cores without a GPU. The size `paper` has the defaults.
    needs : ExampleParts
        The parts that the examples must have.
    uses : ExampleParts
        The parts that the learner also uses if the examples have them.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    source: ClassVar[str]
    config_model: ClassVar[type[LearnerConfig]] = LearnerConfig
    mini: ClassVar[Mapping[str, Any]] = {}
    needs: ClassVar[ExampleParts] = ExampleParts()
    uses: ClassVar[ExampleParts] = ExampleParts()

    def __init__(self, config: LearnerConfig, *, seed: int) -> None:
        self.config = config
        self.seed = seed
        self.examples_seen = 0

    @classmethod
    def read_config(cls, changes: Mapping[str, Any], *, size: SizeName = "paper") -> LearnerConfig:
        """Return the config of a size with some settings changed.

        Raises
        ------
        BadTraining
            If a setting is wrong. The message names the setting, what was expected and what came.
        """
        try:
            return read(cls.config_model, merge(dict(cls.mini) if size == "mini" else {}, changes))
        except BadSpec as error:
            raise BadTraining(error.reason, where=f"{cls.name}: {error.where}" if error.where else cls.name) from error
        except RecursionError as error:
            raise BadTraining("Expected settings, got JSON that is nested too deeply.", where=cls.name) from error

    @classmethod
    def estimate_memory(cls, config: LearnerConfig, shape: DataShape) -> int:
        """Return roughly the bytes of memory that a training needs. Nothing is allocated.

        Raises
        ------
        NoTorch
            If it is a network, and this program has not imported PyTorch.
        """
        texts = shape.example_bytes * (shape.questions + shape.other_questions)
        height, width = (getattr(config, side, 0) for side in ("height", "width"))
        pixels = 3 * height * width * (shape.pictures + shape.other_pictures) if cls.needs.images else 0
        return PROCESS_BYTES + texts + pixels + cls.working_memory(config, shape)

    @classmethod
    def working_memory(cls, config: Any, shape: DataShape) -> int:
        """Return the bytes that a training needs in addition to its examples: weights, gradients and one batch."""
        return 0

    @classmethod
    def lacking_program(cls, program: Program) -> str:
        """Return the programs that this learner needs, in words, if it cannot read `program`; by default it can."""
        return ""

    @classmethod
    def check_examples(cls, examples: Examples, *, is_training: bool = False) -> None:
        """Raise `BadTraining` if the examples lack something that this learner needs.

        Only training examples need supporting lines, because predictions must not use them.
        """
        needed_parts = [part for part in ExampleParts._fields if getattr(cls.needs, part)]
        lacking = [part for part in needed_parts if not examples.has(part) and (is_training or part != "supports")]
        if lacking:
            needed = " and ".join(PART_LABELS.get(part, part) for part in lacking)
            raise BadTraining(f"Expected examples with {needed} for {cls.label}, got none.", where=examples.name)

    @classmethod
    def check_training(cls, train: Examples, val: Examples) -> None:
        """Raise `BadTraining` if there are no examples, or if they lack something that this learner needs."""
        cls.check_examples(train, is_training=True)
        cls.check_examples(val)
        if not len(train) or not len(val):
            raise BadTraining("Expected training and validation examples, got none.", where=train.name)
        if train.answers is None or val.answers is None:
            raise BadTraining("Expected training and validation examples with answers, got none.", where=train.name)

    @abstractmethod
    def fit(self, train: Examples, val: Examples, *, report: TrainingReporter, checkpoint: Path | None = None) -> None:
        """Train on `train`. Methods that stop early or choose among settings use their accuracy on `val`.

        Parameters
        ----------
        train, val : Examples
            Both with answers.
        report : TrainingReporter
        checkpoint : Path or None
            A folder in which the state after the last epoch is kept. If it has the state of an interrupted training,
            the training continues there, and ends with the same weights.
        """

    @abstractmethod
    def predict(self, examples: Examples) -> list[Prediction]:
        """Return a prediction for each example, in order. Answers of the examples are not read."""

    @abstractmethod
    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return everything that `predict` needs: arrays by name, and JSON."""

    @abstractmethod
    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Restore a state that `state` returned."""

    @property
    def parameters(self) -> int:
        """Return the number of parameters that are learned."""
        return sum(array.size for array in self.state()[0].values())

    def save(self, path: Path) -> None:
        """Write the learner to `path`, which ends in `.safetensors`, and to a JSON file of the same name beside it."""
        arrays, data = self.state()
        config = self.config.model_dump(mode="json")
        about = {"method": self.name, "seed": self.seed, "config": config, "examples_seen": self.examples_seen}
        write_model(path, arrays, {**about, "state": dict(data)})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the learner that `save` wrote to `path`.

        Raises
        ------
        BadTraining
            If the files are damaged or belong to another learner.
        """
        arrays, about = read_model(path)
        if about.get("method") != cls.name:
            raise BadTraining(f"Expected a model of {cls.name}, got one of {about.get('method')}.", where=path.name)
        try:
            config = {name: value for name, value in about["config"].items() if name not in FORMER_SETTINGS}
            learner = cls(cls.read_config(config), seed=int(about["seed"]))
            learner.examples_seen = int(about["examples_seen"])
            learner.restore(arrays, about["state"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadTraining(f"Expected a complete model, got one without {error}.", where=path.name) from error
        return learner


def accuracy(predictions: Sequence[Prediction], examples: Examples) -> float | None:
    """Return the share of predictions that are the answers of the examples, or None without examples."""
    if examples.answers is None or not examples.answers:
        return None
    pairs = zip(predictions, examples.answers, strict=True)
    return float(np.mean([one.answer == answer for one, answer in pairs]))


class EpochConfig(LearnerConfig):
    """The settings of learners that are trained by epochs.

    Attributes
    ----------
    epochs : int
        The largest number of passes through the training examples.
    patience_steps : int
        The training stops after this number of steps without a better accuracy on the validation examples, at the end
        of an epoch. It counts steps, because a network that has not begun to learn needs steps, and a small split has
        few of them in an epoch.
    least_steps : int
        The training does not stop before this number of steps, unless all epochs are over.
    batch : int
        The number of examples in a step. If one example is left at the end of an epoch, the last step has one more.
    learning_rate : float
    """

    epochs: int = Field(50, ge=1, le=10_000)
    patience_steps: int = Field(5_000, ge=1, le=10**9)
    least_steps: int = Field(10_000, ge=0, le=10**9)
    batch: int = Field(64, ge=1, le=100_000)
    learning_rate: float = Field(0.001, gt=0, le=10)
