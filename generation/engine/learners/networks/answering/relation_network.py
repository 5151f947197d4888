"""RN: a relation network. It combines each pair of places of the picture with the question, and sums the results.

Each place of the convolutions' last layer, with its coordinates, is an object. One perceptron sees each ordered pair of
objects together with the question; the sum of its results goes to a second one, which chooses the answer.

References
----------
Santoro et al. 2017, A simple neural network module for relational reasoning, sections 3 and 5.1 and its supplement.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
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


class RelationConfig(SharedPictureConfig):
    """The settings of a relation network; the defaults are those that the paper used on pixels.

    Attributes
    ----------
    embedding : int
        The size of a word vector.
    units : int
        The size of a state of the LSTM.
    channels : tuple of int
        The filters of each layer of convolutions of 3 x 3 with stride 2.
    pair : tuple of int
        The units of each layer of the perceptron that sees pairs.
    hidden : tuple of int
        The units of each hidden layer of the perceptron that chooses the answer.
    dropout : float
        The dropout after each hidden layer; the paper has it only after the last one.
    """

    epochs: int = Field(250, ge=1, le=10_000)
    patience_steps: int = Field(50_000, ge=1, le=10**9)
    least_steps: int = Field(100_000, ge=0, le=10**9)
    learning_rate: float = Field(0.00025, gt=0, le=10)
    height: int = Field(128, ge=8, le=1024)
    width: int = Field(128, ge=8, le=1024)
    embedding: int = Field(32, ge=1, le=4096)
    units: int = Field(128, ge=1, le=8192)
    channels: LayerSizes = (24, 24, 24, 24)
    pair: LayerSizes = (256, 256, 256, 256)
    hidden: LayerSizes = (256, 256)
    dropout: float = Field(0.5, ge=0, le=0.99)


class PairwiseNetwork(nn.Module):
    """Sees the picture, reads the question, compares pairs of places, and returns the scores of all answers."""

    def __init__(self, config: RelationConfig, *, words: int, answers: int) -> None:
        super().__init__()
        self.read = QuestionEncoder(words, embedding=config.embedding, units=config.units)
        self.see = Convolutions(config.channels)
        self.relate = Pairs(config.channels[-1] + COORDINATES, config.units, units=config.pair)
        self.choose = make_classifier(config.pair[-1], config.hidden, answers, dropout=config.dropout)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        objects = with_coordinates(see_once(self.see, batch)).flatten(2).transpose(1, 2)
        return self.choose(self.relate(objects, self.read(batch.words, batch.lengths)))


class Pairs(nn.Module):
    """A perceptron with ReLU over each ordered pair of objects and the question; it returns the sum over all pairs.

    The first layer is a sum of three parts: one for the first object, one for the second object and one for the
    question. So each part is computed once and not for each pair.

    Parameters
    ----------
    object_size, question_size : int
    units : sequence of int
        The units of each layer.
    """

    def __init__(self, object_size: int, question_size: int, *, units: Sequence[int]) -> None:
        super().__init__()
        self.first = nn.Linear(object_size, units[0], bias=False)
        self.second = nn.Linear(object_size, units[0], bias=False)
        self.question = nn.Linear(question_size, units[0])
        self.rest = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(units))

    def forward(self, objects: Any, question: Any) -> Any:
        """Return `(batch, units)` for objects `(batch, objects, size)` and questions `(batch, size)`."""
        second = self.second(objects) + self.question(question)[:, None]
        found = torch.relu(self.first(objects)[:, :, None] + second[:, None])
        for layer in self.rest:
            found = torch.relu(layer(found))
        return found.sum(dim=(1, 2))


class RelationNetwork(PictureLearner):
    """Compares all pairs of places."""

    name = "relation-network"
    label = "RN"
    source = "Santoro et al. 2017, section 5.1"
    config_model: ClassVar[type[LearnerConfig]] = RelationConfig
    network_model = PairwiseNetwork
    config: RelationConfig
    mini: ClassVar[Mapping[str, Any]] = {
        "epochs": 25,
        "patience_steps": 5_000,
        "least_steps": 10_000,
        "learning_rate": 0.001,
        "height": 64,
        "width": 96,
        "together": 5,
        "units": 96,
        "channels": [24, 32, 32, 32],
        "pair": [64, 64, 64],
        "hidden": [128],
        "dropout": 0.0,
    }
