"""The training process: it reads an order and examples from a folder, and writes a model and predictions there.

It runs without a database and without secrets: `python -m generation.engine.learners.training_process FOLDER`. The
folder has `order.json` and folders of examples: `train`, `val`, and one for each name in the order's `predict`. The
process prints one JSON object on each line: progress within and after each epoch, and at the end `{"done": {...}}` or
`{"error": {...}}`. If it is killed and started again, it continues after the last complete epoch. With `--tied`, it
ends when its standard input is closed. This happens when the process that started it is killed.

It writes `model.safetensors`, `model.json`, and a file `predictions-NAME.jsonl` for each name in `predict`. Each line
of this file is an object. It has `answer`, which is a number before rounding if the method predicts numbers. It has
`boxes` if the method counts regions.
"""

import json
import math
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from generation.engine.errors import EngineError, NoTorch
from generation.engine.learners import find_learner, is_network
from generation.engine.learners.base import EpochProgress, Learner, Prediction
from generation.engine.learners.epoch_learner import History
from generation.engine.learners.examples import read_examples
from generation.engine.learners.model_files import write_whole

ORDER, MODEL, CHECKPOINT = "order.json", "model.safetensors", "checkpoint"
BETWEEN = 1.0  # seconds between two lines about the parts of an epoch


class PrintingReporter:
    """Prints progress as lines of JSON."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.printed = 0.0
        self.epoch = self.epochs = 0

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Remember the epochs, which are printed with each part."""
        self.epoch, self.epochs = epoch, epochs

    def recall(self, history: Sequence[tuple[int, float, float]]) -> None:
        """Print the epochs of an earlier process, whose lines may not have been read."""
        if history:
            print_line({"history": history})

    def check(self, part: float, loss: float | None = None) -> None:
        """Print the part of the epoch that is done, if the last line is more than `BETWEEN` seconds old."""
        if time.monotonic() - self.printed >= BETWEEN:
            self.printed = time.monotonic()
            known = loss if loss is not None and math.isfinite(loss) else None
            about = {"epoch": self.epoch, "epochs": self.epochs, "part": round(part, 4), "part_loss": known}
            print_line({"part": {**about, "seconds": self._seconds()}})

    def progress(self, progress: EpochProgress) -> None:
        """Print the progress and the seconds since the start."""
        print_line({"progress": {**progress._asdict(), "seconds": self._seconds()}})

    def _seconds(self) -> float:
        return round(time.monotonic() - self.begun, 3)


def print_line(data: Mapping[str, Any]) -> None:
    """Write one object to the standard output."""
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


def run(folder: Path) -> dict[str, Any]:
    """Carry out the order of a folder, and return what is printed as `done`."""
    order = json.loads((folder / ORDER).read_bytes())
    if is_network(order["method"]):
        prepare_torch(int(order["threads"]), str(order["device"]))
    kind = find_learner(order["method"])
    report = PrintingReporter()
    model = folder / MODEL
    if model.exists():
        learner: Learner = kind.load(model)
        report.recall(History.read(folder / CHECKPOINT).rows)
    else:
        learner = kind(kind.read_config(order["config"]), seed=int(order["seed"]))
        train, val = (read_examples(folder / name) for name in ("train", "val"))
        learner.fit(train, val, report=report, checkpoint=folder / CHECKPOINT)
        learner.save(model)
    for name in order["predict"]:
        print_line({"predicting": name})
        examples = read_examples(folder / name)
        kind.check_examples(examples)
        write_predictions(folder / f"predictions-{name}.jsonl", learner.predict(examples.without_answers()))
    return {"parameters": learner.parameters, "examples_seen": learner.examples_seen}


def write_predictions(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write a line with an object for each prediction, in order."""
    lines = []
    for one in predictions:
        line: dict[str, Any] = {"answer": one.answer if one.number is None else one.number}
        if one.regions is not None:
            line["boxes"] = [[*map(float, region), float(score)] for region, score in one.regions]
        lines.append(json.dumps(line) + "\n")
    write_whole(path, "".join(lines).encode())


def prepare_torch(threads: int, device: str) -> None:
    """Import PyTorch before any network is imported, and make its results reproducible."""
    os.environ.update(CUBLAS_WORKSPACE_CONFIG=":4096:8")
    try:
        import torch
        import torch.nn.functional
    except ModuleNotFoundError as error:
        raise NoTorch("Expected PyTorch, which networks need, got none. Install it: make torch") from error
    except (ImportError, OSError) as error:  # an OSError if a library that it needs is missing or damaged
        raise NoTorch(
            f"Expected PyTorch that can be loaded, got: {error}. Install it again: delete .venv-torch, then make torch"
        ) from error
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    if device == "cuda" and not torch.cuda.is_available():
        raise NoTorch("Expected a GPU that PyTorch can use, got none. Use --device cpu.", where="device")
    usable = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    torch.set_default_device("cuda" if usable else "cpu")


def _end_with_input() -> None:
    """Wait until the standard input is closed, and end this process."""
    while os.read(
        sys.stdin.fileno(), 1
    ):  # not `sys.stdin.read`, whose lock would abort a process that ends by an error
        pass
    os._exit(1)


def main() -> int:
    """Carry out the order of the folder that the command line names; return 0, or 2 after an error for users."""
    if "--tied" in sys.argv[2:]:
        threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        done = run(Path(sys.argv[1]))
    except EngineError as error:
        print_line({"error": {"kind": type(error).__name__, "message": str(error)}})
        return 2
    except OSError as error:
        message = f"Expected to read and write {sys.argv[1]}, got: {error}"
        print_line({"error": {"kind": "OSError", "message": message, "errno": error.errno}})
        return 2
    print_line({"done": done})
    return 0


if __name__ == "__main__":
    sys.exit(main())
