"""Commands that watch processes make a dataset, with a progress bar."""

import sys
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from generation.making.pool import KeepDying, Pool, drop_connection, stoppable
from generation.management.console import FAILED, INTERRUPTED, PlainCommand
from generation.models import Dataset

GO_ON = "Go on: the same command, all its options, and --resume."


class Bar:
    """A progress bar on standard error.

    Parameters
    ----------
    dataset : Dataset
    look : callable
        Returns how much is done, in the bar's unit, and a line that says so.
    options
        As `tqdm` takes them.
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
        """Show how far it is; into a file, only what is new."""
        done, text = self.look(self.dataset)
        if text != self.shown or sys.stderr.isatty():
            self.bar.n = done
            self.bar.set_description_str(text)
        self.shown = text


class WatchingCommand(PlainCommand):
    """A command that stays until processes of its own have done all there is to do for a dataset."""

    def watch(self, bar: Bar, *, size: int, kept: str) -> None:
        """Run so many processes until the dataset is complete, or can't be; `kept` says in a word what is after Ctrl-C.

        Raises `CommandError` where they keep dying, or after Ctrl-C on the command line.
        """
        with stoppable():
            pool = Pool(bar.dataset, size=size)
            try:
                with bar:
                    pool.watch(show=bar.show)
            except KeyboardInterrupt:
                if self.from_command_line:
                    drop_connection()
                self.interrupted(kept)
            except KeepDying as error:
                raise CommandError(f"{error} What is {kept} is kept. {GO_ON}", returncode=FAILED) from error
            finally:
                pool.stop()

    def interrupted(self, kept: str) -> None:
        """Raise what ends the command after Ctrl-C; `kept` as `watch` takes it."""
        if not self.from_command_line:
            raise KeyboardInterrupt
        raise CommandError(
            f"Stopped. What is {kept} is kept. {GO_ON}",
            returncode=INTERRUPTED,
        )

    def check_complete(self, dataset: Dataset) -> None:
        """Raise `CommandError` with the reason unless the dataset, as it was last read, is complete."""
        if dataset.state != Dataset.State.COMPLETE:
            reason = dataset.error or f"{dataset.slug} was {dataset.state} meanwhile."
            raise CommandError(reason, returncode=FAILED)
