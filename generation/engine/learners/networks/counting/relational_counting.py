"""RCN, the relational counting network: it describes pairs of regions, and pairs of a region and a background patch.

A perceptron describes each pair together with the question. The sum over the pairs gives the scores of the answers:
Acharya et al. 2019, TallyQA: Answering Complex Counting Questions, section 4. Here the descriptions are averaged over
the partners of each region and then summed over the regions, so that the sum does not grow with the square of their
number. A variant of Dancette et al. 2020, appendix 6.2, predicts a number instead, and is trained with the squared
error.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.networks.counting.box_geometry import NOTHING, area_of, overlap_of, shared_area
from generation.engine.learners.networks.counting.counting_learner import (
    PAPER,
    REGION_MINI,
    CountingConfig,
    RegionLearner,
    RegressionLearner,
)
from generation.engine.learners.networks.counting.regions import CORNERS, RegionBatch, RegionEncoder
from generation.engine.learners.networks.encoders import (
    Convolutions,
    LayerSize,
    LayerSizes,
    QuestionEncoder,
    make_classifier,
)
from generation.engine.learners.networks.optional_torch import functional, nn, torch
from generation.engine.learners.networks.picture_learner import see_once
from generation.engine.learners.networks.torch_learner import QuestionBatch

PAIR = 2 * CORNERS + 3  # numbers that describe the places of two boxes


class RelationalCountingConfig(CountingConfig):
    """The settings of RCN. The paper that compares the networks gives no sizes; these are ours.

    The number of layers is ours, too, and that the answer also sees the question.

    Attributes
    ----------
    channels : tuple of int
        The filters of the convolutions that describe patches of the background.
    patches : int
        The number of patches in a row and in a column.
    pair : int
        The units of each of the two layers that describe a pair.
    hidden, dropout : int, float
        The units of the layer before the answer, and the dropout after it.
    """

    learning_rate: float = Field(0.0007, gt=0, le=10)
    channels: LayerSizes = (64, 128, 256, 512)
    patches: int = Field(15, ge=1, le=100)
    pair: LayerSize = 1024
    hidden: LayerSize = 1024
    dropout: float = Field(0.5, ge=0, lt=1)


class PairSum(nn.Module):
    """Describes pairs by a perceptron of two layers, and returns a weighted sum over all pairs."""

    def __init__(self, first: int, second: int, question: int, units: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(first, units), nn.Linear(second, units, bias=False)
        self.place, self.question = (nn.Linear(size, units, bias=False) for size in (PAIR, question))
        self.deeper = nn.Linear(units, units)

    def forward(self, first: Any, second: Any, places: Any, question: Any, weights: Any) -> Any:
        """Return the weighted sums `(batch, units)`.

        Parameters
        ----------
        first, second : Tensor (batch, n, size), (batch, m, size)
        places : Tensor (batch, n, m, PAIR)
        question : Tensor (batch, size)
        weights : Tensor (batch, n, m)
            The weight of each pair in the sum.
        """
        pairs = self.first(first)[:, :, None] + self.second(second)[:, None, :]
        pairs = functional.relu(pairs + self.place(places) + self.question(question)[:, None, None])
        return (functional.relu(self.deeper(pairs)) * weights[..., None]).sum(dim=(1, 2))


class RelationalCountingNetwork(nn.Module):
    """The network for classification, or for regression with one output."""

    def __init__(self, config: RelationalCountingConfig, *, words: int, outputs: int) -> None:
        super().__init__()
        asked, seen, units = config.question, config.features, config.pair
        self.question = QuestionEncoder(words, embedding=config.embedding, units=asked, cell="gru")
        self.regions = RegionEncoder(config)
        self.patches = nn.Sequential(Convolutions(config.channels), nn.Upsample((config.patches, config.patches)))
        self.of_regions = PairSum(seen, seen, asked, units)
        self.of_background = PairSum(seen, config.channels[-1], asked, units)
        self.answer = make_classifier(2 * units + asked, [config.hidden], outputs, dropout=config.dropout)

    def forward(self, batch: QuestionBatch, regions: RegionBatch) -> tuple[Any, None]:
        """Return the outputs `(batch, outputs)`, and None in place of scores of regions."""
        question = self.question(batch.words, batch.lengths)
        features, boxes, present = regions.features, regions.boxes, regions.present.float()
        partners = present[:, :, None] * present[:, None, :] / present.sum(dim=1).clamp(min=1)[:, None, None]
        own = self.of_regions(features, features, places_of_pairs(boxes, boxes), question, partners)
        patches = see_once(self.patches, batch)
        where = patch_boxes(patches.shape[-1], like=boxes).expand(len(boxes), -1, -1)
        flat = patches.flatten(2).transpose(1, 2)
        partners = present[:, :, None].expand(-1, -1, flat.shape[1]) / flat.shape[1]
        around = self.of_background(features, flat, places_of_pairs(boxes, where), question, partners)
        return self.answer(torch.cat([own, around, question], dim=1)), None


def places_of_pairs(first: Any, second: Any) -> Any:
    """Return the places `(batch, n, m, PAIR)` of the boxes of pairs: their edges and overlaps."""
    n, m = first.shape[1], second.shape[1]
    shared = shared_area(first, second)
    shares = (
        overlap_of(first, second),
        shared / area_of(first)[:, :, None].clamp(min=NOTHING),
        shared / area_of(second)[:, None, :].clamp(min=NOTHING),
    )
    edges = [first[:, :, None].expand(-1, -1, m, -1), second[:, None].expand(-1, n, -1, -1)]
    return torch.cat([*edges, torch.stack(shares, dim=-1)], dim=-1)


def patch_boxes(side: int, *, like: Any) -> Any:
    """Return the boxes `(1, side * side, 4)` of the patches of a picture, row by row."""
    low = torch.arange(side, device=like.device, dtype=like.dtype) / side
    top, left = (one.flatten() for one in torch.meshgrid(low, low, indexing="ij"))
    return torch.stack([left, top, left + 1 / side, top + 1 / side], dim=-1)[None]


MINI: Mapping[str, Any] = {
    **REGION_MINI,
    "epochs": 15,
    "channels": [16, 32, 48, 64],
    "patches": 3,
    "pair": 96,
    "hidden": 128,
    "dropout": 0.1,
}


class RelationalCounting(RegionLearner):
    """Chooses a count from descriptions of all pairs."""

    name = "rcn"
    label = "RCN"
    source = f"Acharya et al. 2019, TallyQA, section 4; {PAPER}, table 1"
    config_model: ClassVar[type[LearnerConfig]] = RelationalCountingConfig
    mini: ClassVar[Mapping[str, Any]] = MINI
    config: RelationalCountingConfig

    def make_network(self) -> Any:
        """Return a network that scores answers."""
        answers = len(self.vocabulary.answers)
        return RelationalCountingNetwork(self.config, words=len(self.vocabulary), outputs=answers)


class RegressionNetwork(RelationalCountingNetwork):
    """RCN with one output, which is the predicted number."""

    def forward(self, batch: QuestionBatch, regions: RegionBatch) -> tuple[Any, None]:
        """Return the numbers `(batch,)`, and None in place of scores of regions."""
        return super().forward(batch, regions)[0][:, 0], None


class RelationalCountingRegression(RegressionLearner):
    """Predicts a number from descriptions of all pairs."""

    name = "rcn-regression"
    label = "RCN Regression"
    source = f"{PAPER}, section 4.1 and appendix 6.2"
    config_model: ClassVar[type[LearnerConfig]] = RelationalCountingConfig
    mini: ClassVar[Mapping[str, Any]] = MINI
    config: RelationalCountingConfig

    def make_network(self) -> Any:
        """Return a network that predicts a number. Its initial numbers are near the mean count."""
        network = RegressionNetwork(self.config, words=len(self.vocabulary), outputs=1)
        nn.init.constant_(network.answer[-1].bias, self.data["mean_count"])
        return network
