"""Q-Only, I-Only and Q+I: a perceptron chooses the count from the question, from the picture, or from both.

They show which accuracy is possible without counting: Acharya et al. 2019, TallyQA, section 5, and Dancette et al.
2020, table 1.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import ExampleParts, LearnerConfig
from generation.engine.learners.networks.counting.counting_learner import PAPER
from generation.engine.learners.networks.encoders import (
    LayerSize,
    LayerSizes,
    PictureEncoder,
    QuestionEncoder,
    make_classifier,
)
from generation.engine.learners.networks.optional_torch import nn, torch
from generation.engine.learners.networks.picture_learner import PictureLearner, SharedPictureConfig, see_once
from generation.engine.learners.networks.torch_learner import NetworkConfig, QuestionBatch, TorchLearner


class QuestionOnlyConfig(NetworkConfig):
    """The settings of Q-Only. The paper does not give them; these are ours.

    Attributes
    ----------
    embedding, question : int
        The size of a word vector, and of the state of the GRU.
    hidden : int
        The units of the perceptron's hidden layer.
    dropout : float
        The dropout after the hidden layer.
    """

    embedding: LayerSize = 300
    question: LayerSize = 1024
    hidden: LayerSize = 1024
    dropout: float = Field(0.5, ge=0, lt=1)


class ImageOnlyConfig(SharedPictureConfig):
    """The settings of I-Only. The paper's features of pictures are pretrained; here they are trained from scratch.

    Attributes
    ----------
    channels : tuple of int
        The filters of the convolutions; each halves the height and the width.
    hidden, dropout : int, float
        The units of the hidden layer, and the dropout after it.
    """

    height: int = Field(224, ge=8, le=1024)
    width: int = Field(336, ge=8, le=1024)
    channels: LayerSizes = (64, 128, 256, 512, 512)
    hidden: LayerSize = 1024
    dropout: float = Field(0.5, ge=0, lt=1)


class QuestionAndImageConfig(QuestionOnlyConfig, ImageOnlyConfig):
    """The settings of Q+I: those of Q-Only and of I-Only."""


TEXT_MINI: Mapping[str, Any] = {"epochs": 15, "embedding": 64, "question": 64, "hidden": 128}
IMAGE_MINI: Mapping[str, Any] = {
    "epochs": 15,
    "height": 96,
    "width": 144,
    "together": 2,
    "channels": [16, 32, 48, 64],
    "hidden": 128,
}


class QuestionOnlyNetwork(nn.Module):
    """A GRU and a perceptron."""

    def __init__(self, config: QuestionOnlyConfig, *, words: int, answers: int) -> None:
        super().__init__()
        self.question = QuestionEncoder(words, embedding=config.embedding, units=config.question, cell="gru")
        self.answer = make_classifier(config.question, [config.hidden], answers, dropout=config.dropout)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        return self.answer(self.question(batch.words, batch.lengths))


class ImageOnlyNetwork(nn.Module):
    """Convolutions and a perceptron."""

    def __init__(self, config: ImageOnlyConfig, *, picture: tuple[int, int], answers: int) -> None:
        super().__init__()
        self.picture = PictureEncoder(config.channels, pooling="flat", picture=picture)
        self.answer = make_classifier(self.picture.size, [config.hidden], answers, dropout=config.dropout)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        return self.answer(see_once(self.picture, batch))


class QuestionAndImageNetwork(nn.Module):
    """A GRU, convolutions, and a perceptron over both."""

    def __init__(self, config: QuestionAndImageConfig, *, words: int, picture: tuple[int, int], answers: int) -> None:
        super().__init__()
        self.question = QuestionEncoder(words, embedding=config.embedding, units=config.question, cell="gru")
        self.picture = PictureEncoder(config.channels, pooling="flat", picture=picture)
        both = config.question + self.picture.size
        self.answer = make_classifier(both, [config.hidden], answers, dropout=config.dropout)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        return self.answer(torch.cat([self.question(batch.words, batch.lengths), see_once(self.picture, batch)], dim=1))


class QuestionOnly(TorchLearner):
    """Chooses a count from the question alone."""

    name = "q-only"
    label = "Q-Only"
    source = f"{PAPER}, table 1"
    config_model: ClassVar[type[LearnerConfig]] = QuestionOnlyConfig
    network_model = QuestionOnlyNetwork
    mini: ClassVar[Mapping[str, Any]] = TEXT_MINI
    needs = ExampleParts(counts=True)
    config: QuestionOnlyConfig


class ImageOnly(PictureLearner):
    """Chooses a count from the picture alone."""

    name = "i-only"
    label = "I-Only"
    source = f"{PAPER}, table 1"
    config_model: ClassVar[type[LearnerConfig]] = ImageOnlyConfig
    mini: ClassVar[Mapping[str, Any]] = IMAGE_MINI
    needs = ExampleParts(images=True, counts=True)
    config: ImageOnlyConfig

    def make_network(self) -> Any:
        """Return convolutions and a perceptron."""
        return ImageOnlyNetwork(self.config, picture=self.picture_size, answers=len(self.vocabulary.answers))


class QuestionAndImage(PictureLearner):
    """Chooses a count from the question and the picture."""

    name = "q-and-i"
    label = "Q+I"
    source = f"{PAPER}, table 1"
    config_model: ClassVar[type[LearnerConfig]] = QuestionAndImageConfig
    mini: ClassVar[Mapping[str, Any]] = {**TEXT_MINI, **IMAGE_MINI}
    needs = ExampleParts(images=True, counts=True)
    config: QuestionAndImageConfig

    def make_network(self) -> Any:
        """Return a GRU, convolutions and a perceptron."""
        answers, words = len(self.vocabulary.answers), len(self.vocabulary)
        return QuestionAndImageNetwork(self.config, words=words, picture=self.picture_size, answers=answers)
