"""The base class of learners that are trained by epochs, with early stopping and checkpoints.

A training that was interrupted ends with the same weights as one that was not: the random numbers of an epoch depend
only on the seed and the number of the epoch, and the state after each epoch is stored on the disk.
"""

import shutil
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadTraining
from generation.engine.learners.base import (
    Arrays,
    EpochConfig,
    EpochProgress,
    Learner,
    LearnerConfig,
    TrainingReporter,
    accuracy,
)
from generation.engine.learners.examples import Examples
from generation.engine.learners.model_files import read_model, write_model

LAST = "last.safetensors"


class EpochLearner(Learner):
    """A learner that improves its weights epoch by epoch, and keeps the best weights on the validation examples."""

    config_model: ClassVar[type[LearnerConfig]] = EpochConfig
    config: EpochConfig

    @abstractmethod
    def begin(self, train: Examples) -> None:
        """Make the initial weights and all data that depend on the training examples, such as the vocabulary."""

    @abstractmethod
    def run_epoch(self, train: Examples, chance: np.random.Generator, *, epoch: int, report: TrainingReporter) -> float:
        """Pass through the training examples once, and return the mean loss.

        Parameters
        ----------
        train : Examples
        chance : Generator
            The random numbers of this epoch.
        epoch : int
            Counted from 0.
        report : TrainingReporter
            `check` must be called every few seconds.
        """

    def steps_of_epoch(self, train: Examples) -> int:
        """Return the number of steps in an epoch; for several networks, those of the one with the fewest."""
        return count_batches(len(train), self.config.batch)

    def training_state(self) -> Arrays:
        """Return the arrays that the next epoch needs besides `state`, for example the momenta of the optimiser."""
        return {}

    def restore_training(self, arrays: Arrays) -> None:
        """Restore the arrays that `training_state` returned."""

    def fit(self, train: Examples, val: Examples, *, report: TrainingReporter, checkpoint: Path | None = None) -> None:
        """Train until `patience_steps` have not improved the accuracy on `val`, and keep the weights of the best epoch.

        Every training has at least `least_steps`, or all its epochs.
        """
        self.check_training(train, val)
        history = History() if checkpoint is None else History.read(checkpoint)
        self.begin(train)
        if checkpoint is not None and history.epochs:
            self._take_over(checkpoint)
            report.recall(history.rows)
        best = history.best_state if history.epochs else None
        steps = self.steps_of_epoch(train)
        while history.epochs < self.config.epochs and not self._has_settled(history, steps):
            report.begin_epoch(history.epochs, self.config.epochs)
            chance = np.random.Generator(np.random.PCG64([self.seed, history.epochs]))
            loss = self.run_epoch(train, chance, epoch=history.epochs, report=report)
            if not np.isfinite(loss):
                setting = f"{self.name}: learning_rate"
                raise BadTraining(f"Expected a loss that is a number, got {loss}. Lower the rate.", where=setting)
            self.examples_seen += len(train)
            share = accuracy(self.predict(val), val) or 0.0
            if history.note(loss, share):
                best = _copied(self.state())
            if checkpoint is not None:
                self._keep(checkpoint, history, best)
            epochs = (history.epochs, self.config.epochs)
            report.progress(EpochProgress(*epochs, loss, share, history.best, self.examples_seen))
        assert best is not None
        self.restore(*best)

    def _has_settled(self, history: "History", steps: int) -> bool:
        """Return whether enough epochs of so many steps are done, and enough of them without a better accuracy."""
        is_long = history.epochs * steps >= self.config.least_steps
        return is_long and history.since_best * steps >= self.config.patience_steps

    def _keep(self, folder: Path, history: "History", best: tuple[Arrays, Mapping[str, Any]] | None) -> None:
        """Store the state after an epoch as a new checkpoint, and delete earlier checkpoints."""
        assert best is not None
        arrays, data = self.state()
        parts = {"now": arrays, "best": best[0], "training": self.training_state()}
        whole = {f"{part}/{name}": array for part, some in parts.items() for name, array in some.items()}
        about = {
            "epochs": history.epochs,
            "best": history.best,
            "since_best": history.since_best,
            "history": history.rows,
            "examples_seen": self.examples_seen,
            "state": dict(data),
            "best_state": dict(best[1]),
        }
        place = folder / f"epoch-{history.epochs:06d}"
        temporary = folder / "unfinished"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        write_model(temporary / LAST, whole, about)
        shutil.rmtree(place, ignore_errors=True)
        temporary.replace(place)
        for other in folder.glob("epoch-*"):
            if other != place:
                shutil.rmtree(other)

    def _take_over(self, folder: Path) -> None:
        arrays, about = read_model(_latest(folder) / LAST)
        self.restore(_part(arrays, "now"), about["state"])
        self.restore_training(_part(arrays, "training"))
        self.examples_seen = about["examples_seen"]


class History:
    """The best accuracy on the validation examples so far.

    Attributes
    ----------
    epochs : int
        The number of epochs that are done.
    best : float or None
    since_best : int
        The number of epochs after the best one.
    best_state : tuple or None
        The state after the best epoch, if the history was read from a checkpoint.
    rows : list of (int, float, float)
        The number, the loss and the accuracy on the validation examples of each epoch.
    """

    def __init__(self) -> None:
        self.epochs = 0
        self.best: float | None = None
        self.since_best = 0
        self.best_state: tuple[Arrays, Mapping[str, Any]] | None = None
        self.rows: list[tuple[int, float, float]] = []

    @classmethod
    def read(cls, folder: Path) -> "History":
        """Return the history of a checkpoint; a new one if the folder has none."""
        found = cls()
        latest = _latest(folder)
        if latest is not None:
            arrays, about = read_model(latest / LAST)
            found.epochs, found.best, found.since_best = about["epochs"], about["best"], about["since_best"]
            found.best_state = (_part(arrays, "best"), about["best_state"])
            found.rows = [tuple(row) for row in about["history"]]
        return found

    def note(self, loss: float, share: float) -> bool:
        """Add one more epoch, and return whether its accuracy is better than all earlier ones."""
        self.epochs += 1
        self.rows.append((self.epochs, loss, share))
        is_best = self.best is None or share > self.best
        self.best, self.since_best = (share, 0) if is_best else (self.best, self.since_best + 1)
        return is_best


def batches_of(n: int, size: int, chance: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers 0 to n - 1 in random order, in the batches of `cut_into_batches`."""
    return cut_into_batches(chance.permutation(n), size)


def count_batches(n: int, size: int) -> int:
    """Return the number of batches into which `cut_into_batches` cuts `n` numbers."""
    whole, left = divmod(n, size)
    return max(whole + (left > 1), 1)  # a batch of one number is joined to the one before


def cut_into_batches(order: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    """Yield the parts of `order` with `size` numbers each; the last one may be smaller.

    If one number is left, it is in the part before, because batch normalisation needs at least two examples.
    """
    starts = list(range(0, len(order), size))
    if len(starts) > 1 and size > 1 and starts[-1] == len(order) - 1:
        starts.pop()
    for start, end in pairwise([*starts, len(order)]):
        yield order[start:end]


def _latest(folder: Path) -> Any:
    return max(folder.glob("epoch-*"), default=None)


def _part(arrays: Arrays, part: str) -> dict[str, NDArray[Any]]:
    start = f"{part}/"
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _copied(state: tuple[Arrays, Mapping[str, Any]]) -> tuple[Arrays, Mapping[str, Any]]:
    return {name: array.copy() for name, array in state[0].items()}, state[1]
