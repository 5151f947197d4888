"""The processes with which a command makes one dataset, and how commands are stopped."""

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
PATIENCE = 20.0  # seconds within which a process must stop
RESTARTS = 3  # allowed restarts for each process, counted together
STOPPING = (signal.SIGTERM, signal.SIGINT)


class KeepDying(Exception):
    """Too many processes ended without a request to stop."""


class Pool:
    """Several processes that run `manage.py work --dataset SLUG`, with the same loop as Celery's processes."""

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
        """Wait until the dataset is no longer being made; call `show` regularly, and replace processes that ended."""
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
        """Ask all processes to stop, and wait for them. Their jobs wait for other processes."""
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
    """Return the dataset's current state. A dataset that no longer exists counts as being deleted."""
    try:
        dataset.refresh_from_db()
    except Dataset.DoesNotExist:
        dataset.state = Dataset.State.DELETING
    return dataset.state


def drop_connection() -> None:
    """Discard the connection to the database, because an interrupted process may have been inside a transaction.

    Closing the connection is not enough: Django keeps the closed connection until the end of the transaction, which
    never comes, and every query fails.
    """
    with suppress(DatabaseError):
        connections[DEFAULT_DB_ALIAS].close()
    del connections[DEFAULT_DB_ALIAS]


@contextmanager
def stoppable() -> Iterator[None]:
    """Make SIGTERM stop the block as Ctrl-C does. Signals after the first one are ignored, while the block stops.

    An exception that is raised inside a callback of SQLite is lost, and the query fails with another one. Therefore the
    request is also noted, and the loops of the block check it with `graceful_shutdown.is_asked`. Any error that leaves
    the block after the request becomes a KeyboardInterrupt.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        graceful_shutdown.ask()
        for asked in STOPPING:
            signal.signal(asked, signal.SIG_IGN)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only the main thread can handle signals
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
    waiting = Job.objects.filter(dataset=dataset, state=Job.State.WAITING).exclude(message="")
    job = (waiting.filter(waits__gt=0) if outages else waiting).order_by("-waits", "pk").first()
    return "" if job is None else job.waiting_note
