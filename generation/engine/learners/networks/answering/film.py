"""FiLM: the question scales and shifts the features of a network that sees the picture.

A GRU reads the question. From its last state, a linear layer gives a factor and an offset for each channel of each
block of convolutions. After the blocks, a perceptron chooses the answer by the largest value of each channel.

References
----------
Perez et al. 2018, FiLM: Visual Reasoning with a General Conditioning Layer, section 3, on raw pixels.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.networks.encoders import (
    COORDINATES,
    Convolutions,
    LayerSizes,
    QuestionEncoder,
    make_classifier,
    with_coordinates,
)
from generation.engine.learners.networks.optional_torch import nn, torch
from generation.engine.learners.networks.picture_learner import PictureLearner, SharedPictureConfig, see_once
from generation.engine.learners.networks.torch_learner import QuestionBatch


class FilmConfig(SharedPictureConfig):
    """The settings of FiLM; the defaults are those of the paper.

    The first layers of the paper have filters of 4 x 4; ours have filters of 3 x 3.

    Attributes
    ----------
    embedding : int
        The size of a word vector.
    units : int
        The size of a state of the GRU.
    channels : tuple of int
        The filters of each layer of convolutions with stride 2 before the blocks.
    blocks : int
        The number of blocks whose features the question changes.
    width_of_blocks : int
        The channels of each block.
    projection : int
        The channels after the last block.
    hidden : int
        The units of the hidden layer of the perceptron that chooses the answer.
    """

    epochs: int = Field(80, ge=1, le=10_000)
    patience_steps: int = Field(50_000, ge=1, le=10**9)
    least_steps: int = Field(100_000, ge=0, le=10**9)
    learning_rate: float = Field(0.0003, gt=0, le=10)
    weight_decay: float = Field(0.00001, ge=0, le=1)
    height: int = Field(224, ge=8, le=1024)
    width: int = Field(224, ge=8, le=1024)
    embedding: int = Field(200, ge=1, le=4096)
    units: int = Field(4096, ge=1, le=8192)
    channels: LayerSizes = (128, 128, 128, 128)
    blocks: int = Field(4, ge=1, le=16)
    width_of_blocks: int = Field(128, ge=1, le=4096)
    projection: int = Field(512, ge=1, le=4096)
    hidden: int = Field(1024, ge=1, le=8192)


class FilmNetwork(nn.Module):
    """Encodes the question, conditions the picture features on it, and returns the scores of all answers."""

    def __init__(self, config: FilmConfig, *, words: int, answers: int) -> None:
        super().__init__()
        wide = config.width_of_blocks
        self.read = QuestionEncoder(words, embedding=config.embedding, units=config.units, cell="gru")
        self.condition = nn.Linear(config.units, config.blocks * 2 * wide)
        self.see = nn.Sequential(
            Convolutions(config.channels), nn.Conv2d(config.channels[-1], wide, 3, padding=1), nn.ReLU()
        )
        self.blocks = nn.ModuleList(FilmBlock(wide) for _ in range(config.blocks))
        self.project = nn.Sequential(
            nn.Conv2d(wide + COORDINATES, config.projection, 1),
            nn.BatchNorm2d(config.projection),
            nn.ReLU(),
        )
        self.choose = make_classifier(config.projection, (config.hidden,), answers, dropout=0.0)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        features = see_once(self.see, batch)
        conditions = self.condition(self.read(batch.words, batch.lengths)).chunk(2 * len(self.blocks), dim=1)
        for number, block in enumerate(self.blocks):
            features = block(features, conditions[2 * number], conditions[2 * number + 1])
        # The gradient of AdaptiveMaxPool2d, which gives the same figures, is not deterministic on a GPU.
        return self.choose(self.project(with_coordinates(features)).amax(dim=(2, 3)))


class FilmBlock(nn.Module):
    """A residual block: a convolution of 1 x 1 over features and coordinates, then one of 3 x 3 that is modulated."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels + COORDINATES, channels, 1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.normalise = nn.BatchNorm2d(channels, affine=False)

    def forward(self, features: Any, scale: Any, shift: Any) -> Any:
        """Return features `(batch, channels, rows, columns)` for factors and offsets `(batch, channels)`."""
        kept = torch.relu(self.first(with_coordinates(features)))
        return kept + torch.relu(modulate(self.normalise(self.second(kept)), scale, shift))


def modulate(features: Any, scale: Any, shift: Any) -> Any:
    """Return features whose channels are multiplied by `1 + scale`, and to which `shift` is added."""
    return (1 + scale)[:, :, None, None] * features + shift[:, :, None, None]


class Film(PictureLearner):
    """Sees the picture by features that the question changes."""

    name = "film"
    label = "FiLM"
    source = "Perez et al. 2018, section 3"
    config_model: ClassVar[type[LearnerConfig]] = FilmConfig
    network_model = FilmNetwork
    config: FilmConfig
    mini: ClassVar[Mapping[str, Any]] = {
        "epochs": 25,
        "patience_steps": 5_000,
        "least_steps": 10_000,
        "learning_rate": 0.001,
        "height": 64,
        "width": 96,
        "together": 5,
        "embedding": 32,
        "units": 96,
        "channels": [24, 32, 32],
        "blocks": 2,
        "width_of_blocks": 32,
        "projection": 64,
        "hidden": 128,
    }
