"""Kills trainings, findings and exports at each of their stages, and does them again. `Site.python` runs it in a site.

A stage is a function of the program, by its module and name, the number of a call of it, and whether the process dies
before or after this call. Every second process dies together with its process group.
"""

import contextlib
import functools
import hashlib
import importlib
import io
import itertools
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management import call_command

from generation.exchange import export_jobs, export_requests
from generation.models import Dataset, Export
from generation.queue import leases, runner
from generation.storage import disk_cache, files
from tests.faults.forks import end_of, start
from tests.leaderboards.findings.made_findings import small_definition
from webapp.leaderboards import scoring
from webapp.leaderboards.findings import finding_run, records
from webapp.leaderboards.models import Submission, Training
from webapp.leaderboards.training import example_folders, orders, training_jobs
from webapp.models import User

BEFORE, AFTER = "before", "after"
MOST_TURNS = 10  # of a background process until its work is done


class Stage(NamedTuple):
    """The call of a function at which a process dies."""

    place: str
    when: str = AFTER
    call: int = 1


JOBS = "webapp.leaderboards.training.training_jobs"
TRAINING = [
    Stage("webapp.leaderboards.training.orders:create"),
    Stage(f"{JOBS}:_start_over_unless_same", BEFORE),
    Stage("generation.engine.learners.example_writer:ExampleWriter.add_question", call=20),
    Stage("webapp.leaderboards.training.example_folders:_make"),
    Stage("webapp.leaderboards.training.process:_check_line"),
    Stage(f"{JOBS}:TrainingWatch.read", call=3),
    Stage(f"{JOBS}:_finish", BEFORE),
    Stage("generation.storage.files:put"),
    Stage("webapp.leaderboards.training.results:store_model"),
    Stage("webapp.leaderboards.training.results:write_upload"),
    Stage("webapp.leaderboards.uploads:_keep"),
    Stage("webapp.leaderboards.uploads:_insert"),
    Stage("webapp.leaderboards.training.results:submit"),
    Stage("generation.queue.leases:finish"),
    Stage("webapp.leaderboards.scoring:_score", BEFORE),
    Stage("webapp.leaderboards.scoring:store"),
    Stage("webapp.leaderboards.scoring:score_on"),
    Stage("generation.queue.leases:finish", call=2),
    Stage("webapp.leaderboards.scoring:_drop_uploads", BEFORE),
]
FINDING = [
    Stage("generation.making.dataset_jobs:start"),
    Stage("generation.making.chunk_writer:ChunkWriter.write", BEFORE),
    Stage("generation.making.dataset_jobs:finish_set", BEFORE),
    Stage("webapp.leaderboards.findings.records:Journal.note"),
    Stage(f"{JOBS}:TrainingWatch.read", call=3),
    Stage("webapp.leaderboards.scoring:_score", BEFORE),
    Stage(f"{JOBS}:_finish", BEFORE, call=2),
    Stage("webapp.leaderboards.findings.finding_run:FindingRun.score_baseline", BEFORE),
    Stage("webapp.leaderboards.findings.finding_run:FindingRun.judge", BEFORE),
    Stage("webapp.leaderboards.findings.records:store", BEFORE),
    Stage("webapp.leaderboards.findings.records:store"),
]
EXPORT = [
    Stage("generation.exchange.export_jobs:ExportBuild.__enter__"),
    Stage("generation.exchange.export_jobs:ExportBuild._tick"),
    Stage("generation.exchange.exports:fill"),
    Stage("generation.storage.files:write_zip"),
    Stage("generation.storage.files:adopt", BEFORE),
    Stage("generation.storage.files:adopt"),
    Stage("generation.queue.leases:finish", BEFORE),
    Stage("generation.queue.leases:finish"),
]
EXPORT_COMMAND = [
    Stage("generation.exchange.exports:fill", BEFORE),
    Stage("generation.exchange.exports:write_sums", BEFORE),
    Stage("generation.exchange.exports:fill"),
    Stage("pathlib:Path.rename"),
]
EVERY = {"training": TRAINING, "site": TRAINING[1:], "finding": FINDING, "export": EXPORT, "command": EXPORT_COMMAND}


