"""LSTM over stories: it reads the lines of the story and then the question, word by word, and chooses the answer.

It learns only from answers and not from supporting lines.

References
----------
Weston et al. 2015, section 5, "LSTM".
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from generation.engine.learners.base import ExampleParts, LearnerConfig
from generation.engine.learners.examples import Examples
from generation.engine.learners.networks.encoders import QuestionEncoder
from generation.engine.learners.networks.optional_torch import nn
from generation.engine.learners.networks.torch_learner import NetworkConfig, QuestionBatch, TorchLearner


class StoryLstmConfig(NetworkConfig):
    """The settings of an LSTM over stories. The paper chose them for each task and does not state them.

    Attributes
    ----------
    embedding : int
        The size of a word vector.
    units, layers : int
        The size of a state of the LSTM, and the number of its layers.
    lines : int
        The number of last lines of a story that are read.
    """

    clip: float = Field(10.0, ge=0, le=1000)
    embedding: int = Field(50, ge=1, le=4096)
    units: int = Field(100, ge=1, le=8192)
    layers: int = Field(1, ge=1, le=8)
    lines: int = Field(1000, ge=1, le=10_000)


class StoryNetwork(nn.Module):
    """Reads the words, and returns the scores of all answers."""

    def __init__(self, config: StoryLstmConfig, *, words: int, answers: int) -> None:
        super().__init__()
        self.read = QuestionEncoder(words, embedding=config.embedding, units=config.units, layers=config.layers)
        self.choose = nn.Linear(config.units, answers)

    def forward(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)`."""
        return self.choose(self.read(batch.words, batch.lengths))


class StoryLstm(TorchLearner):
    """Reads the story and the question as one text."""

    name = "story-lstm"
    label = "Story LSTM"
    source = "Weston et al. 2015, section 5"
    config_model: ClassVar[type[LearnerConfig]] = StoryLstmConfig
    network_model = StoryNetwork
    config: StoryLstmConfig
    mini: ClassVar[Mapping[str, Any]] = {"learning_rate": 0.002, "lines": 60}
    needs: ClassVar[ExampleParts] = ExampleParts(stories=True)

    def text(self, examples: Examples, row: int) -> str:
        """Return the last lines of the story and the question."""
        assert examples.stories is not None
        return " ".join((*examples.stories[row][-self.config.lines :], examples.texts[row]))
