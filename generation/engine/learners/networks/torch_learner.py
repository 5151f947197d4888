"""The base class of learners that are networks of PyTorch: batches, optimiser, states, predictions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.errors import BadTraining
from generation.engine.language.token_vocabulary import Vocabulary, split_words
from generation.engine.learners.base import Arrays, DataShape, EpochConfig, LearnerConfig, Prediction, TrainingReporter
from generation.engine.learners.epoch_learner import EpochLearner, batches_of
from generation.engine.learners.examples import Examples
from generation.engine.learners.networks.optional_torch import functional, nn, torch

PIXEL = 255.0
PREDICTION_BATCH = 256  # the most examples that are answered in one step


class NetworkConfig(EpochConfig):
    """The settings of a network.

    Attributes
    ----------
    weight_decay : float
    clip : float
        The largest norm of the gradient of a step; 0 for no limit.
    """

    weight_decay: float = Field(0.0, ge=0, le=1)
    clip: float = Field(0.0, ge=0, le=1000)


class PictureConfig(NetworkConfig):
    """The settings of a network that sees pictures.

    Attributes
    ----------
    height, width : int
        Pixels to which pictures are scaled before the training.
    """

    height: int = Field(64, ge=8, le=1024)
    width: int = Field(64, ge=8, le=1024)


class QuestionBatch(NamedTuple):
    """Some examples as tensors.

    Attributes
    ----------
    examples : Examples
        The examples to which `rows` points.
    rows : array (batch,) of int64
        The positions of the batch in `examples`.
    words : Tensor (batch, longest) of int64
        The numbers of the words, padded with 0 at the end.
    lengths : Tensor (batch,) of int64
        The number of words, at least 1; on the CPU.
    images : Tensor (batch, 3, height, width) of float32, or None
        sRGB, 0 to 1.
    answers : Tensor (batch,) of int64, or None
        The places of the answers in the vocabulary.
    """

    examples: Examples
    rows: NDArray[np.int64]
    words: Any
    lengths: Any
    images: Any
    answers: Any


TORCH_BYTES = 290 * 2**20  # of PyTorch, its libraries included
OVERHEAD = 1.5  # bytes of the processor's fast operations, such as those of an LSTM, for each byte of tensors
CHECKPOINT = 13  # weights, gradients, two moments, the best weights, and twice four of them as bytes of a file


class TorchLearner(EpochLearner):
    """A network. A subclass overrides whatever is not classification by cross-entropy.

    Attributes
    ----------
    network_model : type of torch.nn.Module
    network : torch.nn.Module
    vocabulary : Vocabulary
        The words of the training questions, and all answers.
    """

    config_model: ClassVar[type[LearnerConfig]] = NetworkConfig
    network_model: ClassVar[Callable[..., Any]]
    config: NetworkConfig
    network: Any
    optimizer: Any
    vocabulary: Vocabulary

    @classmethod
    def working_memory(cls, config: Any, shape: DataShape) -> int:
        """Return the bytes of PyTorch, and of a step or a checkpoint, of which the larger one counts.

        Layers and batches that are on a GPU are not counted.
        """
        from generation.engine.learners.networks.step_memory import measure_step

        weights, step = measure_step(cls(config, seed=0), shape)
        on_processor = torch.get_default_device().type == "cpu"
        return TORCH_BYTES + max(int(OVERHEAD * step) + weights if on_processor else 0, CHECKPOINT * weights)

    def make_network(self) -> Any:
        """Return the network with initial weights; by default a `network_model` for the words and the answers."""
        return self.network_model(self.config, words=len(self.vocabulary), answers=len(self.vocabulary.answers))

    def scores(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)` of all answers; by default what the network returns for the batch."""
        return self.network(batch)

    def loss(self, batch: QuestionBatch) -> Any:
        """Return the mean loss of a batch with answers; by default the cross-entropy of `scores`."""
        return functional.cross_entropy(self.scores(batch), batch.answers, ignore_index=-1)

    def read_answers(self, batch: QuestionBatch) -> list[Prediction]:
        """Return the predictions for a batch; by default the answers with the highest scores."""
        best = self.scores(batch).argmax(dim=1).tolist()
        return [Prediction(self.vocabulary.answers[code]) for code in best]

    def make_optimizer(self) -> Any:
        """Return the optimiser; by default Adam."""
        config = self.config
        return torch.optim.Adam(self.network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)

    def text(self, examples: Examples, row: int) -> str:
        """Return the text of an example that the network reads; by default the question."""
        return examples.texts[row]

    def batches(self, train: Examples, chance: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of each step of an epoch; by default all rows in random order."""
        return batches_of(len(train), self.config.batch, chance)

    def read_data(self, train: Examples) -> Mapping[str, Any]:
        """Return data about the training examples that the network needs besides words and answers, as JSON."""
        return {}

    # What the loop of epochs calls

    def begin(self, train: Examples) -> None:
        """Make the vocabulary, the network and the optimiser."""
        words = {word for row in range(len(train)) for word in split_words(self.text(train, row))}
        self.data = dict(self.read_data(train))
        self._make(Vocabulary(words, train.vocabulary))

    def _make(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        torch.manual_seed(self.seed)
        self.network = self.make_network().to(torch.get_default_device())
        self.optimizer = self.make_optimizer()

    def run_epoch(self, train: Examples, chance: np.random.Generator, *, epoch: int, report: TrainingReporter) -> float:
        """Pass through the training examples once, and return the mean loss."""
        torch.manual_seed(int(chance.integers(2**31)))  # of dropout
        self.network.train()
        total, seen = 0.0, 0
        for rows in self.batches(train, chance):
            report.check(seen / len(train), total / seen if seen else None)
            loss = self.step(self.batch(train, rows, is_training=True, chance=chance))
            total, seen = total + float(loss) * len(rows), seen + len(rows)
        return total / seen

    def step(self, batch: QuestionBatch) -> Any:
        """Change the weights by one step, and return the loss."""
        loss = self.loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        if self.config.clip:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip)
        self.optimizer.step()
        return loss.detach()

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return a prediction for each example, in order."""
        self.check_examples(examples)
        return list(self._predictions(examples.without_answers()))

    def _predictions(self, examples: Examples) -> Iterator[Prediction]:
        self.network.eval()
        size = min(PREDICTION_BATCH, self.config.batch)  # a step that learns from `batch` examples fits into the memory
        with torch.no_grad():
            for start in range(0, len(examples), size):
                rows = np.arange(start, min(start + size, len(examples)))
                yield from self.read_answers(self.batch(examples, rows))

    def batch(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        *,
        is_training: bool = False,
        chance: np.random.Generator | None = None,
    ) -> QuestionBatch:
        """Return the examples at `rows` as tensors. `chance` is for methods that vary training examples."""
        words, lengths = self.encode([self.text(examples, row) for row in rows])
        device = torch.get_default_device()
        return QuestionBatch(
            examples,
            rows,
            words.to(device),
            lengths,
            self._images(examples, rows),
            torch.from_numpy(examples.codes_at(rows)).to(device) if examples.answers is not None else None,
        )

    def encode(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """Return the numbers of the words `(texts, longest)`, padded with 0, and the number of words `(texts,)`."""
        numbers = [self.vocabulary.encode(text) or [0] for text in texts]
        lengths = torch.tensor([len(one) for one in numbers], device="cpu")
        words = np.zeros((len(numbers), max(map(len, numbers), default=1)), np.int64)
        for row, one in enumerate(numbers):
            words[row, : len(one)] = one
        return torch.from_numpy(words), lengths

    def _images(self, examples: Examples, rows: NDArray[np.int64]) -> Any:
        if not self.needs.images:
            return None
        assert examples.images is not None
        pixels = torch.from_numpy(np.ascontiguousarray(examples.images[examples.items[rows]]))
        return pixels.to(torch.get_default_device()).permute(0, 3, 1, 2).float() / PIXEL

    # States

    @property
    def parameters(self) -> int:
        """Return the number of parameters that are learned."""
        return sum(weights.numel() for weights in self.network.parameters())

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return the weights, the words, the answers and `data`."""
        weights = {name: tensor.cpu().numpy() for name, tensor in self.network.state_dict().items()}
        known = {"words": list(self.vocabulary.words[2:]), "answers": list(self.vocabulary.answers)}
        return weights, {**known, "data": self.data}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        """Restore weights, words, answers and `data`."""
        if not hasattr(self, "network"):
            self.data = dict(data["data"])
            self._make(Vocabulary(data["words"], tuple(data["answers"])))
        others = self.network.state_dict().keys() ^ arrays.keys()
        if others:
            differing = ", ".join(sorted(others))
            raise BadTraining(f"Expected a model with the weights of {self.name}, got one that differs in {differing}.")
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
        try:
            self.network.load_state_dict(tensors)
        except RuntimeError as error:
            raise BadTraining(f"Expected a model with the weights of {self.name}, got others: {error}") from error

    def training_state(self) -> Arrays:
        """Return the state of the optimiser."""
        found = {}
        for number, state in self.optimizer.state_dict()["state"].items():
            for name, value in state.items():
                found[f"{number}/{name}"] = torch.as_tensor(value).cpu().numpy()
        return found

    def restore_training(self, arrays: Arrays) -> None:
        """Restore the state of the optimiser."""
        whole: dict[str, Any] = self.optimizer.state_dict()
        for key, array in arrays.items():
            number, _, name = key.partition("/")
            whole["state"].setdefault(int(number), {})[name] = torch.from_numpy(np.array(array))
        self.optimizer.load_state_dict(whole)
