"""Counter: attention to regions, and a component that counts objects even if several boxes show the same object.

The component makes a graph of the regions. By their boxes, it removes edges within an object and repeated edges between
objects. It reads the count from the remaining edges. The answer is chosen from the count and from the attended
features: Zhang et al. 2018, Learning to Count Objects in Natural Images for Visual Question Answering, sections 4.1 to
4.4.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.errors import BadTraining
from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.examples import Examples
from generation.engine.learners.networks.counting.box_geometry import overlap_of
from generation.engine.learners.networks.counting.counting_learner import (
    PAPER,
    REGION_MINI,
    CountingConfig,
    RegionLearner,
)
from generation.engine.learners.networks.counting.fusion import ProductFusion
from generation.engine.learners.networks.counting.regions import RegionBatch, RegionEncoder
from generation.engine.learners.networks.encoders import LayerSize, QuestionEncoder
from generation.engine.learners.networks.optional_torch import functional, nn, torch
from generation.engine.learners.networks.torch_learner import QuestionBatch

TINY = 1e-20  # keeps the derivative of the root finite at 0


class CounterConfig(CountingConfig):
    """The settings of Counter.

    The batch and the learning rate, which stays the same during the training, are ours. The authors' network has two
    distributions of attention; ours has the one from which it counts.

    Attributes
    ----------
    objects : int
        The number of regions that the component counts: those with the highest attention.
    pieces : int
        The number of straight pieces of each learned function.
    fusion, hidden : int
        The sizes of the fusions, and of the layer before the scores of answers.
    dropout : float
        The dropout before the scores of answers.
    """

    batch: int = Field(64, ge=2, le=100_000)  # batch normalisation needs two examples
    learning_rate: float = Field(0.0015, gt=0, le=10)
    objects: int = Field(10, ge=1, le=100)
    pieces: int = Field(16, ge=1, le=1000)
    fusion: LayerSize = 512
    hidden: LayerSize = 1024
    dropout: float = Field(0.5, ge=0, lt=1)


class RisingFunction(nn.Module):
    """A learned function that never falls, with value 0 at 0 and value 1 at 1.

    It is straight on each of its pieces. Its initial state is the identity.
    """

    def __init__(self, pieces: int) -> None:
        super().__init__()
        self.rises = nn.Parameter(torch.ones(pieces))

    def forward(self, values: Any) -> Any:
        """Return the function of each value."""
        rises = self.rises.abs()
        steps = torch.arange(len(rises), device=values.device)
        return ((values[..., None] * len(rises) - steps).clamp(0, 1) * (rises / rises.sum())).sum(dim=-1)


class CountingComponent(nn.Module):
    """Counts regions by their weights and boxes."""

    def __init__(self, *, objects: int, pieces: int) -> None:
        super().__init__()
        self.objects = objects
        self.functions = nn.ModuleList(RisingFunction(pieces) for _ in range(8))

    def forward(self, weights: Any, boxes: Any) -> Any:
        """Return the counts as vectors `(batch, objects + 1)`.

        Parameters
        ----------
        weights : Tensor (batch, n)
            From 0 to 1; 0 for padding. The highest `objects` are counted. If there are fewer, padding is added, so that
            the counts do not depend on `n`.
        boxes : Tensor (batch, n, 4)
        """
        missing = max(0, self.objects - weights.shape[1])
        weights, boxes = functional.pad(weights, (0, missing)), functional.pad(boxes, (0, 0, 0, missing))
        weights, order = weights.topk(self.objects, dim=1)
        boxes = boxes.gather(1, order[..., None].expand(-1, -1, boxes.shape[2]))
        distances = 1 - overlap_of(boxes, boxes)
        counts = self.count(weights, distances)
        return self.confidence(weights, distances)[:, None] * one_hot(counts, self.objects)

    def count(self, weights: Any, distances: Any) -> Any:
        """Return the counts `(batch,)` for weights `(batch, n)` and distances `(batch, n, n)`."""
        of_pairs, of_distances, of_likeness, of_alike_pairs, of_alike_distances = self.functions[:5]
        pairs = weights[:, :, None] * weights[:, None, :]
        edges = of_pairs(pairs) * of_distances(distances)  # without edges within an object
        alike = of_alike_pairs(pairs) * of_alike_distances(distances)
        rows = of_likeness(1 - (alike[:, :, None, :] - alike[:, None, :, :]).abs()).prod(dim=3)
        likeness = rows * of_likeness(1 - (weights[:, :, None] - weights[:, None, :]).abs())
        copies = likeness.sum(dim=2)  # how many regions show the same object as each
        edges = edges / (copies[:, :, None] * copies[:, None, :])
        loops = of_pairs(weights * weights) / copies
        return (edges.sum(dim=(1, 2)) + loops.sum(dim=1) + TINY).sqrt()

    def confidence(self, weights: Any, distances: Any) -> Any:
        """Return how close the weights and distances are to 0 and 1, `(batch,)`."""
        of_weights, of_distances, of_both = self.functions[5:]
        sure = (of_weights(weights) - 0.5).abs().mean(dim=1)
        return of_both(sure + (of_distances(distances) - 0.5).abs().mean(dim=(1, 2)))


def one_hot(counts: Any, most: int) -> Any:
    """Return counts `(batch,)` as vectors `(batch, most + 1)`: a fraction is divided between its two neighbours."""
    numbers = torch.arange(most + 1, device=counts.device)
    return (1 - (counts.clamp(0, most)[:, None] - numbers).abs()).clamp(min=0)


class CounterNetwork(nn.Module):
    """Attention, the component, and a classifier."""

    def __init__(self, config: CounterConfig, *, words: int, answers: int) -> None:
        super().__init__()
        asked = config.question
        self.question = QuestionEncoder(words, embedding=config.embedding, units=asked, cell="gru")
        self.regions = RegionEncoder(config)
        self.attention = ProductFusion(config.features, asked, between=config.fusion, outputs=1)
        self.component = CountingComponent(objects=config.objects, pieces=config.pieces)
        self.fusion = ProductFusion(config.features, asked, between=config.fusion, outputs=config.hidden)
        self.count = nn.Sequential(nn.Linear(config.objects + 1, config.hidden), nn.ReLU())
        self.count_norm, self.norm = nn.BatchNorm1d(config.hidden), nn.BatchNorm1d(config.hidden)
        self.answer = nn.Sequential(nn.Dropout(config.dropout), nn.Linear(config.hidden, answers))

    def forward(self, batch: QuestionBatch, regions: RegionBatch) -> tuple[Any, Any]:
        """Return the scores `(batch, answers)` of answers, and the weights `(batch, most)` of regions."""
        question = self.question(batch.words, batch.lengths)
        attention = self.attention(regions.features, question[:, None])[..., 0]
        weights = attention.sigmoid() * regions.present
        hidden = attention.masked_fill(~regions.present, torch.finfo(attention.dtype).min)
        seen = (hidden.softmax(dim=1)[..., None] * regions.features).sum(dim=1)
        fused = self.norm(functional.relu(self.fusion(seen, question)))
        counted = self.count_norm(self.count(self.component(weights, regions.boxes)))
        return self.answer(fused + counted), weights


class Counter(RegionLearner):
    """Chooses a count from attended regions and from the result of the counting component."""

    name = "counter"
    label = "Counter"
    source = f"Zhang et al. 2018, Learning to Count Objects in Natural Images; {PAPER}, table 1"
    config_model: ClassVar[type[LearnerConfig]] = CounterConfig
    network_model = CounterNetwork
    mini: ClassVar[Mapping[str, Any]] = {
        **REGION_MINI,
        "epochs": 15,
        "fusion": 128,
        "hidden": 128,
        "dropout": 0.1,
    }
    config: CounterConfig

    @classmethod
    def check_training(cls, train: Examples, val: Examples) -> None:
        """Raise `BadTraining` if the examples cannot train it: batch normalisation needs at least two of them."""
        super().check_training(train, val)
        if len(train) < 2:
            raise BadTraining(f"Expected at least 2 training examples for {cls.label}, got 1.", where=train.name)