def die_at(stage: Stage, *, with_group: bool) -> None:
    """Let this process die at a stage."""
    module, _, name = stage.place.partition(":")
    owner: Any = importlib.import_module(module)
    *path, last = name.split(".")
    for step in path:
        owner = getattr(owner, step)
    real, numbers = getattr(owner, last), itertools.count(1)

    @functools.wraps(real)
    def dying(*arguments: Any, **named: Any) -> Any:
        is_last = next(numbers) == stage.call
        if is_last and stage.when == BEFORE:
            kill(with_group=with_group)
        result = real(*arguments, **named)
        if is_last:
            kill(with_group=with_group)
        return result

    setattr(owner, last, dying)


def kill(*, with_group: bool) -> None:
    """Kill this process, or its whole group, without any cleanup."""
    (os.killpg if with_group else os.kill)(0 if with_group else os.getpid(), signal.SIGKILL)


def in_child(do: Callable[[], object], *, dies: Callable[[], object] = lambda: None) -> int:
    """Run a function in a process with its own group, and return its exit status."""

    def run() -> None:
        os.setpgid(0, 0)
        dies()
        do()

    return end_of(start(run))


class Work:
    """One kind of work, which is done once undisturbed, and once for each stage at which its process dies."""

    def do(self, name: str, *, again: bool) -> None:
        """Do the work, or go on with it after a kill."""
        raise NotImplementedError

    def outcome(self, name: str) -> Any:
        """Return everything that must be the same with and without a kill."""
        raise NotImplementedError

    def check(self, stages: Iterable[Stage]) -> Any:
        """Raise an error if a kill changes the outcome or anything half-made stays; return the outcome."""
        undisturbed = self._run_twice("undisturbed", None, number=0)
        for number, stage in enumerate(stages):
            found = self._run_twice(f"stage-{number}", stage, number=number)
            assert found == undisturbed, (stage, found, undisturbed)
            check_nothing_half_made(stage)
        return undisturbed

    def _run_twice(self, name: str, stage: Stage | None, *, number: int) -> Any:
        shutil.rmtree(disk_cache.folder() / example_folders.CACHE_FOLDER, ignore_errors=True)
        if stage is not None:
            dies = functools.partial(die_at, stage, with_group=number % 2 == 1)
            status = in_child(lambda: self.do(name, again=False), dies=dies)
            assert status == -signal.SIGKILL, (stage, status)
        status = in_child(lambda: self.do(name, again=stage is not None))
        assert status == 0, (stage, status)
        return self.outcome(name)


class TrainingCommand(Work):
    """`manage.py train`, which is repeated with and without --resume."""

    def __init__(self) -> None:
        self.repeats = itertools.cycle([["--resume"], []])

    def do(self, name: str, *, again: bool) -> None:
        """Train, submit and score."""
        splits = ("--on", "rows/train", "--val", "rows/val", "--test", "rows/val", "--test", "rows/test")
        more = next(self.repeats) if again else []
        call_command("train", "bag-of-words", *splits, "--size", "mini", "--name", name, *more, stdout=io.StringIO())

    def outcome(self, name: str) -> Any:
        """Return the model, the answers and the scores of the only training of this name."""
        training = Training.objects.get(name=name)
        submissions = training.submissions.order_by("split").prefetch_related("scores")
        assert training.state == "done" and all(one.is_scored and not one.file for one in submissions), name
        scores = [(one.predictions, [(score.n, score.right) for score in one.scores.all()]) for one in submissions]
        return training.model_digest, training.examples_seen, training.history, scores


class TrainingOnSite(TrainingCommand):
    """An order of a page, which background processes carry out."""

    def do(self, name: str, *, again: bool) -> None:
        """Do the work of background processes."""
        splits = {split.name: split for split in Dataset.objects.get(slug="rows").splits.all()}
        tests = (splits["val"], splits["test"])
        owner = User.objects.get(username="chief")
        order = orders.TrainingOrder(
            "bag-of-words", owner, splits["train"], splits["val"], tests, size="mini", name=name
        )
        if orders.find(order) is None:
            orders.create(order)
        work_in_background(lambda: not Training.objects.under_way().exists())


