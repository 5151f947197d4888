"""`manage.py train`: trains a method on a split, submits its answers to others, and prints their accuracy."""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.urls import reverse
from tqdm import tqdm

from generation.durations import duration
from generation.engine.errors import BadTraining
from generation.engine.learners import METHODS
from generation.making.process_pool import stoppable
from generation.management.console import FAILED, GO_ON, INTERRUPTED, PlainCommand
from webapp.leaderboards.disclosure.visibility import Outcome, outcome_json, outcomes_of
from webapp.leaderboards.management.method_owner import find_owner
from webapp.leaderboards.models import Submission, Training
from webapp.leaderboards.training import orders, training_jobs
from webapp.leaderboards.training.orders import TrainingOrder
from webapp.leaderboards.training.progress import ProgressLog, describe

ONCE_MENDED = (
    "If you have removed the cause, the same command with all its options and --resume continues the training."
)
BAR = "{desc} {percentage:3.0f}% |{bar:20}| {elapsed}"
LARGEST_CONFIG = 100_000  # bytes
State = Training.State


class Command(PlainCommand):
    help = (
        "Train a method on a split, submit its answers to other splits, and print their accuracy. "
        "/docs/training/ describes the methods."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("method", metavar="METHOD", help=", ".join(METHODS))
        parser.add_argument("--on", metavar="DATASET/SPLIT", required=True, help="training split")
        parser.add_argument(
            "--val", metavar="DATASET/SPLIT", required=True, help="validation split, for early stopping"
        )
        parser.add_argument(
            "--test", metavar="DATASET/SPLIT", required=True, action="append",
            help="split to answer; can be given several times",
        )  # fmt: skip
        parser.add_argument(
            "--seed", type=_whole_number, default=0, metavar="N", help="seed of all random numbers; default: 0"
        )
        parser.add_argument("--config", type=Path, metavar="FILE", help="JSON file with settings to change")
        parser.add_argument(
            "--size", choices=Training.Size.values, default=Training.Size.PAPER,
            help="paper: the settings of the paper; mini: smaller ones, for two processors without a GPU",
        )  # fmt: skip
        parser.add_argument(
            "--device",
            choices=Training.Device.values,
            default=Training.Device.AUTO,
            help="auto uses a GPU if there is one",
        )
        parser.add_argument("--name", default="", metavar="NAME", help="the method's name on boards")
        parser.add_argument(
            "--owner", metavar="ACCOUNT", help="account that owns the method; default: the only superuser"
        )
        parser.add_argument("--resume", action="store_true", help="continue a training that was stopped")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        """Train, submit and score. After Ctrl-C it can be resumed."""
        training = self._run(self._training(self._order(options), resume=options["resume"]))
        submissions = list(training.submissions.select_related("method__owner", "split__dataset", "split__parent"))
        self.stdout.write(_report(training, submissions, as_json=options["json"]))
        refused = [f"{one.split}: {one.reason_without_score}" for one in submissions if not one.is_scored]
        if refused:
            raise CommandError(" ".join(refused), returncode=FAILED)

    def _order(self, options: dict[str, Any]) -> TrainingOrder:
        return TrainingOrder(
            method=options["method"],
            owner=find_owner(options["owner"]),
            train=self.find_split(options["on"]),
            val=self.find_split(options["val"]),
            tests=tuple(self.find_split(name) for name in options["test"]),
            config=_config(options["config"]),
            size=options["size"],
            seed=options["seed"],
            device=options["device"],
            name=options["name"],
        )

    def _training(self, order: TrainingOrder, *, resume: bool) -> Training:
        """Return the training to continue, or a new one.

        A training that has not ended, or whose answers are not scored yet, is continued without --resume, too: its
        command may have been killed.
        """
        found = orders.find(order)
        if found is not None and (resume or _is_incomplete(found)):
            if not resume:
                self.stderr.write(f"Training {found.pk} has the same order and is not complete: it continues.", str)
            orders.resume(found)
            return found
        if resume:
            self.stderr.write("There is no such training to continue, so a new one starts.", str)
        return orders.create(order)

    def _run(self, training: Training) -> Training:
        """Train, and score the answers, until both are done; raise `CommandError` if the training is not done."""
        try:
            with stoppable(), TrainingBar() as bar:
                training = training_jobs.run_here(training, say=bar.show)
        except KeyboardInterrupt:
            orders.cancel(training)
            if not self.from_command_line:
                raise
            raise CommandError(f"Stopped. The training so far is kept. {GO_ON}", returncode=INTERRUPTED) from None
        except training_jobs.TrainingWaits as waits:
            orders.cancel(training)
            raise CommandError(f"{waits} The training so far is kept. {GO_ON}", returncode=FAILED) from waits
        if training.state != State.DONE:
            reason = training.message or f"{training} was {training.state} meanwhile."
            raise CommandError(f"{reason} {ONCE_MENDED}", returncode=FAILED)
        return training


class TrainingBar:
    """A progress bar on standard error. If that is a file, the lines of a `ProgressLog` are written."""

    def __init__(self) -> None:
        self.bar = tqdm(total=1.0, bar_format=BAR)
        self.log = ProgressLog()

    def __enter__(self) -> "TrainingBar":
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()

    def show(self, training: Training) -> None:
        if self.log.line_of(training) or sys.stderr.isatty():
            about = describe(training)
            self.bar.n = about.share
            self.bar.set_description_str(about.line)


def _whole_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > orders.LARGEST_SEED:
        raise ArgumentTypeError(f"expected a whole number from 0 to {orders.LARGEST_SEED:,}, got {text[:20]!r}")
    return int(text)


def _config(path: Path | None) -> dict[str, Any]:
    """Return the settings of a file; raise `BadTraining` if it is not a JSON object."""
    if path is None:
        return {}
    try:
        if path.stat().st_size > LARGEST_CONFIG:
            raise BadTraining(f"Expected at most {LARGEST_CONFIG:,} bytes of settings, got more.", where=str(path))
        return orders.config_of(path.read_bytes(), where=str(path))
    except OSError as error:
        raise BadTraining(f"Expected a file with settings as JSON, got: {error}", where=str(path)) from error


def _is_incomplete(training: Training) -> bool:
    return training.is_under_way or any(one.is_under_way for one in training.submissions.all())


def _report(training: Training, submissions: Sequence[Submission], *, as_json: bool) -> str:
    """Return what the owner may see of the results, as text or as one JSON document."""
    outcomes = [(one, outcomes_of(training.owner, one)) for one in submissions if one.is_scored]
    if as_json:
        return json.dumps(_json(training, outcomes), indent=2)
    learned = f"{training.parameters or 0:,} parameters, {training.examples_seen or 0:,} examples seen"
    lines = [f"{training.name}: {learned}, {duration(training.seconds)}. {training.get_absolute_url()}"]
    for one, found in outcomes:
        board = reverse("board", args=[one.split.dataset.slug, one.split.name])
        lines += [
            f"{one.split}: {found[0].figure.n:,} questions",
            f"  accuracy  {found[0].figure.text}",
            f"  board     {board}",
        ]
    return "\n".join(lines)


def _json(training: Training, outcomes: Sequence[tuple[Submission, list[Outcome]]]) -> dict[str, Any]:
    return {
        "training": training.pk,
        "method": training.name,
        "page": training.get_absolute_url(),
        "seed": training.seed,
        "parameters": training.parameters,
        "examples_seen": training.examples_seen,
        "seconds": round(training.seconds, 1),
        "code_version": training.code_version,
        "scores": [_score_json(one, found[0]) for one, found in outcomes],
    }


def _score_json(submission: Submission, outcome: Outcome) -> dict[str, Any]:
    score = outcome.score
    return {
        "split": str(submission.split),
        "submission": submission.pk,
        "board": reverse("board", args=[submission.split.dataset.slug, submission.split.name]),
        "n": outcome.figure.n,
        "accuracy": outcome.figure.share if score is None else score.accuracy,
        "disclosure": outcome_json(outcome) if score is None else None,
    }
