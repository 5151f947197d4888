"""The progress of a training in words, for pages and commands."""

from typing import NamedTuple

from generation.durations import duration
from webapp.leaderboards.models import Training

ROWS = 12  # epochs that a table shows


class TrainingProgress(NamedTuple):
    """The progress of a training: the share of its epochs that are done, 0 to 1, and one line of text."""

    share: float
    line: str

    @property
    def percent(self) -> int:
        return int(100 * self.share)


def describe(training: Training) -> TrainingProgress:
    """Return the progress of a training, which may stop before its last epoch."""
    data = training.progress_data
    phase = data.get("phase", "")
    share = data["epoch"] / data["epochs"] if data.get("epochs") else 0.0
    if training.state == Training.State.WAITING:
        return TrainingProgress(share, training.waiting_note or "waiting")
    if phase == "train":
        return TrainingProgress(share, _epoch_line(data))
    lines = {
        "examples": f"reading {data.get('split', '')}",
        "start": "starting",
        "answers": f"answering {data.get('split', '')}",
        "submit": "submitting the answers",
        "done": "done",
    }
    return TrainingProgress(1.0 if phase in ("answers", "submit", "done") else share, lines.get(phase, "starting"))


def _epoch_line(data: dict[str, float]) -> str:
    parts = [f"epoch {data['epoch']} of at most {data['epochs']}"]
    if data.get("loss") is not None:
        parts.append(f"loss {data['loss']:.3f}")
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
