"""Training by epochs: when it stops, and which weights it keeps, for a learner whose accuracies are given."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.learners.base import Arrays, EpochProgress, Prediction, TrainingReporter
from generation.engine.learners.epoch_learner import EpochLearner, count_batches, cut_into_batches
from generation.engine.learners.examples import Examples
from tests.engine.learners.conformance import Interrupted, SilentReporter

COUNT = 10
# Right answers after each epoch. The best epoch before the end is the fifth; the same number again is not better.
RIGHT = (3, 5, 5, 4, 6, 6, 2, 6, 9)
BEST, LAST, PATIENCE = 5, 8, 3
EXAMPLES = Examples(
    name="made/scripted",
    vocabulary=("yes", "no"),
    texts=("Is it?",) * COUNT,
    kinds=("exist",) * COUNT,
    items=np.arange(COUNT),
    answers=("yes",) * COUNT,
)


class Scripted(EpochLearner):
    """Its only weight is the number of epochs, which decides how many answers are right."""

    name = "scripted"
    label = "Scripted"
    source = "our own tests"
    mini: ClassVar[Mapping[str, Any]] = {}

    def begin(self, train: Examples) -> None:
        self.weights = np.zeros(1)

    def run_epoch(self, train: Examples, chance: np.random.Generator, *, epoch: int, report: TrainingReporter) -> float:
        self.weights += 1  # in place, as optimisers do
        return 1.0

    def predict(self, examples: Examples) -> list[Prediction]:
        right = RIGHT[int(self.weights[0]) - 1]
        return [Prediction("yes" if at < right else "no") for at in range(len(examples))]

    def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        return {"weights": self.weights}, {}

    def restore(self, arrays: Arrays, data: Mapping[str, Any]) -> None:
        self.weights = np.array(arrays["weights"])


class NotingReporter(SilentReporter):
    """Notes the progress, and stops the training after an epoch if one is given."""

    def __init__(self, stop: int | None = None) -> None:
        self.stop = stop
        self.seen: list[EpochProgress] = []

    def progress(self, progress: EpochProgress) -> None:
        self.seen.append(progress)
        if progress.epoch == self.stop:
            raise Interrupted


def learner(*, epochs: int = 50, batch: int = COUNT, patience: int = PATIENCE, least: int = 0) -> Scripted:
    config = {"epochs": epochs, "batch": batch, "patience_steps": patience, "least_steps": least}
    return Scripted(Scripted.read_config(config), seed=1)


def test_training_stops_after_some_epochs_without_a_better_accuracy() -> None:
    one, report = learner(), NotingReporter()
    one.fit(EXAMPLES, EXAMPLES, report=report)
    assert [progress.epoch for progress in report.seen] == list(range(1, LAST + 1))
    assert [progress.val_accuracy for progress in report.seen] == [right / COUNT for right in RIGHT[:LAST]]
    assert [progress.best_val_accuracy for progress in report.seen] == [0.3, 0.5, 0.5, 0.5, 0.6, 0.6, 0.6, 0.6]
    assert one.examples_seen == LAST * COUNT


@given(
    batch=st.integers(1, COUNT + 1),
    patience=st.integers(1, 60),
    least=st.integers(0, 60),
    epochs=st.integers(1, len(RIGHT)),
)
def test_a_training_stops_after_the_steps_that_its_settings_give(
    batch: int, patience: int, least: int, epochs: int
) -> None:
    """The twin counts each step of each epoch."""
    steps = list(cut_into_batches(np.arange(COUNT), batch))
    done, best_at, best, last = 0, 0, -1, 0
    while last < epochs and not (last and done >= least and done - best_at >= patience):
        for _ in steps:
            done += 1
        if RIGHT[last] > best:
            best, best_at = RIGHT[last], done
        last += 1
    report = NotingReporter()
    learner(epochs=epochs, batch=batch, patience=patience, least=least).fit(EXAMPLES, EXAMPLES, report=report)
    assert len(report.seen) == last


def test_a_small_split_does_not_end_a_training_that_has_not_begun_to_learn() -> None:
    """With the usual settings, all epochs of a split with ten examples are fewer steps than a training has at least."""
    usual, report = Scripted(Scripted.read_config({"epochs": len(RIGHT)}), seed=1), NotingReporter()
    usual.fit(EXAMPLES, EXAMPLES, report=report)
    assert (len(report.seen), usual.weights.tolist()) == (len(RIGHT), [len(RIGHT)])


def test_the_weights_of_the_first_best_epoch_are_kept() -> None:
    one = learner()
    one.fit(EXAMPLES, EXAMPLES, report=SilentReporter())
    assert one.weights == [BEST]


@pytest.mark.parametrize(("epochs", "best"), [(1, 1), (4, 2), (6, 5)])
def test_the_best_weights_are_kept_if_the_epochs_are_over_first(epochs: int, best: int) -> None:
    one, report = learner(epochs=epochs), NotingReporter()
    one.fit(EXAMPLES, EXAMPLES, report=report)
    assert (len(report.seen), one.weights.tolist()) == (epochs, [best])


@pytest.mark.parametrize("stop", range(1, LAST + 1))
def test_a_training_that_continues_stops_at_the_same_epoch_with_the_same_weights(stop: int, tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        learner().fit(EXAMPLES, EXAMPLES, report=NotingReporter(stop), checkpoint=tmp_path)
    one, report = learner(), NotingReporter()
    one.fit(EXAMPLES, EXAMPLES, report=report, checkpoint=tmp_path)
    assert [progress.epoch for progress in report.seen] == list(range(stop + 1, LAST + 1))
    assert (one.weights.tolist(), one.examples_seen) == ([BEST], LAST * COUNT)


@given(n=st.integers(1, 300), size=st.integers(1, 300))
def test_batches_are_counted_as_they_are_cut(n: int, size: int) -> None:
    assert count_batches(n, size) == len(list(cut_into_batches(np.arange(n), size)))
