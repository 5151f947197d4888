"""A method that learns nothing sensible, but whose answers depend on every epoch, so that a wrong restart shows."""

import sys
import time
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from generation.engine.learners import METHODS
from generation.engine.learners.base import Arrays, EpochConfig, Prediction, TrainingReporter
from generation.engine.learners.epoch_learner import EpochLearner
from generation.engine.learners.examples import Examples

NAME = "toy"


class ToyConfig(EpochConfig):
    """`pause` is how many seconds an epoch takes at least; `trouble` is the epoch in which it fails."""

    pause: float = Field(0.0, ge=0, le=60)
    trouble: int = Field(-1, ge=-1)


class Toy(EpochLearner):
    """Adds random numbers to its weights in every epoch."""

    name = NAME
    label = "Toy"
    source = "our own tests"
    config_model: ClassVar[type[ToyConfig]] = ToyConfig
    mini: ClassVar[Mapping[str, Any]] = {"epochs": 3}
    config: ToyConfig

    def begin(self, train: Examples) -> None:
        self.vocabulary = train.vocabulary
        self.weights = np.zeros(50)

    def run_epoch(self, train: Examples, chance: np.random.Generator, *, epoch: int, report: TrainingReporter) -> float:
        begun = time.monotonic()
        while True:
            spent = time.monotonic() - begun
            report.check(spent / max(spent, self.config.pause, 1e-9), 1.0 / (1 + epoch))
            if spent >= self.config.pause:
                break
            time.sleep(0.02)
        if epoch == self.config.trouble:
            raise RuntimeError("the toy breaks")
        self.weights += chance.normal(size=len(self.weights))
        return 1.0 / (1 + epoch)

    def predict(self, examples: Examples) -> list[Prediction]:
        digits = (np.abs(self.weights) * 1000).astype(int)
        return [
            Prediction(self.vocabulary[digits[at % len(digits)] % len(self.vocabulary)]) for at in range(len(examples))
        ]

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        return {"weights": self.weights}, {"vocabulary": list(self.vocabulary)}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        self.weights, self.vocabulary = np.array(arrays["weights"]), tuple(data["vocabulary"])


def register() -> None:
    """Make the method known under its name."""
    sys.modules["generation.engine.learners.toys"] = sys.modules[__name__]
    METHODS[NAME] = "toys:Toy"
