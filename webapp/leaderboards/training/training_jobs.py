"""Runs trainings: as background jobs, one at a time on each machine, or in the process of a command.

The folder of a training below `VAR_DIR` has its order, links to examples, checkpoints and predictions. If the process
is killed, the next one on the same machine continues after the last complete epoch. On another machine, or after a
change of the code, the training starts again from the beginning.
"""

import json
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from generation.durations import duration
from generation.engine.errors import BadTraining
from generation.engine.learners import find_learner
from generation.engine.learners.model_files import write_whole
from generation.engine.learners.training_process import ORDER
from generation.program_version import code_version
from generation.queue import graceful_shutdown, leases, runner
from generation.queue.runner import nothing
from generation.queue.transient_errors import describe_stop
from generation.storage import files
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Training
from webapp.leaderboards.training import example_folders, orders, process, results
from webapp.leaderboards.training.process import Line
from webapp.leaderboards.training.results import folder_name

LEAST_PART = 0.02  # of an epoch, from which the time left is estimated
NOTE_INTERVAL = 1.0  # seconds between two updates of the row
POLL = 0.5  # seconds between two checks of a training that another process runs
GRACE = 600.0  # seconds after its time limit until a training counts as hung
FOLDER_DAYS = 30  # days after which the folder of a failed or cancelled training is deleted
State = Training.State
Say = Callable[[Training], object]


def home() -> Path:
    return Path(settings.VAR_DIR, "trainings")


def folder_of(training: Training) -> Path:
    return home() / str(training.pk)


# One training


def run(training: Training, lease: leases.Lease, *, say: Say = nothing) -> None:
    """Train, store the model and submit the predictions, under the lease of the training.

    `say` is called with the training after each change of its progress.
    """
    order = orders.order_of(training)
    orders.check_content(order)
    watch = TrainingWatch(training, lease, say)
    folder = folder_of(training)
    with process.lock_folder(folder, check=watch.check) as lock, ExitStack() as stack:
        _prepare(training, folder, watch, stack)
        watch.note(phase="start")
        program = process.run(folder, lock, method=order.method, threads=settings.TRAINING_THREADS, check=watch.check)
        with closing(program) as lines:  # ends the training process in any case
            for line in lines:
                watch.read(line)
        watch.note(phase="submit", force=True)
        _finish(training, folder, watch)
    shutil.rmtree(folder, ignore_errors=True)


def _prepare(training: Training, folder: Path, watch: "TrainingWatch", stack: ExitStack) -> None:
    """Write the order and link the examples. Files of an earlier run stay if it had the same order."""
    order = orders.order_of(training)
    learner, config = find_learner(order.method), orders.read_config(order)
    named = {"train": order.train, "val": order.val, **{folder_name(split): split for split in order.tests}}
    wanted = {
        name: example_folders.examples_order(learner, config, split, is_training=name in ("train", "val"))
        for name, split in named.items()
    }
    content = {
        "method": order.method,
        "config": config.model_dump(mode="json"),
        "seed": order.seed,
        "device": order.device,
        "threads": settings.TRAINING_THREADS,
        "predict": [folder_name(split) for split in order.tests],
        "examples": {name: one.key for name, one in wanted.items()},
        "code": code_version(),
    }
    _start_over_unless_same(folder, json.dumps(content, sort_keys=True).encode())
    for name, one in wanted.items():
        watch.note(phase="examples", split=str(one.split))
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(stack.enter_context(example_folders.open_folder(one, check=watch.check)))


def _start_over_unless_same(folder: Path, content: bytes) -> None:
    """Unless the folder has the same order, empty it except for its lock, and write the order."""
    path = folder / ORDER
    if path.exists() and path.read_bytes() == content:
        return
    for entry in folder.iterdir():
        if entry.name != "lock":
            entry.unlink() if entry.is_symlink() else files.drop_entry(entry)
    files.check_room(folder, 0)
    write_whole(path, content)


def _finish(training: Training, folder: Path, watch: "TrainingWatch") -> None:
    """Store the model, submit the predictions, and mark the training as done."""
    stored = results.store_model(training, folder)
    results.submit(training, folder, check=watch.check)
    with transaction.atomic():
        watch.note(
            phase="done",
            force=True,
            parameters=int(watch.done["parameters"]),
            examples_seen=int(watch.done["examples_seen"]),
            code_version=code_version(),
            model=stored.name,
            model_digest=stored.digest,
            model_size=stored.size,
        )
        leases.finish(training)
    scoring.RUNNER.wake()


