"""CNN+BoW and CNN+LSTM: features of the picture and of the question are joined, and a perceptron chooses the answer.

The question is the mean of its word vectors (CNN+BoW) or the last state of an LSTM (CNN+LSTM). The paper used features
of a ResNet-101 that was trained on photographs, and for CNN+BoW word vectors of a news corpus; here everything is
trained from scratch on the training examples.

References
----------
Johnson et al. 2017, CLEVR, section 4.1; CNN+BoW after Zhou et al. 2015, CNN+LSTM after Antol et al. 2015.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.networks.answering.question_lstm import QuestionConfig, QuestionLstm
from generation.engine.learners.networks.encoders import (
    LayerSizes,
    MeanOfWords,
    PictureEncoder,
    QuestionEncoder,
    make_classifier,
)
from generation.engine.learners.networks.optional_torch import nn, torch
from generation.engine.learners.networks.picture_learner import PictureLearner, SharedPictureConfig, see_once
from generation.engine.learners.networks.torch_learner import QuestionBatch


class PictureAndQuestionConfig(QuestionConfig, SharedPictureConfig):
    """The settings of a network that sees a picture, reads a question and chooses an answer.

    Attributes
    ----------
    channels : tuple of int
        The filters of each layer of convolutions of 3 x 3 with stride 2; the paper has none, as it used a ResNet-101.
    pooling : {"average", "flat"}
        Whether the perceptron gets the mean of the features over all places, as in the paper, or the features of all
        places.
    """

    height: int = Field(224, ge=8, le=1024)
    width: int = Field(224, ge=8, le=1024)
    channels: LayerSizes = (64, 128, 256, 512)
    pooling: Literal["average", "flat"] = "average"


MINI: Mapping[str, Any] = {
    **QuestionLstm.mini,
    "epochs": 30,
    "height": 64,
    "width": 96,
    "together": 5,
    "channels": [24, 32, 48, 64],
}


class CnnLstm(PictureLearner):
    """Joins features of convolutions and the last state of an LSTM."""

    name = "cnn-lstm"
    label = "CNN+LSTM"
    source = "Johnson et al. 2017, section 4.1"
    config_model: ClassVar[type[LearnerConfig]] = PictureAndQuestionConfig
    config: PictureAndQuestionConfig
    mini: ClassVar[Mapping[str, Any]] = {**MINI, "pooling": "flat"}

    def make_reader(self) -> tuple[Any, int]:
        """Return the module that reads the question, and the size of its result."""
        config = self.config
        words = len(self.vocabulary)
        reader = QuestionEncoder(words, embedding=config.embedding, units=config.units, layers=config.layers)
        return reader, config.units

    def make_network(self) -> Any:
        """Return convolutions, a reader of the question and a perceptron."""
        reader, size = self.make_reader()
        answers = len(self.vocabulary.answers)
        return PictureAndQuestionNetwork(
            self.config, reader=reader, size=size, answers=answers, picture=self.picture_size
        )


class CnnBow(CnnLstm):
    """Joins features of convolutions and the mean of word vectors."""

    name = "cnn-bow"
    label = "CNN+BoW"

    def make_reader(self) -> tuple[Any, int]:
        """Return the module that reads the question, and the size of its result."""
        return MeanOfWords(len(self.vocabulary), embedding=self.config.embedding), self.config.embedding


class PictureAndQuestionNetwork(nn.Module):
    """Joins the features of the picture and of the question, and returns the scores of all answers."""

    def __init__(
        self, config: PictureAndQuestionConfig, *, reader: Any, size: int, answers: int, picture: tuple[int, int]
    ) -> None:
        super().__init__()
        self.read = reader
        self.see = PictureEncoder(config.channels, pooling=config.pooling, picture=picture)
        self.choose = make_classifier(self.see.size + size, config.hidden, answers, dropout=config.dropout)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        return self.choose(torch.cat([see_once(self.see, batch), self.read(batch.words, batch.lengths)], dim=1))
