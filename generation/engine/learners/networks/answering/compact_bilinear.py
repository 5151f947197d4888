"""CNN+LSTM+MCB: multimodal compact bilinear pooling joins the features of the picture and the question.

All products of a feature of one and a feature of the other would be too many. A count sketch adds each feature to a
random place of a shorter vector, with a random sign. The circular convolution of two sketches is a sketch of all
products, and the Fourier transform computes it fast. The paper used mean features of a ResNet-101 and no attention;
here the convolutions are trained from scratch.

References
----------
Johnson et al. 2017, CLEVR, section 4.1; Fukui et al. 2016, Multimodal Compact Bilinear Pooling, section 3.1.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.networks.answering.picture_and_question import (
    MINI,
    PictureAndQuestionConfig,
)
from generation.engine.learners.networks.encoders import PictureEncoder, QuestionEncoder, make_classifier
from generation.engine.learners.networks.optional_torch import functional, nn, torch
from generation.engine.learners.networks.picture_learner import PictureLearner, see_once
from generation.engine.learners.networks.torch_learner import QuestionBatch

ROOT_OFFSET = 1e-8  # keeps the slope of the square root finite at 0


class CompactBilinearConfig(PictureAndQuestionConfig):
    """The settings of compact bilinear pooling.

    Attributes
    ----------
    sketch : int
        The length of a sketch. Fukui et al. used 16,000; Johnson et al. do not state the length.
    """

    sketch: int = Field(16_000, ge=2, le=100_000)


class CompactBilinear(PictureLearner):
    """Joins picture and question by a sketch of all products of their features."""

    name = "cnn-lstm-mcb"
    label = "CNN+LSTM+MCB"
    source = "Johnson et al. 2017, section 4.1; Fukui et al. 2016, section 3.1"
    config_model: ClassVar[type[LearnerConfig]] = CompactBilinearConfig
    config: CompactBilinearConfig
    mini: ClassVar[Mapping[str, Any]] = {**MINI, "pooling": "flat", "sketch": 1024}

    def make_network(self) -> Any:
        """Return convolutions, an LSTM, the pooling and a perceptron."""
        sizes = {"words": len(self.vocabulary), "answers": len(self.vocabulary.answers)}
        return CompactBilinearNetwork(self.config, picture=self.picture_size, **sizes)


class CompactBilinearNetwork(nn.Module):
    """Reads the question, sees the picture, pools both, and returns the scores of all answers."""

    def __init__(self, config: CompactBilinearConfig, *, words: int, answers: int, picture: tuple[int, int]) -> None:
        super().__init__()
        self.read = QuestionEncoder(words, embedding=config.embedding, units=config.units, layers=config.layers)
        self.see = PictureEncoder(config.channels, pooling=config.pooling, picture=picture)
        self.pool = CompactPooling(self.see.size, config.units, sketch=config.sketch)
        self.choose = make_classifier(config.sketch, config.hidden, answers, dropout=config.dropout)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        return self.choose(self.pool(see_once(self.see, batch), self.read(batch.words, batch.lengths)))


class CompactPooling(nn.Module):
    """A sketch of all products of two vectors, with signed square roots and length 1.

    Parameters
    ----------
    first, second : int
        The sizes of the vectors.
    sketch : int
        The length of the result.
    """

    def __init__(self, first: int, second: int, *, sketch: int) -> None:
        super().__init__()
        self.sketch = sketch
        for name, size in (("first", first), ("second", second)):
            self.register_buffer(f"{name}_places", torch.randint(sketch, (size,)))
            self.register_buffer(f"{name}_signs", torch.randint(2, (size,)).float() * 2 - 1)

    def forward(self, first: Any, second: Any) -> Any:
        """Return `(batch, sketch)` for vectors `(batch, first)` and `(batch, second)`."""
        one = count_sketch(first, self.first_places, self.first_signs, length=self.sketch)
        two = count_sketch(second, self.second_places, self.second_signs, length=self.sketch)
        product = circular_convolution(one, two)
        rooted = torch.sign(product) * torch.sqrt(product.abs() + ROOT_OFFSET)
        return functional.normalize(rooted, dim=1)


def count_sketch(vectors: Any, places: Any, signs: Any, *, length: int) -> Any:
    """Return sketches `(batch, length)`: feature i of the vectors, times `signs[i]`, is added at `places[i]`."""
    empty = torch.zeros(len(vectors), length, dtype=vectors.dtype, device=vectors.device)
    return empty.index_add(1, places, vectors * signs)


def circular_convolution(first: Any, second: Any) -> Any:
    """Return the circular convolution of the rows of two arrays `(batch, length)`."""
    product = torch.fft.rfft(first, dim=1) * torch.fft.rfft(second, dim=1)
    return torch.fft.irfft(product, n=first.shape[1], dim=1)
