"""SCN, the spatial counting network: the count is the sum of scores from 0 to 1, one for each region.

The features of each region are fused with the question, attend to the other regions, and are fused with the question
again. The loss is the squared error of the sum, plus the entropy of the scores, which moves them towards 0 and 1. A
variant has no entropy. Dancette et al. 2020, section 3, figure 3, equations 1 and 2, and appendix 6.2.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from generation.engine.learners.base import LearnerConfig, TrainingReporter
from generation.engine.learners.examples import Examples
from generation.engine.learners.networks.counting.counting_learner import (
    PAPER,
    REGION_MINI,
    CountingConfig,
    RegressionLearner,
    right_numbers,
)
from generation.engine.learners.networks.counting.fusion import ProductFusion
from generation.engine.learners.networks.counting.regions import RegionBatch, RegionEncoder
from generation.engine.learners.networks.encoders import LayerSize, QuestionEncoder
from generation.engine.learners.networks.optional_torch import functional, nn, torch
from generation.engine.learners.networks.torch_learner import QuestionBatch


class SpatialCountingConfig(CountingConfig):
    """The settings of SCN; the defaults are those of the paper's text, except for the sizes of the question.

    A network whose features are not pretrained learns nothing with these defaults. So the size `mini` has smaller
    layers, a larger learning rate, and a smaller weight of the entropy, which is 0 in the first epochs. Before the
    features describe regions, the entropy would move the scores of all regions to 0.

    Attributes
    ----------
    fusion, hidden, attention : int
        The sizes of the projections of a fusion, of the result of the first fusion, and of the head of attention.
    entropy : float
        The weight of the entropy in the loss.
    entropy_from, entropy_over : int
        The entropy has no weight in the first `entropy_from` epochs. Then its weight rises for `entropy_over` epochs.
    decay, decay_from, decay_every : float, int, int
        From epoch `decay_from` on, counted from 0, the learning rate is multiplied by `decay` in every
        `decay_every`-th epoch.
    """

    epochs: int = Field(30, ge=1, le=10_000)
    patience_steps: int = Field(10**9, ge=1, le=10**9)  # the paper's training does not stop early
    learning_rate: float = Field(2e-5, gt=0, le=10)
    fusion: LayerSize = 768
    hidden: LayerSize = 1500
    attention: LayerSize = 500
    entropy: float = Field(1.0, ge=0, le=1000)
    entropy_from: int = Field(0, ge=0, le=10_000)
    entropy_over: int = Field(0, ge=0, le=10_000)
    decay: float = Field(0.25, gt=0, le=1)
    decay_from: int = Field(14, ge=0, le=10_000)
    decay_every: int = Field(2, ge=1, le=10_000)


class SpatialCountingNetwork(nn.Module):
    """The network of figure 3.

    Parameters
    ----------
    config : SpatialCountingConfig
    words : int
    share : float
        The mean share of regions that are counted. The initial scores are near it, so that their sum is near the mean
        count.
    """

    def __init__(self, config: SpatialCountingConfig, *, words: int, share: float) -> None:
        super().__init__()
        asked, size = config.question, config.hidden
        self.question = QuestionEncoder(words, embedding=config.embedding, units=asked, cell="gru")
        self.regions = RegionEncoder(config)
        self.fusion = ProductFusion(config.features, asked, between=config.fusion, outputs=size)
        self.attention = SelfAttention(size, config.attention)
        self.score = ProductFusion(size, asked, between=config.fusion, outputs=1)
        nn.init.constant_(self.score.outputs.bias, math.log(share / (1 - share)))

    def forward(self, batch: QuestionBatch, regions: RegionBatch) -> tuple[Any, Any]:
        """Return the counts `(batch,)`, and the scores `(batch, most)` of regions; 0 for padding."""
        question = self.question(batch.words, batch.lengths)[:, None]
        fused = self.fusion(regions.features, question)
        related = fused + self.attention(fused, regions.present)
        scores = self.score(related, question)[..., 0].sigmoid() * regions.present
        return scores.sum(dim=1), scores


class SelfAttention(nn.Module):
    """Self-attention with one head."""

    def __init__(self, size: int, head: int) -> None:
        super().__init__()
        self.queries, self.keys, self.values = (nn.Linear(size, head) for _ in range(3))
        self.outputs = nn.Linear(head, size)

    def forward(self, vectors: Any, present: Any) -> Any:
        """Return `(batch, n, size)`: for each vector, a projection of the weighted mean of the present vectors."""
        queries, keys, values = self.queries(vectors), self.keys(vectors), self.values(vectors)
        likeness = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[-1])
        likeness = likeness.masked_fill(~present[:, None, :], torch.finfo(likeness.dtype).min)
        return self.outputs(likeness.softmax(dim=-1) @ values)


def entropy_of(scores: Any, present: Any) -> Any:
    """Return the mean entropy of scores `(batch, most)`, in bits: equation 2, for the regions that are present."""
    safe = scores.clamp(1e-6, 1 - 1e-6)
    bits = -(safe * safe.log2() + (1 - safe) * (1 - safe).log2())
    return ((bits * present).sum(dim=1) / present.sum(dim=1).clamp(min=1)).mean()


class SpatialCounting(RegressionLearner):
    """Predicts the sum of scores, one for each region. The entropy of the scores is a part of the loss."""

    name = "scn"
    label = "SCN"
    source = f"{PAPER}, section 3"
    config_model: ClassVar[type[LearnerConfig]] = SpatialCountingConfig
    mini: ClassVar[Mapping[str, Any]] = {
        **REGION_MINI,
        "epochs": 20,
        "fusion": 128,
        "hidden": 128,
        "attention": 64,
        "entropy": 0.3,
        "entropy_from": 6,
        "entropy_over": 6,
    }
    config: SpatialCountingConfig
    entropy = 0.0  # its weight in the loss of the epoch

    def make_network(self) -> Any:
        """Return a network whose initial counts are near the mean count."""
        share = min(max(self.data["mean_count"] / self.data["mean_regions"], 0.01), 0.99)
        return SpatialCountingNetwork(self.config, words=len(self.vocabulary), share=share)

    def run_epoch(self, train: Examples, chance: np.random.Generator, *, epoch: int, report: TrainingReporter) -> float:
        """Pass through the training examples with the learning rate and the weight of the entropy of this epoch."""
        self.entropy = entropy_weight(self.config, epoch)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.config, epoch)
        return super().run_epoch(train, chance, epoch=epoch, report=report)

    def loss(self, batch: QuestionBatch) -> Any:
        """Return the squared error of the counts plus the weighted entropy of the scores."""
        regions = self.look(batch)
        counts, scores = self.network(batch, regions)
        error = functional.mse_loss(counts, right_numbers(batch, counts))
        return error + self.entropy * entropy_of(scores, regions.present)


class SpatialCountingWithoutEntropy(SpatialCounting):
    """SCN without the entropy in its loss."""

    name = "scn-without-entropy"
    label = "SCN without entropy"
    source = f"{PAPER}, section 4.3 and table 2"

    def loss(self, batch: QuestionBatch) -> Any:
        """Return the squared error of the counts."""
        return RegressionLearner.loss(self, batch)


def entropy_weight(config: SpatialCountingConfig, epoch: int) -> float:
    """Return the weight of the entropy in an epoch, which is counted from 0."""
    since = epoch + 1 - config.entropy_from
    return config.entropy * min(max(since / max(config.entropy_over, 1), 0.0), 1.0)


def learning_rate(config: SpatialCountingConfig, epoch: int) -> float:
    """Return the learning rate in an epoch, which is counted from 0."""
    steps = 0 if epoch < config.decay_from else 1 + (epoch - config.decay_from) // config.decay_every
    return config.learning_rate * config.decay**steps
