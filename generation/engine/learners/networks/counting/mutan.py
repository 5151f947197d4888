"""MUTAN: attention to the places of a picture, with fusions by a tensor of low rank.

The question is fused with the features of each place, which gives the weight of the place. Then it is fused with the
weighted mean of these features, which gives the scores of the answers: Ben-younes et al. 2017, sections 3 and 4, in the
version with attention.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import ExampleParts, LearnerConfig
from generation.engine.learners.networks.counting.counting_learner import PAPER
from generation.engine.learners.networks.counting.fusion import TuckerFusion
from generation.engine.learners.networks.encoders import (
    COORDINATES,
    Convolutions,
    LayerSize,
    LayerSizes,
    QuestionEncoder,
    with_coordinates,
)
from generation.engine.learners.networks.optional_torch import nn
from generation.engine.learners.networks.picture_learner import PictureLearner, SharedPictureConfig, see_once
from generation.engine.learners.networks.torch_learner import QuestionBatch


class MutanConfig(SharedPictureConfig):
    """The settings of MUTAN. The paper's convolutions and word vectors are pretrained, so their sizes here are ours.

    The learning rate and the batch are ours, too, and that there is only one distribution of attention.

    Attributes
    ----------
    channels : tuple of int
        The filters of the convolutions; each halves the height and the width.
    embedding, question : int
        The size of a word vector, and of the state of the GRU.
    between : int
        The size of the projections of the vectors of picture and question.
    fused : int
        The size of the result of a fusion.
    rank : int
        The rank of each slice of the tensor.
    dropout : float
        The dropout before the scores of answers.
    """

    height: int = Field(224, ge=8, le=1024)
    width: int = Field(336, ge=8, le=1024)
    channels: LayerSizes = (64, 128, 256, 512, 512)
    embedding: LayerSize = 620
    question: LayerSize = 2400
    between: LayerSize = 310
    fused: LayerSize = 510
    rank: int = Field(5, ge=1, le=1000)
    dropout: float = Field(0.5, ge=0, lt=1)


class MutanNetwork(nn.Module):
    """Convolutions, a GRU, and two fusions."""

    def __init__(self, config: MutanConfig, *, words: int, answers: int) -> None:
        super().__init__()
        seen = config.channels[-1] + COORDINATES
        sizes = {"between": config.between, "rank": config.rank, "outputs": config.fused}
        self.question = QuestionEncoder(words, embedding=config.embedding, units=config.question, cell="gru")
        self.picture = Convolutions(config.channels)
        self.attention = TuckerFusion(seen, config.question, **sizes)
        self.weight = nn.Linear(config.fused, 1)
        self.fusion = TuckerFusion(seen, config.question, **sizes)
        self.answer = nn.Sequential(nn.Dropout(config.dropout), nn.Linear(config.fused, answers))

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        question = self.question(batch.words, batch.lengths)
        places = with_coordinates(see_once(self.picture, batch)).flatten(2).transpose(1, 2)
        weights = self.weight(self.attention(places, question[:, None])).softmax(dim=1)
        return self.answer(self.fusion((weights * places).sum(dim=1), question))


class Mutan(PictureLearner):
    """Chooses a count from attended places of the picture, fused with the question."""

    name = "mutan"
    label = "MUTAN"
    source = f"Ben-younes et al. 2017, MUTAN; {PAPER}, table 1"
    config_model: ClassVar[type[LearnerConfig]] = MutanConfig
    network_model = MutanNetwork
    mini: ClassVar[Mapping[str, Any]] = {
        "epochs": 15,
        "height": 96,
        "width": 144,
        "together": 2,
        "channels": [16, 32, 48, 64],
        "embedding": 64,
        "question": 64,
        "between": 64,
        "fused": 64,
        "dropout": 0.1,
    }
    needs = ExampleParts(images=True, counts=True)
    config: MutanConfig
