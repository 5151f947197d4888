"""LSTM: it answers from the question alone, so its accuracy shows how much questions reveal about answers.

An LSTM reads the word vectors, and a perceptron chooses the answer from the last state.

References
----------
Johnson et al. 2017, CLEVR, section 4.1; after "LSTM Q" of Antol et al. 2015.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.networks.encoders import LayerSizes, QuestionEncoder, make_classifier
from generation.engine.learners.networks.optional_torch import nn
from generation.engine.learners.networks.torch_learner import NetworkConfig, QuestionBatch, TorchLearner


class QuestionConfig(NetworkConfig):
    """The settings of a network that reads a question and chooses an answer.

    The paper used one or two layers of 512 or 1024 units, one or two hidden layers of 1024 to 8192 units, dropout and
    Adam, all chosen for each model. It does not state which values were best; the defaults are two layers and otherwise
    the smallest ones. It also does not state the learning rate, the batch, the dropout and the size of word vectors.

    Attributes
    ----------
    embedding : int
        The size of a word vector.
    units, layers : int
        The size of a state of the LSTM, and the number of its layers.
    hidden : tuple of int
        The units of each hidden layer of the perceptron.
    dropout : float
        The dropout after each hidden layer of the perceptron.
    """

    epochs: int = Field(60, ge=1, le=10_000)
    patience_steps: int = Field(50_000, ge=1, le=10**9)
    least_steps: int = Field(100_000, ge=0, le=10**9)
    learning_rate: float = Field(0.0005, gt=0, le=10)
    embedding: int = Field(300, ge=1, le=4096)
    units: int = Field(512, ge=1, le=8192)
    layers: int = Field(2, ge=1, le=8)
    hidden: LayerSizes = (1024,)
    dropout: float = Field(0.5, ge=0, le=0.99)


class QuestionNetwork(nn.Module):
    """Reads the words and returns the scores of all answers."""

    def __init__(self, config: QuestionConfig, *, words: int, answers: int) -> None:
        super().__init__()
        self.read = QuestionEncoder(words, embedding=config.embedding, units=config.units, layers=config.layers)
        self.choose = make_classifier(config.units, config.hidden, answers, dropout=config.dropout)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        return self.choose(self.read(batch.words, batch.lengths))


class QuestionLstm(TorchLearner):
    """Answers without seeing the picture or the story."""

    name = "lstm"
    label = "LSTM"
    source = "Johnson et al. 2017, section 4.1"
    config_model: ClassVar[type[LearnerConfig]] = QuestionConfig
    network_model = QuestionNetwork
    config: QuestionConfig
    mini: ClassVar[Mapping[str, Any]] = {
        "epochs": 15,
        "patience_steps": 5_000,
        "least_steps": 10_000,
        "batch": 128,
        "learning_rate": 0.002,
        "embedding": 32,
        "units": 96,
        "layers": 1,
        "hidden": [256],
        "dropout": 0.2,
    }
