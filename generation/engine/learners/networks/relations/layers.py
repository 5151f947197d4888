"""The convolutions and the perceptron that both networks have, and their settings."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pydantic import Field

from generation.engine.learners.networks.encoders import LayerSize, halve
from generation.engine.learners.networks.optional_torch import nn
from generation.engine.learners.networks.picture_learner import SharedPictureConfig

HIDDEN = (128, 100, 50, 25, 25, 4)  # units of the perceptron's layers
ACTIVE = 0.5  # what each unit of the last layer gives at first; as a side of a box, it is the picture's middle

MINI: Mapping[str, Any] = {"batch": 32, "epochs": 15}


class VerifierConfig(SharedPictureConfig):
    """The settings of both networks. The paper does not give the size of pictures and the dropout; these are ours.

    Both networks answer like a coin at first. PBN finds the boxes after about 500 steps, and CNN-LSTM begins to learn
    after 3,000 to 6,000. The size `mini` has smaller batches, so an epoch has more steps.

    Attributes
    ----------
    filters : tuple of three int
        The filters of the three convolutions.
    dropout : float
        The dropout after each convolution.
    """

    height: int = Field(64, ge=8, le=1024)
    width: int = Field(96, ge=8, le=1024)
    epochs: int = Field(200, ge=1, le=10_000)
    batch: int = Field(128, ge=1, le=100_000)
    learning_rate: float = Field(0.001, gt=0, le=10)
    filters: tuple[LayerSize, LayerSize, LayerSize] = (20, 50, 100)
    dropout: float = Field(0.1, ge=0, lt=1)


def after_convolution(filters: int, dropout: float) -> Any:
    """Return the layers that follow each convolution."""
    return nn.Sequential(nn.BatchNorm2d(filters), nn.ReLU(), nn.Dropout(dropout))


def convolution(inputs: int, filters: int) -> Any:
    """Return a convolution that halves the height and the width."""
    return nn.Conv2d(inputs, filters, 3, stride=2, padding=1)


def convolutions(filters: Sequence[int], dropout: float) -> list[Any]:
    """Return convolutions and the layers after each; the first of `filters` is the number of input channels."""
    return [
        layer
        for before, after in pairwise(filters)
        for layer in (convolution(before, after), after_convolution(after, dropout))
    ]


def flat_size(picture: tuple[int, int], filters: Sequence[int]) -> int:
    """Return the number of features that the convolutions give for a picture of this height and width."""
    return math.prod(halve(side, len(filters)) for side in picture) * filters[-1]


class Perceptron(nn.Module):
    """The layers of `HIDDEN`, each with a ReLU after it, as in the paper.

    Earlier models had no ReLU after the last layer. Their weights have other names, so `restore` refuses them.

    Parameters
    ----------
    inputs : int
        The number of features.
    """

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential()
        for before, after in pairwise((inputs, *HIDDEN)):
            self.layers.extend([nn.Linear(before, after), nn.ReLU()])
        # With random biases, units of the last layer are often 0 for every input, and then they learn nothing.
        nn.init.constant_(self.layers[-2].bias, ACTIVE)

    def forward(self, features: Any) -> Any:
        """Return the activations `(batch, 4)` of the last layer for features `(batch, inputs)`."""
        return self.layers(features)
