"""Parts that several networks share: they read questions, see pictures and choose answers."""

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from generation.engine.learners.networks.optional_torch import nn, torch

COLOURS = 3
COORDINATES = 2
LayerSize = Annotated[int, Field(ge=1, le=8192)]
LayerSizes = Annotated[tuple[LayerSize, ...], Field(min_length=1, max_length=8)]


class QuestionEncoder(nn.Module):
    """Word vectors and a recurrent network; it returns the last state of the top layer.

    Parameters
    ----------
    words : int
        The number of words of the vocabulary.
    embedding : int
        The size of a word vector.
    units, layers : int
        The size of a state, and the number of layers.
    cell : {"lstm", "gru"}
    """

    def __init__(
        self, words: int, *, embedding: int, units: int, layers: int = 1, cell: Literal["lstm", "gru"] = "lstm"
    ) -> None:
        super().__init__()
        self.vectors = nn.Embedding(words, embedding, padding_idx=0)
        kind = nn.LSTM if cell == "lstm" else nn.GRU
        self.reader = kind(embedding, units, num_layers=layers, batch_first=True)

    def forward(self, words: Any, lengths: Any) -> Any:
        """Return the state `(batch, units)` after the last word of each text."""
        states, _ = self.reader(self.vectors(words))  # faster than packed sequences; a state depends on earlier words
        return states[torch.arange(len(words)), lengths - 1]


class MeanOfWords(nn.Module):
    """Word vectors; it returns the mean of the vectors of a text."""

    def __init__(self, words: int, *, embedding: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(words, embedding, padding_idx=0)

    def forward(self, words: Any, lengths: Any) -> Any:
        """Return the mean `(batch, embedding)` of the vectors of each text."""
        return self.vectors(words).sum(dim=1) / lengths.to(words.device)[:, None]


class Convolutions(nn.Module):
    """Layers of a convolution with stride 2, batch normalisation and ReLU; each halves height and width.

    Parameters
    ----------
    channels : sequence of int
        The filters of 3 x 3 of each layer.
    """

    def __init__(self, channels: Sequence[int]) -> None:
        super().__init__()
        self.layers = nn.Sequential()
        for below, above in zip((COLOURS, *channels), channels, strict=False):
            self.layers.append(nn.Conv2d(below, above, 3, stride=2, padding=1, bias=False))
            self.layers.append(nn.BatchNorm2d(above))
            self.layers.append(nn.ReLU())

    def forward(self, images: Any) -> Any:
        """Return the features `(batch, channels, rows, columns)` of images `(batch, 3, height, width)`."""
        return self.layers(images)


class PictureEncoder(nn.Module):
    """Convolutions whose features become one vector: their mean over all places, or all of them.

    Parameters
    ----------
    channels : sequence of int
        The filters of each layer.
    pooling : {"average", "flat"}
    picture : tuple of int
        The height and width of the pictures.

    Attributes
    ----------
    size : int
        The size of the vector.
    """

    def __init__(
        self, channels: Sequence[int], *, pooling: Literal["average", "flat"], picture: tuple[int, int]
    ) -> None:
        super().__init__()
        pool, places = nn.AdaptiveAvgPool2d(1), 1
        if pooling == "flat":
            pool, places = nn.Identity(), math.prod(halve(side, len(channels)) for side in picture)
        self.layers = nn.Sequential(Convolutions(channels), pool, nn.Flatten())
        self.size = channels[-1] * places

    def forward(self, images: Any) -> Any:
        """Return `(batch, size)` for images `(batch, 3, height, width)`."""
        return self.layers(images)


def halve(size: int, times: int) -> int:
    """Return the height or width of a picture after `times` layers of stride 2."""
    return math.ceil(size / 2**times)


def with_coordinates(features: Any) -> Any:
    """Return features `(batch, channels, rows, columns)` with two more channels: row and column, from -1 to 1."""
    batch, _, rows, columns = features.shape
    down = torch.linspace(-1, 1, rows, device=features.device)[None, None, :, None]
    right = torch.linspace(-1, 1, columns, device=features.device)[None, None, None, :]
    size = (batch, 1, rows, columns)
    return torch.cat([features, down.expand(size), right.expand(size)], dim=1)


def make_classifier(inputs: int, hidden: Sequence[int], outputs: int, *, dropout: float) -> Any:
    """Return a perceptron with ReLU: each hidden layer comes before dropout, and the last layer gives scores."""
    layers = nn.Sequential()
    for below, above in zip((inputs, *hidden), hidden, strict=False):
        layers.extend([nn.Linear(below, above), nn.ReLU(), nn.Dropout(dropout)])
    layers.append(nn.Linear((inputs, *hidden)[-1], outputs))
    return layers
