"""Networks that judge whether a caption agrees with a picture. One of them sees only the caption.

An LSTM reads the caption, and three layers of convolutions see the picture. In one network, a linear layer brings the
features of the caption to the size of the picture's features, and both are multiplied. In another one, both are joined.
A perceptron with one hidden layer judges the result. The paper's network gives one number for agreement. Here each
answer has a score, which is equivalent for two answers.

References
----------
Kuhnle and Copestake 2017, section 5.1 and figure 4, for the multiplication. The variants for comparison, the caption
alone and the joined features, are those of the code that the authors published later.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.networks.encoders import COLOURS, LayerSize, QuestionEncoder, make_classifier
from generation.engine.learners.networks.optional_torch import nn, torch
from generation.engine.learners.networks.picture_learner import PictureLearner, SharedPictureConfig, see_once
from generation.engine.learners.networks.torch_learner import NetworkConfig, QuestionBatch, TorchLearner

KERNELS = (5, 3, 3)
POOLED = 2  # each layer halves height and width


class CaptionConfig(NetworkConfig):
    """The settings of a network that reads a caption.

    The paper states the sizes and the batch. It does not state the optimiser and the learning rate. It has no number of
    epochs, because it drew a new batch for each step.

    Attributes
    ----------
    embedding : int
        The size of a word vector.
    units : int
        The size of a state of the LSTM.
    hidden : int
        The units of the hidden layer.
    """

    batch: int = Field(128, ge=1, le=100_000)
    embedding: int = Field(32, ge=1, le=4096)
    units: int = Field(64, ge=1, le=8192)
    hidden: int = Field(512, ge=1, le=8192)


class PictureAndCaptionConfig(CaptionConfig, SharedPictureConfig):
    """The settings of a network that sees a picture and reads a caption.

    Attributes
    ----------
    channels : tuple of int
        The filters of the three layers of convolutions.
    normalised : bool
        Whether each layer of convolutions has batch normalisation, which the paper does not mention.
    """

    channels: tuple[LayerSize, LayerSize, LayerSize] = (16, 32, 64)
    normalised: bool = False


MINI: Mapping[str, Any] = {"epochs": 20, "learning_rate": 0.002}
PICTURE_MINI: Mapping[str, Any] = {**MINI, "together": 2, "normalised": True}


class FusionLearner(PictureLearner):
    """Judges whether a caption agrees with a picture."""

    source = "Kuhnle and Copestake 2017, section 5.1"
    config_model: ClassVar[type[LearnerConfig]] = PictureAndCaptionConfig
    mini: ClassVar[Mapping[str, Any]] = PICTURE_MINI

    @abstractmethod
    def make_fusion(self, world: int, caption: int) -> tuple[Any, int]:
        """Return the module that fuses features of the picture and caption of these sizes, and its result's size."""

    def make_network(self) -> Any:
        """Return convolutions, an LSTM, their fusion and a perceptron."""
        config, (rows, columns) = self.config, self.picture_size
        places = math.prod(side // POOLED ** len(KERNELS) for side in (rows, columns))
        fusion, size = self.make_fusion(config.channels[-1] * places, config.units)
        answers = len(self.vocabulary.answers)
        return FusionNetwork(config, words=len(self.vocabulary), fusion=fusion, size=size, answers=answers)


class CnnLstmMultiplied(FusionLearner):
    """Multiplies the features of the picture and of the caption."""

    name = "cnn-lstm-multiplied"
    label = "CNN+LSTM (multiplied)"

    def make_fusion(self, world: int, caption: int) -> tuple[Any, int]:
        """Return the multiplication, and the size of its result."""
        return Multiplication(world, caption), world


class CnnLstmConcatenated(FusionLearner):
    """Joins the features of the picture and of the caption."""

    name = "cnn-lstm-concatenated"
    label = "CNN+LSTM (concatenated)"

    def make_fusion(self, world: int, caption: int) -> tuple[Any, int]:
        """Return the concatenation, and the size of its result."""
        return Concatenation(), world + caption


class CaptionNetwork(nn.Module):
    """Reads a caption, and returns the scores of all answers."""

    def __init__(self, config: CaptionConfig, *, words: int, answers: int) -> None:
        super().__init__()
        self.read = QuestionEncoder(words, embedding=config.embedding, units=config.units)
        self.judge = make_classifier(config.units, (config.hidden,), answers, dropout=0.0)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        return self.judge(self.read(batch.words, batch.lengths))


class CaptionLstm(TorchLearner):
    """Judges whether the caption is true without seeing the picture."""

    name = "caption-lstm"
    label = "Caption LSTM"
    source = "Kuhnle and Copestake 2017, section 5.1, without the picture"
    config_model: ClassVar[type[LearnerConfig]] = CaptionConfig
    network_model = CaptionNetwork
    config: CaptionConfig
    mini: ClassVar[Mapping[str, Any]] = MINI


class FusionNetwork(nn.Module):
    """Sees a picture, reads a caption, fuses both, and returns the scores of all answers."""

    def __init__(self, config: PictureAndCaptionConfig, *, words: int, fusion: Any, size: int, answers: int) -> None:
        super().__init__()
        self.read = QuestionEncoder(words, embedding=config.embedding, units=config.units)
        self.see = PooledConvolutions(config.channels, normalised=config.normalised)
        self.fuse = fusion
        self.judge = make_classifier(size, (config.hidden,), answers, dropout=0.0)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        world, caption = see_once(self.see, batch), self.read(batch.words, batch.lengths)
        return self.judge(self.fuse(world, caption))


class PooledConvolutions(nn.Module):
    """Three layers of convolution and ReLU, each followed by pooling of 2 x 2: maximum, maximum, mean."""

    def __init__(self, channels: tuple[int, int, int], *, normalised: bool) -> None:
        super().__init__()
        self.layers = nn.Sequential()
        pools = (nn.MaxPool2d(POOLED), nn.MaxPool2d(POOLED), nn.AvgPool2d(POOLED))
        for below, above, kernel, pool in zip((COLOURS, *channels), channels, KERNELS, pools, strict=False):
            self.layers.append(nn.Conv2d(below, above, kernel, padding=kernel // 2))
            if normalised:
                self.layers.append(nn.BatchNorm2d(above))
            self.layers.extend([nn.ReLU(), pool])
        self.layers.append(nn.Flatten())

    def forward(self, images: Any) -> Any:
        """Return the features `(batch, channels x rows x columns)` of images `(batch, 3, height, width)`."""
        return self.layers(images)


class Multiplication(nn.Module):
    """Brings the features of the caption to the size of those of the picture, and multiplies them."""

    def __init__(self, world: int, caption: int) -> None:
        super().__init__()
        self.scale = nn.Linear(caption, world)

    def forward(self, world: Any, caption: Any) -> Any:
        """Return the products `(batch, world)`."""
        return world * self.scale(caption)


class Concatenation(nn.Module):
    """Joins the features of the picture and of the caption."""

    def forward(self, world: Any, caption: Any) -> Any:
        """Return both `(batch, world + caption)`."""
        return torch.cat([world, caption], dim=1)
