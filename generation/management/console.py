"""The output of commands: errors as one line on standard error with an exit status for each kind, and progress bars."""

import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from tqdm import tqdm

from generation.engine.compilation_watch import watch
from generation.engine.errors import EngineError
from generation.making.process_pool import KeepDying, Pool, drop_connection, note, stoppable
from generation.making.progress import progress_of
from generation.making.warmup import warm_world
from generation.management.world_packages import WORLDS
from generation.models import Dataset, Split
from generation.queue import graceful_shutdown

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130
MOST_WORKERS = 64
EVERY = 5.0  # seconds between two lines about compilation


class PlainCommand(BaseCommand):
    """A command that prints errors on one line: exit 2 for bad input, 1 for a failure, 130 after Ctrl-C."""

    requires_system_checks = (WORLDS,)  # the other checks load all pages; `make lint` runs them
    from_command_line = False
    needs_tables = True

    def run_from_argv(self, argv: list[str]) -> None:
        self.from_command_line = True
        super().run_from_argv(argv)

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Return a parser whose error messages do not repeat the usage."""
        parser = super().create_parser(prog_name, subcommand, **options)
        if self.from_command_line:
            parser.print_usage = lambda file=None: None  # type: ignore[method-assign]
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; an engine's error becomes a `CommandError` with the same text."""
        try:
            if self.from_command_line and self.needs_tables:
                prepare_tables()
            with watch(CompilingNotice(self._note)) if self.from_command_line else nullcontext():
                return super().execute(*args, **options)
        except EngineError as error:
            refusal = CommandError(str(error), returncode=BAD_INPUT)
            refusal.__cause__ = error
        except CommandError as error:
            refusal = error
        except (OperationalError, InterfaceError) as error:
            refusal = CommandError(_database_trouble(error), returncode=FAILED)
            refusal.__cause__ = error
        if not self.from_command_line:
            raise refusal
        self.stderr.write(str(refusal).replace("\n", " "))
        sys.exit(refusal.returncode)

    def _note(self, line: str) -> None:
        self.stderr.write(line, str)

    def find_dataset(self, slug: str) -> Dataset:
        """Return the dataset with this name; raise `CommandError` with the existing names."""
        dataset = Dataset.objects.filter(slug=slug).first()
        if dataset is None:
            names = ", ".join(Dataset.objects.order_by("slug").values_list("slug", flat=True)[:20])
            raise CommandError(
                f"Expected a dataset ({names or 'there is none yet'}), got {slug!r}.", returncode=BAD_INPUT
            )
        return dataset

    def find_split(self, text: str) -> Split:
        """Return the split `DATASET/SPLIT` with dataset and parent; raise `CommandError` with the existing names."""
        slug, slash, name = text.partition("/")
        if not slash:
            raise CommandError(f"Expected DATASET/SPLIT, got {text!r}.", returncode=BAD_INPUT)
        dataset = self.find_dataset(slug)
        split = Split.objects.for_browse().filter(dataset=dataset, name=name).first()
        if split is None:
            names = ", ".join(dataset.splits.order_by("ordinal").values_list("name", flat=True)[:20])
            raise CommandError(f"{slug}: Expected a split ({names}), got {name!r}.", returncode=BAD_INPUT)
        return split


