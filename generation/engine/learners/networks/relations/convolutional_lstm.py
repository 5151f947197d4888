"""CNN-LSTM: a convolutional network reads the picture, an LSTM the question, and a perceptron answers.

Nothing in it is specific to relations: Bingham et al. 2017, section 3, figure 2 and appendix 6.5.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.networks.encoders import LayerSize, QuestionEncoder
from generation.engine.learners.networks.optional_torch import nn, torch
from generation.engine.learners.networks.picture_learner import PictureLearner
from generation.engine.learners.networks.relations.layers import (
    HIDDEN,
    MINI,
    Perceptron,
    VerifierConfig,
    convolutions,
    flat_size,
)
from generation.engine.learners.networks.torch_learner import QuestionBatch


class ConvolutionalLstmConfig(VerifierConfig):
    """The settings of CNN-LSTM. The paper does not give the size of word vectors; this size is ours.

    Attributes
    ----------
    embedding, units : int
        The size of a word vector, and of the state of the LSTM.
    """

    embedding: LayerSize = 64
    units: LayerSize = 128


class ConvolutionalLstmNetwork(nn.Module):
    """The network of figure 2."""

    def __init__(self, config: ConvolutionalLstmConfig, *, words: int, answers: int, picture: tuple[int, int]) -> None:
        super().__init__()
        self.picture = nn.Sequential(*convolutions((3, *config.filters), config.dropout), nn.Flatten())
        self.question = QuestionEncoder(words, embedding=config.embedding, units=config.units)
        self.decision = Perceptron(flat_size(picture, config.filters) + config.units)
        self.answer = nn.Linear(HIDDEN[-1], answers)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        both = torch.cat([self.picture(batch.images), self.question(batch.words, batch.lengths)], dim=1)
        return self.answer(self.decision(both))


class ConvolutionalLstm(PictureLearner):
    """Chooses an answer from the joined features of the picture and of the question."""

    name = "convolutional-lstm"
    label = "CNN-LSTM"
    source = "Bingham et al. 2017, Characterizing how VQA models scale with the world, figure 2"
    config_model: ClassVar[type[LearnerConfig]] = ConvolutionalLstmConfig
    mini: ClassVar[Mapping[str, Any]] = MINI
    config: ConvolutionalLstmConfig

    def make_network(self) -> Any:
        """Return convolutions, an LSTM and a perceptron."""
        answers, words = len(self.vocabulary.answers), len(self.vocabulary)
        return ConvolutionalLstmNetwork(self.config, words=words, answers=answers, picture=self.picture_size)
