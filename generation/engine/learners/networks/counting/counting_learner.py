"""The base classes of networks that count the regions of a picture, and how a predicted number becomes an answer."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from generation.engine.learners.base import ExampleParts, LearnerConfig, Prediction
from generation.engine.learners.examples import Region
from generation.engine.learners.networks.counting.regions import RegionBatch, RegionConfig, RegionEncoder, boxes_of
from generation.engine.learners.networks.encoders import LayerSize
from generation.engine.learners.networks.optional_torch import functional, torch
from generation.engine.learners.networks.picture_learner import PictureLearner
from generation.engine.learners.networks.torch_learner import QuestionBatch

PAPER = "Dancette et al. 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting"
REGION_MINI: Mapping[str, Any] = {
    "height": 96,
    "width": 144,
    "together": 2,
    "batch": 32,
    "learning_rate": 0.001,
    "embedding": 64,
    "question": 64,
    "crop_channels": [24, 48, 64],
    "features": 128,
}


class CountingConfig(RegionConfig):
    """The settings of networks that count regions.

    The paper's detector and GRU were trained on other data. Here everything is trained from scratch, and the sizes of
    word vectors and GRU are ours. The size `mini`
    has small layers, a learning rate that suits them, and small batches, because the networks need about 1,500 steps
    until they distinguish shapes.

    Attributes
    ----------
    embedding, question : int
        The size of a word vector, and of the state of the GRU that reads questions.
    """

    height: int = Field(224, ge=8, le=1024)
    width: int = Field(336, ge=8, le=1024)
    embedding: LayerSize = 300
    question: LayerSize = 1024


class RegionLearner(PictureLearner):
    """A network that sees the regions of a picture and chooses an answer.

    The network has `regions`, a `RegionEncoder`. Its `forward` takes a batch of questions and the regions of each, and
    returns the scores `(batch, answers)` of all answers and the scores `(batch, most)` of regions, or None.
    """

    config_model: ClassVar[type[LearnerConfig]] = CountingConfig
    mini: ClassVar[Mapping[str, Any]] = REGION_MINI
    needs = ExampleParts(images=True, regions=True, counts=True)
    network: Any

    def look(self, batch: QuestionBatch) -> RegionBatch:
        """Return the regions of the picture of each example. Each picture is processed once."""
        examples = batch.examples
        assert examples.regions is not None
        items, first, places = np.unique(examples.items[batch.rows], return_index=True, return_inverse=True)
        boxes, present = (one.to(batch.images.device) for one in boxes_of(examples.regions, items, self.config))
        encoder: RegionEncoder = self.network.regions
        features = encoder(batch.images[torch.from_numpy(first)], boxes, present)
        at = torch.from_numpy(places)
        return RegionBatch(boxes[at], present[at], features[at])

    def scores(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)` of all answers."""
        return self.network(batch, self.look(batch))[0]

    def read_answers(self, batch: QuestionBatch) -> list[Prediction]:
        """Return the answers with the highest scores, and the scores of regions if the network has them."""
        regions = self.look(batch)
        scores, counted = self.network(batch, regions)
        answers = [self.vocabulary.answers[code] for code in scores.argmax(dim=1).tolist()]
        return [
            Prediction(answer, one) for answer, one in zip(answers, regions_with_scores(regions, counted), strict=True)
        ]


class RegressionLearner(RegionLearner):
    """A network that sees the regions of a picture and predicts a number.

    Instead of scores of answers, its network returns the predicted numbers `(batch,)`.
    """

    def read_data(self, train: Any) -> Mapping[str, Any]:
        """Return the size of pictures, the largest count, the mean count, and the mean number of regions."""
        assert train.answers is not None and train.regions is not None
        regions = np.diff(train.regions.starts)[train.items].mean() + self.config.false_boxes
        counts = {
            "most": train.most_counted,
            "mean_count": float(np.mean([int(answer) for answer in train.answers])),
            "mean_regions": float(regions),
        }
        return {**super().read_data(train), **counts}

    def loss(self, batch: QuestionBatch) -> Any:
        """Return the squared error of the numbers."""
        numbers, _ = self.network(batch, self.look(batch))
        return functional.mse_loss(numbers, right_numbers(batch, numbers))

    def read_answers(self, batch: QuestionBatch) -> list[Prediction]:
        """Return the predicted numbers, the rounded answers, and the scores of regions if there are any."""
        regions, most = self.look(batch), self.data["most"]
        numbers, counted = self.network(batch, regions)
        found = zip(numbers.clamp(0, most).tolist(), regions_with_scores(regions, counted), strict=True)
        return [Prediction(str(round(number)), one, number) for number, one in found]


def right_numbers(batch: QuestionBatch, like: Any) -> Any:
    """Return the answers of a batch as numbers `(batch,)`, of the type and device of `like`."""
    assert batch.examples.answers is not None
    return like.new_tensor([float(batch.examples.answers[row]) for row in batch.rows])


def regions_with_scores(regions: RegionBatch, counted: Any) -> list[tuple[tuple[Region, float], ...] | None]:
    """Return the regions of each example with their scores; None for each example if there are no scores."""
    if counted is None:
        return [None] * len(regions.boxes)
    rows = zip(regions.boxes.tolist(), counted.tolist(), regions.present.sum(dim=1).tolist(), strict=True)
    return [
        tuple((_region(box), score) for box, score in zip(boxes[:count], scores[:count], strict=True))
        for boxes, scores, count in rows
    ]


def _region(box: list[float]) -> Region:
    left, top, right, bottom = box
    return left, top, right, bottom
