"""The fit of learners that find their weights in one go, without epochs whose accuracy is measured."""

from abc import abstractmethod
from pathlib import Path

from generation.engine.learners.base import EpochProgress, Learner, TrainingReporter, accuracy
from generation.engine.learners.examples import Examples


class LearnerWithoutCheckpoints(Learner):
    """A learner whose training is short. If it is interrupted, it starts again."""

    @abstractmethod
    def learn(self, train: Examples, *, report: TrainingReporter) -> None:
        """Find the weights. `report.check` must be called every few seconds."""

    def fit(self, train: Examples, val: Examples, *, report: TrainingReporter, checkpoint: Path | None = None) -> None:
        """Find the weights, and report the accuracy on `val`. Nothing is kept in `checkpoint`."""
        self.check_training(train, val)
        self.learn(train, report=report)
        self.examples_seen = len(train)
        share = accuracy(self.predict(val), val)
        report.progress(EpochProgress(1, 1, None, share, share, self.examples_seen))
