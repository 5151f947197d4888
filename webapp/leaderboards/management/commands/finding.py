"""`manage.py finding`: reproduces a finding of a paper: datasets, trainings, scores, statements, record."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse

from generation.durations import duration
from generation.engine.scoring.statements import StatementOutcome
from generation.making.process_pool import stoppable
from generation.management.console import BAD_INPUT, FAILED, GO_ON, INTERRUPTED, WatchingCommand, add_workers
from generation.queue.transient_errors import find_outage
from webapp.leaderboards.findings import definitions, pages, records
from webapp.leaderboards.findings.definitions import SIZES
from webapp.leaderboards.findings.finding_run import FindingRun, StepFailed
from webapp.leaderboards.management.method_owner import find_owner
from webapp.leaderboards.models import Training
from webapp.leaderboards.training.progress import ProgressLog
from webapp.leaderboards.training.training_jobs import TrainingWaits

SIGNS = {**{one: one.value for one in StatementOutcome}, StatementOutcome.NOT_HELD: "NOT HELD"}


class Command(WatchingCommand):
    help = (
        "Reproduce a finding of a paper: make the datasets, train and score the methods, check the statements, and "
        "write a record. Without a name, list all findings."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name", nargs="?", metavar="NAME", help="name of a finding; without it, all findings are listed"
        )
        parser.add_argument("--size", choices=SIZES, default="mini", help="default: mini")
        parser.add_argument(
            "--resume", action="store_true", help="continue a run that was stopped, or record a complete run again"
        )
        parser.add_argument(
            "--owner", metavar="ACCOUNT", help="account that owns the trainings; default: the only superuser"
        )
        add_workers(parser)
        parser.add_argument(
            "--record",
            action="store_true",
            help="also write the record into the repository, so that it can be committed",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """List the findings, or run one. After Ctrl-C it can be resumed."""
        if options["name"] is None:
            self._list()
            return
        run = FindingRun(options["name"], options["size"], owner=find_owner(options["owner"]))
        run.say, self.log = self._say_training, ProgressLog()
        workers = options["workers"] or settings.MACHINE_PROCESSES
        if workers > 1:
            run.make = lambda dataset: self.make(dataset, workers=workers)
        if run.is_begun and not options["resume"]:
            raise CommandError(self._refusal(run), returncode=BAD_INPUT)
        run.check_methods()
        try:
            with stoppable():
                self._run(run)
            self._record(run, in_repository=options["record"])
        except KeyboardInterrupt as stopped:
            if not self.from_command_line:
                raise
            raise CommandError(f"Stopped. The finished steps are kept. {GO_ON}", returncode=INTERRUPTED) from stopped
        except (StepFailed, TrainingWaits) as failed:
            raise CommandError(f"{failed} The finished steps are kept. {GO_ON}", returncode=FAILED) from failed
        except OSError as error:
            if not find_outage(error):
                raise
            reason = f"Expected files that can be written, got: {error}."
            raise CommandError(f"{reason} The finished steps are kept. {GO_ON}", returncode=FAILED) from error

    def _refusal(self, run: FindingRun) -> str:
        """Return the error message for a run that was started or recorded before, if --resume is not given."""
        record = records.load_own(run.name, run.size)
        if record is None or record.definition != run.definition.digest(run.size):
            return "Expected no earlier run of this finding, got one that is not complete. Add --resume to continue it."
        page = f"{settings.PUBLIC_URL}{reverse('finding', args=[run.name])}?size={run.size}"
        return (
            "Expected no earlier run of this finding, got one that is already recorded "
            f"({record.end_time:%Y-%m-%d %H:%M} UTC): {page} Add --resume to record it again."
        )

    def _list(self) -> None:
        for one in pages.summaries():
            sizes = []
            for found in one.sizes:
                told = ", ".join(f"{number} {outcome}" for number, outcome, _ in found.counts) or "not recorded"
                sizes.append(f"{found.size}: {told}")
            self.stdout.write(f"{one.name}  {one.definition.title}\n  {'; '.join(sizes)}")
        if not definitions.names():
            self.stdout.write("There is no finding yet.")

    def _run(self, run: FindingRun) -> None:
        for number, step in enumerate(run.steps):
            left = run.seconds_left(number)
            about = "" if left is None else f"; about {duration(left)} left"
            self.stderr.write(f"[{number + 1}/{len(run.steps)}] {step.name}{about}", str)
            seconds = run.perform(step)
            self.stderr.write(f"    {duration(seconds)}", str)

    def _say_training(self, training: Training) -> None:
        line = self.log.line_of(training)
        if line:
            self.stderr.write(f"    {line}", str)

    def _record(self, run: FindingRun, *, in_repository: bool) -> None:
        record = run.record()
        self.stderr.write(f"Recorded: {records.store(record)} in the storage", str)
        if in_repository:
            self.stderr.write(f"Recorded: {records.write(record, folder=records.FOLDER)}", str)
        for judged in pages.judged_statements(run.definition, run.size, record):
            one, outcome = judged.found, judged.outcome
            if one is not None and outcome is not None:
                self.stdout.write(
                    f"{SIGNS[outcome]:<10} {one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f})  {one.says}"
                )
