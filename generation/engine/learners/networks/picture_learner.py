"""The base class of networks that see pictures. A picture with several questions is processed once."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.errors import BadTraining
from generation.engine.learners.base import ExampleParts, LearnerConfig, Prediction
from generation.engine.learners.epoch_learner import cut_into_batches
from generation.engine.learners.examples import Examples
from generation.engine.learners.networks.optional_torch import torch
from generation.engine.learners.networks.torch_learner import PictureConfig, QuestionBatch, TorchLearner


class SharedPictureConfig(PictureConfig):
    """The settings of a network that processes a picture once for several questions.

    Attributes
    ----------
    together : int
        The number of questions about the same picture that are in a step together. With 1, all questions are in
        random order. Each picture of a step is processed once, so a larger number makes training faster.
    """

    together: int = Field(1, ge=1, le=1000)


class PictureLearner(TorchLearner):
    """A network that sees pictures. All pictures must have the same size as in the training."""

    config_model: ClassVar[type[LearnerConfig]] = SharedPictureConfig
    config: Any  # a SharedPictureConfig
    needs: ClassVar[ExampleParts] = ExampleParts(images=True)

    def read_data(self, train: Examples) -> Mapping[str, Any]:
        """Return the height and width of the pictures."""
        assert train.images is not None
        return {"height": int(train.images.shape[1]), "width": int(train.images.shape[2])}

    @property
    def picture_size(self) -> tuple[int, int]:
        """Return the height and width of the pictures."""
        return self.data["height"], self.data["width"]

    def batches(self, train: Examples, chance: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of each step of an epoch. `together` questions about the same picture are in the same step."""
        return batches_by_item(train.items, self.config.batch, together=self.config.together, chance=chance)

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return a prediction for each example, in order; raise `BadTraining` for pictures of another size."""
        self.check_examples(examples)
        assert examples.images is not None
        if examples.images.shape[1:3] != self.picture_size:
            (height, width), (rows, columns) = self.picture_size, examples.images.shape[1:3]
            message = f"Expected pictures of {width} x {height} pixels, as in the training, got {columns} x {rows}."
            raise BadTraining(message, where=examples.name)
        return super().predict(examples)


def see_once(see: Any, batch: QuestionBatch) -> Any:
    """Return the results of the module `see` for the picture of each example. It processes each picture once."""
    _, first, places = np.unique(batch.examples.items[batch.rows], return_index=True, return_inverse=True)
    return see(batch.images[torch.from_numpy(first)])[torch.from_numpy(places)]


def batches_by_item(
    items: NDArray[np.integer], size: int, *, together: int, chance: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Yield the positions of all `items` in random order, in the batches of `cut_into_batches`.

    The positions of an item are divided into groups of `together` at random, and one smaller group if some are left.
    The members of a group follow each other.
    """
    order = chance.permutation(len(items))
    order = order[np.argsort(items[order], kind="stable")]
    ordered = items[order]
    within = np.arange(len(items)) - np.searchsorted(ordered, ordered)
    groups = np.cumsum(within % together == 0) - 1
    turns = chance.permutation(len(items))[groups]
    return cut_into_batches(order[np.argsort(turns, kind="stable")], size)
