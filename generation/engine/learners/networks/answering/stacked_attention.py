"""CNN+LSTM+SA: stacked attention. The question selects places of the picture, in several rounds.

In each round, every place of the picture gets a weight by its features and the query; the weighted mean of the
features is added to the query. The first query is the last state of an LSTM over the question. A perceptron chooses
the answer from the last query. The paper used features of a ResNet-101 that was trained on photographs; here the
convolutions are trained from scratch.

References
----------
Johnson et al. 2017, CLEVR, section 4.1; Yang et al. 2016, Stacked Attention Networks, section 3.3.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import LearnerConfig
from generation.engine.learners.networks.answering.picture_and_question import MINI, PictureAndQuestionConfig
from generation.engine.learners.networks.encoders import Convolutions, QuestionEncoder, make_classifier
from generation.engine.learners.networks.optional_torch import nn, torch
from generation.engine.learners.networks.picture_learner import PictureLearner, see_once
from generation.engine.learners.networks.torch_learner import QuestionBatch


class StackedAttentionConfig(PictureAndQuestionConfig):
    """The settings of stacked attention. `pooling` is not used.

    Attributes
    ----------
    rounds : int
        The number of rounds of attention. The paper has one or more rounds; in Yang et al., two were best.
    attention : int
        The size of the layer that computes the weights of places, as in Yang et al.
    """

    rounds: int = Field(2, ge=1, le=8)
    attention: int = Field(512, ge=1, le=8192)


class StackedAttentionNetwork(nn.Module):
    """Reads the question, sees the picture, attends to it in rounds, and returns the scores of all answers."""

    def __init__(self, config: StackedAttentionConfig, *, words: int, answers: int) -> None:
        super().__init__()
        self.read = QuestionEncoder(words, embedding=config.embedding, units=config.units, layers=config.layers)
        fitted = nn.Conv2d(config.channels[-1], config.units, 1)
        self.see = nn.Sequential(Convolutions(config.channels), fitted, nn.Tanh(), nn.Flatten(2))
        rounds = (Attention(config.units, config.attention) for _ in range(config.rounds))
        self.rounds = nn.ModuleList(rounds)
        self.choose = make_classifier(config.units, config.hidden, answers, dropout=config.dropout)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        places = see_once(self.see, batch).transpose(1, 2)
        query = self.read(batch.words, batch.lengths)
        for attend in self.rounds:
            query = query + attend(places, query)
        return self.choose(query)


class Attention(nn.Module):
    """One round: it gives places weights by a query, and returns the weighted mean of their features.

    Parameters
    ----------
    units : int
        The size of the features of a place, and of the query.
    hidden : int
        The size of the layer that computes the weights.
    """

    def __init__(self, units: int, hidden: int) -> None:
        super().__init__()
        self.of_place = nn.Linear(units, hidden, bias=False)
        self.of_query = nn.Linear(units, hidden)
        self.weigh = nn.Linear(hidden, 1)

    def forward(self, places: Any, query: Any) -> Any:
        """Return `(batch, units)` for places `(batch, places, units)` and a query `(batch, units)`."""
        hidden = torch.tanh(self.of_place(places) + self.of_query(query)[:, None])
        weights = torch.softmax(self.weigh(hidden), dim=1)
        return (weights * places).sum(dim=1)


class StackedAttention(PictureLearner):
    """Attends to the picture in several rounds. Each round uses the result of the round before."""

    name = "cnn-lstm-sa"
    label = "CNN+LSTM+SA"
    source = "Johnson et al. 2017, section 4.1; Yang et al. 2016, section 3.3"
    config_model: ClassVar[type[LearnerConfig]] = StackedAttentionConfig
    network_model = StackedAttentionNetwork
    config: StackedAttentionConfig
    mini: ClassVar[Mapping[str, Any]] = {
        **MINI,
        "batch": 64,
        "learning_rate": 0.001,
        "channels": [24, 32, 64],
        "attention": 64,
    }