class CompilingNotice:
    """Reports compilation, because a command that is silent for a minute seems to hang.

    Parameters
    ----------
    say : callable
        Prints a line.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self.say = say
        self.count = 0
        self.began = self.said = 0.0

    def __call__(self, name: str) -> None:
        """Report that the function with this name is being compiled."""
        self.count += 1
        now = time.monotonic()
        if self.count == 1:
            self.began = self.said = now
            self.say("Compiling the fast parts for this machine, once. It takes a minute or two.")
        elif now - self.said >= EVERY:
            self.said = now
            self.say(f"Compiling: {self.count} functions after {now - self.began:.0f} s, now {name}.")


def _database_trouble(error: Exception) -> str:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return (
        f"Expected a database that answers, got: {reason}. What was stored before is kept; mend the database, then try "
        "again (generate: with --resume)."
    )


def prepare_tables() -> None:
    """Create the tables of a new database; raise `CommandError` if the database cannot be reached."""
    try:
        tables = connection.introspection.table_names()
    except OperationalError as error:
        reason = str(error).splitlines()[0]
        raise CommandError(f"Expected a database in DATABASE_URL, got none ({reason}).", returncode=FAILED) from error
    if Dataset._meta.db_table not in tables:
        call_command("migrate", interactive=False, verbosity=0)


GO_ON = "To continue, run the same command with all its options and --resume."


class Bar:
    """A progress bar on standard error.

    Parameters
    ----------
    dataset : Dataset
    look : callable
        Returns the progress in the bar's unit, and a text that describes it.
    options
        Options of `tqdm`.
    """

    def __init__(self, dataset: Dataset, look: Callable[[Dataset], tuple[float, str]], **options: Any) -> None:
        self.dataset, self.look = dataset, look
        self.shown = ""
        self.bar = tqdm(**options)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()

    def show(self) -> None:
        """Show the progress. If the output is a file, only changes are written."""
        done, text = self.look(self.dataset)
        if text != self.shown or sys.stderr.isatty():
            self.bar.n = done
            self.bar.set_description_str(text)
        self.shown = text


class WatchingCommand(PlainCommand):
    """A command that runs its own processes until all work on a dataset is done."""

    def watch(self, bar: Bar, *, size: int, kept: str) -> None:
        """Run `size` processes until no work on the dataset is left. `kept` is the verb in the message after Ctrl-C.

        Raises `CommandError` if the processes keep dying, or after Ctrl-C on the command line.
        """
        try:
            with stoppable():
                self._run_pool(bar, size=size, kept=kept)
        except KeyboardInterrupt:
            self.interrupted(kept)

    def _run_pool(self, bar: Bar, *, size: int, kept: str) -> None:
        pool = Pool(bar.dataset, size=size)
        try:
            with bar:
                pool.watch(show=bar.show)
        except (KeyboardInterrupt, DatabaseError):
            if graceful_shutdown.is_asked() and self.from_command_line:
                drop_connection()
            raise
        except KeepDying as error:
            raise CommandError(f"{error} What is {kept} is kept. {GO_ON}", returncode=FAILED) from error
        finally:
            pool.stop()

    def interrupted(self, kept: str) -> None:
        """Raise the exception that ends the command after Ctrl-C; for `kept` see `watch`."""
        if not self.from_command_line:
            raise KeyboardInterrupt
        raise CommandError(
            f"Stopped. What is {kept} is kept. {GO_ON}",
            returncode=INTERRUPTED,
        )

    def make(self, dataset: Dataset, *, workers: int) -> None:
        """Run processes until the dataset is complete; raise `CommandError` if it cannot be."""
        try:
            with stoppable():
                warm_world(dataset.world, draws=dataset.with_images)
        except KeyboardInterrupt:
            self.interrupted("made")
        bar_format = "{desc} {percentage:3.0f}% |{bar:30}| {elapsed}<{remaining}"
        bar = Bar(dataset, _how_far, total=1.0, initial=progress_of(dataset).share, bar_format=bar_format)
        self.watch(bar, size=workers, kept="made")
        self.check_complete(dataset)

    def check_complete(self, dataset: Dataset) -> None:
        if dataset.state != Dataset.State.COMPLETE:
            reason = dataset.error or f"{dataset.slug} was {dataset.state} meanwhile."
            raise CommandError(reason, returncode=FAILED)


def _how_far(dataset: Dataset) -> tuple[float, str]:
    """Return the finished share, and a text with the counts or the reason why work has stopped."""
    at = progress_of(dataset)
    text = f"{dataset.slug}: {at.scenes:,}/{at.of_scenes:,} scenes"
    if at.of_images:
        text += f", {at.images:,}/{at.of_images:,} images"
    return at.share, f"{dataset.slug}: {reason}" if (reason := note(dataset)) else text


def add_workers(parser: ArgumentParser) -> None:
    """Add the option `--workers`."""
    parser.add_argument(
        "--workers", type=_number_of_processes, metavar="N",
        help=f"processes, {MOST_WORKERS} at most; default: one a processor",
    )  # fmt: skip


def _number_of_processes(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= MOST_WORKERS:
        raise ArgumentTypeError(f"expected a number of processes, 1 to {MOST_WORKERS}, got {text!r}")
    return int(text)