class TrainingWatch:
    """Follows the training process: writes its progress to the row, and stops it when it must stop.

    Attributes
    ----------
    done : Line
        The last report of the process; empty until its end.
    """

    def __init__(self, training: Training, lease: leases.Lease, say: Say) -> None:
        self.training, self.lease, self.say = training, lease, say
        self.begun = self.noted = time.monotonic()
        self.before = training.seconds
        self.first_epoch: int | None = None
        self.done: Line = {}
        self.progress: dict[str, Any] = {}
        self.history: list[list[Any]] = json.loads(training.history)

    def check(self) -> None:
        """Raise an error if the training must stop: it was cancelled, this process must stop, or it takes too long."""
        self.lease.check()
        hours = settings.TRAINING_HOURS
        if time.monotonic() - self.begun > hours * 3600:
            raise BadTraining(
                f"Expected a training that ends within {duration(hours * 3600)}, got one that takes longer. The "
                "training so far is kept: continue it, or change TRAINING_HOURS."
            )
        if time.monotonic() - self.noted >= NOTE_INTERVAL:
            self.note()

    def read(self, line: Line) -> None:
        """Process a line of the training process."""
        if "progress" in line:
            self._read_progress(line["progress"])
        elif "history" in line:
            self.history = line["history"]
        elif "part" in line:
            self._read_part(line["part"])
        elif "predicting" in line:
            name = line["predicting"]
            split = next(split for split in self.training.test_splits if folder_name(split) == name)
            self.note(phase="answers", split=str(split))
        elif "done" in line:
            self.done = line["done"]

    def _read_progress(self, progress: dict[str, Any]) -> None:
        epoch = int(progress["epoch"])
        if self.first_epoch is None:
            self.first_epoch = epoch - 1
        self.history = [row for row in self.history if row[0] < epoch]
        self.history.append([epoch, progress["loss"], progress["val_accuracy"]])
        left = self._seconds_left(epoch, progress)
        self.note(phase="train", force=epoch == 1, **{"split": "", **progress, "part": None, "left": left})

    def _read_part(self, part: dict[str, Any]) -> None:
        if self.first_epoch is None:
            self.first_epoch = int(part["epoch"])
        done = part["epoch"] + part["part"]
        is_known = done - self.first_epoch >= LEAST_PART
        self.note(phase="train", **{"split": "", **part, "left": self._seconds_left(done, part) if is_known else None})

    def _seconds_left(self, done: float, progress: dict[str, Any]) -> float:
        assert self.first_epoch is not None  # the speed is that since the process started
        each = progress["seconds"] / (done - self.first_epoch)
        return float(each * max(0, progress["epochs"] - done))

    def note(self, *, force: bool = False, **values: Any) -> None:
        """Add values to the progress, and write them to the row if the last update is `NOTE_INTERVAL` seconds old.

        Values that are fields of the row are written to it. Raises `LeaseLost` if the training was cancelled.
        """
        fields = {name: values.pop(name) for name in list(values) if name in RESULTS}
        is_new_phase = "phase" in values and values["phase"] != self.progress.get("phase")
        self.progress |= values
        if not (force or is_new_phase or fields or time.monotonic() - self.noted >= NOTE_INTERVAL):
            return
        self.noted = time.monotonic()
        fields |= {
            "progress": json.dumps(self.progress),
            "history": json.dumps(self.history),
            "seconds": self.before + time.monotonic() - self.begun,
        }
        if Training.objects.held(self.training).update(**fields) != 1:
            raise leases.LeaseLost(f"{self.training} is somebody else's now, or was cancelled.")
        for name, value in fields.items():
            setattr(self.training, name, value)
        self.say(self.training)


RESULTS = {"parameters", "examples_seen", "code_version", "model", "model_digest", "model_size"}


# Background jobs


RUNNER = runner.register(
    runner.Runner(
        name="trainings",
        model=Training,
        perform=run,
        seconds=lambda training: settings.TRAINING_HOURS * 3600 + GRACE,
        task="webapp.leaderboards.tasks.train",
        related=("owner", "train__dataset", "train__parent", "val__dataset", "val__parent"),
        is_single=True,
    )
)


# In the process of a command


class TrainingWaits(Exception):
    """A training cannot continue now, because the disk, the database or the storage is unavailable."""


def run_here(training: Training, *, say: Say = nothing) -> Training:
    """Train in this process, score the submissions, and return the training after its end.

    If another process has claimed the training, wait for that process. `say` is called with the training when its
    progress changes.

    Raises
    ------
    TrainingWaits
        If the training cannot continue now. It still waits.
    KeyboardInterrupt
        If this process was asked to stop.
    """
    here = replace(RUNNER, perform=partial(run, say=say))
    while True:
        RUNNER.recover()  # a process that was killed may still hold it
        ours = RUNNER.rows.filter(pk=training.pk).first()
        if ours is not None:
            here.run_now(ours)
        found = Training.objects.for_list().filter(pk=training.pk).first()
        if found is None:
            raise BadTraining("Expected a training, but it was deleted.", where=str(training))
        if graceful_shutdown.is_asked():
            raise KeyboardInterrupt
        if not found.is_under_way:
            break
        if found.state == State.WAITING and found.waits:
            raise TrainingWaits(describe_stop(found.message))
        say(found)
        time.sleep(POLL)
    for submission in found.submissions.select_related("method", "split__dataset", "split__parent"):
        scoring.score_now(submission)
    return found


# Folders and models that are no longer needed


def delete(training: Training) -> None:
    """Cancel and delete a training with its model and folder. Its submissions stay."""
    orders.cancel(training)
    training.refresh_from_db()
    results.drop_model(training)
    pk = training.pk
    training.delete()
    shutil.rmtree(home() / str(pk), ignore_errors=True)


def drop_unused() -> int:
    """Delete unused folders on this machine; return their number.

    A folder is unused if its training is done or deleted. Other folders are kept for `FOLDER_DAYS`.
    """
    kept = {str(pk) for pk in Training.objects.exclude(state=State.DONE).values_list("pk", flat=True)}
    dropped = 0
    for folder in home().glob("*/"):
        with suppress(FileNotFoundError):  # its training has ended meanwhile
            age = time.time() - folder.stat().st_mtime
            if age > FOLDER_DAYS * 86_400 or (folder.name not in kept and age >= 3600):
                shutil.rmtree(folder, ignore_errors=True)
                dropped += 1
    return dropped
