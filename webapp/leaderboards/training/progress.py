"""The progress of a training in words, for pages and commands."""

import math
import time
from typing import Any, NamedTuple

from generation.durations import duration
from webapp.leaderboards.models import Training

ROWS = 12  # epochs that a table shows
LOG_INTERVAL = 60.0  # seconds between two lines of a log about the same epoch


class TrainingProgress(NamedTuple):
    """The progress of a training.

    Attributes
    ----------
    share : float
        The share of its epochs that is done, 0 to 1.
    line : str
        The progress as one line of text.
    step : str
        A text that changes only with the phase, the split and the number of epochs that are done.
    """

    share: float
    line: str
    step: str

    @property
    def percent(self) -> int:
        return int(100 * self.share)


def describe(training: Training) -> TrainingProgress:
    """Return the progress of a training, which may stop before its last epoch."""
    data = training.progress_data
    phase = data.get("phase", "")
    share = (data["epoch"] + (data.get("part") or 0.0)) / data["epochs"] if data.get("epochs") else 0.0
    if training.state == Training.State.WAITING:
        line = training.waiting_note or "waiting"
        return TrainingProgress(share, line, line)
    if phase == "train":
        return TrainingProgress(share, _epoch_line(data), f"{phase} {data['epoch']}")
    lines = {
        "examples": f"reading {data.get('split', '')}",
        "start": "starting",
        "answers": f"answering {data.get('split', '')}",
        "submit": "submitting the answers",
        "done": "done",
    }
    line = lines.get(phase, "starting")
    return TrainingProgress(1.0 if phase in ("answers", "submit", "done") else share, line, line)


class ProgressLog:
    """Chooses the lines that a log of a training shows: one for each step, and one after each minute of a step."""

    def __init__(self) -> None:
        self.step, self.shown = "", -math.inf

    def line_of(self, training: Training) -> str | None:
        """Return the line to show now; None for no line."""
        about, now = describe(training), time.monotonic()
        if about.step == self.step and now - self.shown < LOG_INTERVAL:
            return None
        self.step, self.shown = about.step, now
        return about.line


def _epoch_line(data: dict[str, Any]) -> str:
    """Return the epoch that runs, or the last one if the next has not begun, with its loss and the time left."""
    part = data.get("part")
    if part is None:
        parts, loss = [f"epoch {data['epoch']} of at most {data['epochs']}"], data.get("loss")
    else:
        parts = [f"epoch {data['epoch'] + 1} of at most {data['epochs']}, {100 * part:.0f} % of it"]
        loss = data.get("part_loss")
    if loss is not None:
        parts.append(f"loss {loss:.3f}")
    if data.get("val_accuracy") is not None:
        parts.append(f"val {100 * data['val_accuracy']:.1f} %")
    if data.get("best_val_accuracy") is not None:
        parts.append(f"best {100 * data['best_val_accuracy']:.1f} %")
    if data.get("left"):
        parts.append(f"about {duration(data['left'])} left if all epochs are needed")
    return ", ".join(parts)


class EpochRow(NamedTuple):
    epoch: int
    loss: str
    accuracy: str


def epoch_rows(training: Training) -> list[EpochRow]:
    """Return at most `ROWS` of the epochs so far, evenly spread, with the first and the last one."""
    rows = training.epochs
    if len(rows) > ROWS:
        rows = [rows[at] for at in sorted({round(at * (len(rows) - 1) / (ROWS - 1)) for at in range(ROWS)})]
    return [EpochRow(epoch, _or_dash(loss, "{:.3f}"), _in_percent(accuracy)) for epoch, loss, accuracy in rows]


def best_accuracy(training: Training) -> str:
    known = [accuracy for _, _, accuracy in training.epochs if accuracy is not None]
    return _in_percent(max(known)) if known else ""


def _in_percent(share: float | None) -> str:
    return _or_dash(None if share is None else 100 * share, "{:.1f}")


def _or_dash(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)
