"""Processes of the command line that make one dataset, and the progress they make."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

from generation.making import dataset_jobs
from generation.models import Dataset, Job
from generation.queue import graceful_shutdown

POLL = 0.3  # seconds
RECOVERY = 10.0  # seconds
PATIENCE = 20.0  # seconds that a process has to stop in
RESTARTS = 3  # of each process
STOPPING = (signal.SIGTERM, signal.SIGINT)


class KeepDying(Exception):
    """Process after process ended without having been asked to."""


class Pool:
    """Several processes that run `manage.py work --dataset SLUG`, the same loop that Celery's run."""

    def __init__(self, dataset: Dataset, *, size: int) -> None:
        self.dataset = dataset
        self.size = size
        self.restarts = RESTARTS * size
        self.processes = [self._spawn() for _ in range(size)]

    def _spawn(self) -> "subprocess.Popen[bytes]":
        manage = str(settings.BASE_DIR / "manage.py")
        return subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, manage, "work", "--dataset", self.dataset.slug, "--parent", str(os.getpid())],
            env={**os.environ, "GENERATION_PROCESSES": str(self.size)},
        )

    def watch(self, *, show: Callable[[], None]) -> None:
        """Return when the dataset is not being made any more; `show` is called every now and then."""
        recovered = time.monotonic()
        while self._is_making():
            if graceful_shutdown.is_asked():
                raise KeyboardInterrupt
            show()
            died = self._replace_dead()
            if died or time.monotonic() - recovered > RECOVERY:
                dataset_jobs.RUNNER.recover()
                recovered = time.monotonic()
            time.sleep(POLL)
        show()

    def _is_making(self) -> bool:
        return state_of(self.dataset) == Dataset.State.MAKING

    def _replace_dead(self) -> bool:
        dead = [number for number, process in enumerate(self.processes) if process.poll() is not None]
        if not dead or not self._is_making():
            return False
        self.restarts -= len(dead)
        if self.restarts < 0:
            raise KeepDying(
                "Expected background processes that stay alive, got one after the other that stopped. "
                f"The last one's exit status was {self.processes[dead[-1]].returncode}."
            )
        for number in dead:
            self.processes[number] = self._spawn()
        return True

    def stop(self) -> None:
        """Ask all processes to stop, and wait; what they were at waits for others."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        end = time.monotonic() + PATIENCE
        for process in self.processes:
            try:
                process.wait(timeout=max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        dataset_jobs.RUNNER.recover()


def state_of(dataset: Dataset) -> str:
    """Return the dataset's state now; one that is gone counts as being deleted."""
    try:
        dataset.refresh_from_db()
    except Dataset.DoesNotExist:
        dataset.state = Dataset.State.DELETING
    return dataset.state


def drop_connection() -> None:
    """Give up the connection to the database: an interrupted process may have been inside a transaction.

    Closing alone is not enough then: Django keeps the closed connection until the end of the transaction, which never
    comes, and every query fails.
    """
    with suppress(DatabaseError):
        connections[DEFAULT_DB_ALIAS].close()
    del connections[DEFAULT_DB_ALIAS]


@contextmanager
def stoppable() -> Iterator[None]:
    """Let TERM stop the block as Ctrl-C does; what comes after the first of both does not disturb the stopping.

    An exception that is raised inside a callback of SQLite is lost: the query fails with another one. So the request
    is noted too, the block's own loops look for it with `graceful_shutdown.is_asked`, and any error that leaves the
    block after it becomes a KeyboardInterrupt.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        graceful_shutdown.ask()
        for asked in STOPPING:
            signal.signal(asked, signal.SIG_IGN)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # signals are somebody else's
        yield
        return
    before = {asked: signal.signal(asked, interrupt) for asked in STOPPING}
    try:
        yield
    except Exception as error:
        if graceful_shutdown.is_asked():
            raise KeyboardInterrupt from error
        raise
    finally:
        graceful_shutdown.forget()
        for asked, handler in before.items():
            signal.signal(asked, handler)


def note(dataset: Dataset, *, outages: bool = False) -> str:
    """Return what a waiting job says about why it waits, if one does; of outages alone where those are asked for."""
    waiting = Job.objects.filter(dataset=dataset, state=Job.State.WAITING).exclude(message="")
    job = (waiting.filter(waits__gt=0) if outages else waiting).order_by("-waits", "pk").first()
    return "" if job is None else job.waiting_note
