"""The base class of learners whose training is so short that it needs no checkpoints."""

from abc import abstractmethod
from pathlib import Path

from generation.engine.learners.base import EpochProgress, Learner, TrainingReporter, accuracy
from generation.engine.learners.examples import Examples


class LearnerWithoutCheckpoints(Learner):
    """A learner without checkpoints. After an interruption, its training starts again from the beginning."""

    @abstractmethod
    def learn(self, train: Examples, *, report: TrainingReporter) -> None:
        """Find the weights. `report.check` must be called every few seconds."""

    def fit(self, train: Examples, val: Examples, *, report: TrainingReporter, checkpoint: Path | None = None) -> None:
        """Find the weights, and report the accuracy on `val`. The folder `checkpoint` is not used."""
        self.check_training(train, val)
        report.begin_epoch(0, 1)
        self.learn(train, report=report)
        self.examples_seen = len(train)
        share = accuracy(self.predict(val), val)
        report.progress(EpochProgress(1, 1, None, share, share, self.examples_seen))
