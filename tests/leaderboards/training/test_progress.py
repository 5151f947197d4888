"""The progress of trainings in words: within an epoch, between two epochs, and in a log."""

import json
from typing import Any

import pytest

from webapp.leaderboards.models import Training
from webapp.leaderboards.training import orders, progress, training_jobs
from webapp.leaderboards.training.orders import TrainingOrder
from webapp.leaderboards.training.progress import ProgressLog, describe

EPOCH = {"phase": "train", "epoch": 2, "epochs": 8, "loss": 0.5, "val_accuracy": 0.25, "best_val_accuracy": 0.5}


def running(**values: Any) -> Training:
    return Training(state=Training.State.RUNNING, progress=json.dumps(values))


@pytest.mark.parametrize(
    ("values", "line", "percent"),
    [
        (
            {"phase": "train", "epoch": 0, "epochs": 8, "part": 0.25, "part_loss": 2.0, "left": 155.0},
            "epoch 1 of at most 8, 25 % of it, loss 2.000, about 3 min left if all epochs are needed",
            3,
        ),
        (
            {**EPOCH, "part": 0.5, "part_loss": 0.375, "left": None},
            "epoch 3 of at most 8, 50 % of it, loss 0.375, val 25.0 %, best 50.0 %",
            31,
        ),
        ({**EPOCH, "part": None, "part_loss": 0.375}, "epoch 2 of at most 8, loss 0.500, val 25.0 %, best 50.0 %", 25),
        ({**EPOCH, "val_accuracy": None, "best_val_accuracy": None, "part": 0}, "epoch 3 of at most 8, 0 % of it", 25),
        ({"phase": "answers", "split": "shapes/test", "epoch": 3, "epochs": 8}, "answering shapes/test", 100),
        ({}, "starting", 0),
    ],
)  # fmt: skip
def test_the_line_has_the_epoch_that_runs(values: dict[str, Any], line: str, percent: int) -> None:
    about = describe(running(**values))
    assert (about.line, about.percent) == (line, percent)


def test_a_log_has_a_line_for_each_epoch_and_each_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    log = ProgressLog()
    shown = []
    for seconds, part in ((0, 0.1), (30, 0.2), (59, 0.3), (61, 0.4), (90, 0.5)):
        now[0] = 1000.0 + seconds
        shown.append(log.line_of(running(**EPOCH, part=part)) is not None)
    assert shown == [True, False, False, True, False]
    assert log.line_of(running(**{**EPOCH, "epoch": 3})) is not None


@pytest.mark.slow
@pytest.mark.django_db
def test_the_first_epoch_shows_its_part_and_the_time_left(order: TrainingOrder) -> None:
    seen: list[dict[str, Any]] = []
    made = orders.create(order._replace(config={"epochs": 2, "pause": 2.5}))
    training_jobs.run_here(made, say=lambda training: seen.append(training.progress_data))
    first = [one for one in seen if one.get("epoch") == 0]
    assert first and all(0 <= one["part"] <= 1 and one["epochs"] == 2 for one in first)
    [last] = first[-1:]
    assert last["part"] > 0.2 and last["part_loss"] == 1.0
    assert 0.5 < last["left"] / (2.5 * (2 - last["part"])) < 4