class FindingCommand(Work):
    """`manage.py finding`, which is repeated with --resume."""

    def do(self, name: str, *, again: bool) -> None:
        """Make the dataset, train, score, and write the record."""
        finding_run.load = lambda name: small_definition()  # type: ignore[assignment]
        more = ["--resume"] if again else []
        call_command("finding", name, "--workers", "1", *more, stdout=io.StringIO())

    def outcome(self, name: str) -> Any:
        """Return the record, without times."""
        record = records.load_own(name, "mini")
        assert record is not None, name
        found = record.model_dump(exclude={"finding", "date", "command", "seconds"})
        for one in found["trainings"]:
            del one["seconds"]
        for one in found["datasets"]:
            del one["slug"]
        return json.loads(json.dumps(found))


class ExportOnSite(Work):
    """A request for an export on a page, which background processes build."""

    def do(self, name: str, *, again: bool) -> None:
        """Do the work of background processes."""
        if not again:
            Export.objects.all().delete()
            export_requests.ask(Dataset.objects.get(slug="rows"), None, name="jsonl", splits=[], options={})
        work_in_background(lambda: not Export.objects.unfinished().exists())

    def outcome(self, name: str) -> Any:
        """Return the digest of the zip file."""
        export = Export.objects.get()
        assert export.state == "done", export.message
        digest = hashlib.sha256(files.get(export.file)).hexdigest()
        export_jobs.delete(export)
        return digest, export.size, export.shown


class ExportCommand(Work):
    """`manage.py export`."""

    def do(self, name: str, *, again: bool) -> None:
        """Write the folder."""
        arguments = ("--format", "jsonl", "--output", str(self._folder(name) / "exp"))
        call_command("export", "rows", *arguments, stdout=io.StringIO())

    def _folder(self, name: str) -> Path:
        return Path(settings.VAR_DIR, "exports", name)

    def outcome(self, name: str) -> Any:
        """Return the digests of all files; nothing else may be beside the folder."""
        home = self._folder(name)
        assert [one.name for one in home.iterdir()] == ["exp"]
        return {
            str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(home.rglob("*"))
            if path.is_file()
        }


KINDS: Mapping[str, type[Work]] = {
    "training": TrainingCommand,
    "site": TrainingOnSite,
    "finding": FindingCommand,
    "export": ExportOnSite,
    "command": ExportCommand,
}


def work_in_background(is_done: Callable[[], bool]) -> None:
    """Sweep and take turns as background processes do, until the work is done and everything is scored."""
    leases.LONGEST_PAUSE = 0.0
    for _ in range(MOST_TURNS):
        runner.sweep()
        for one in (training_jobs.RUNNER, scoring.RUNNER, export_jobs.RUNNER):
            one.take_turn()
        if is_done() and not Submission.objects.claimable().exists():
            return
    raise AssertionError("work that is not done after many turns")


def check_nothing_half_made(stage: Stage) -> None:
    """Raise an error if a job is still running, or if something half-made stays after housekeeping."""
    from webapp.running.housekeeping import tidy_up

    for one in runner.RUNNERS.values():
        assert not one.rows.filter(state="running").exists(), (stage, one.name)
    for path in Path(settings.VAR_DIR).rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            os.utime(path, (0, 0), follow_symlinks=False)
    in_child(tidy_up)
    left = [path for path in Path(settings.VAR_DIR).rglob("*") if path.name.startswith(".")]
    assert left == [], (stage, left)
    assert not training_jobs.home().exists() or [*training_jobs.home().glob("*/")] == [], stage
    media = Path(settings.MEDIA_ROOT)
    named = {one.model for one in Training.objects.all()}
    stored = {str(path.relative_to(media)) for path in media.glob("models/*.safetensors")}
    assert stored <= named and not [*media.glob("submissions/*")], (stage, stored - named)
    assert not list(media.glob("exports/**/*.zip")) or Export.objects.exists(), stage
