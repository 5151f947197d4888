"""The progress of a training in words, for pages and commands."""

from typing import NamedTuple

from generation.durations import duration
from webapp.leaderboards.models import Training

ROWS = 12  # epochs that a table shows


class TrainingProgress(NamedTuple):
    """How far a training is: the share of its epochs that are done, 0 .. 1, and one line of text."""

    share: float
    line: str


def describe(training: Training) -> TrainingProgress:
    """Return how far a training is. It may stop earlier than at its last epoch."""
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
        parts.append(f"at most {duration(data['left'])} left")
    return ", ".join(parts)


def epoch_rows(training: Training) -> list[tuple[int, float | None, float | None]]:
    """Return at most `ROWS` of the epochs so far, evenly spread, with the first and the last one."""
    rows = training.epochs
    if len(rows) <= ROWS:
        return rows
    chosen = sorted({round(at * (len(rows) - 1) / (ROWS - 1)) for at in range(ROWS)})
    return [rows[at] for at in chosen]
