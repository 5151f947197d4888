"""A worker: a main process, the processes that it forks to find and do the jobs of a queue, and a listener.

Each job process looks for rows that it can claim: when it is woken, and at least every `POLL` seconds. This needs the
database alone. The listener takes the messages of the broker in a process of its own, and only wakes the others:
whatever happens to the broker, the work goes on.
"""

import logging
import multiprocessing
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connection

from generation.queue import chores, graceful_shutdown, outages, runner, wakeups, workers

POLL = 2.0  # seconds between two looks for work of an idle process
CATCH_UP = 15.0  # seconds between two calls of `catch_up` of an idle process
TICK = 0.2  # seconds
LEAST = 1.0  # seconds between two starts of the same process
MOST = 30.0  # limit of these seconds for a listener that ends again and again
HEALTHY = 60.0  # seconds after which a listener counts as healthy again
LISTENER_PATIENCE = 5.0  # seconds that the listener has to stop
STOPPING = (signal.SIGTERM, signal.SIGINT)

_fork = multiprocessing.get_context("fork")
log = logging.getLogger(__name__)


# A job process


def find_work(queue: str) -> None:
    """Do the jobs of a queue, and chores between jobs, until this process is asked to stop."""
    signals, signals_end = os.pipe()
    for end in (signals, signals_end):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(signals_end, warn_on_full_buffer=False)  # a signal ends the wait below
    graceful_shutdown.note_term()
    runners = [kind for kind in runner.RUNNERS.values() if kind.queue == queue]
    caught_up, rounds = 0.0, chores.Rounds(queue)
    while not graceful_shutdown.is_asked():
        close_old_connections()
        is_due = time.monotonic() - caught_up > CATCH_UP
        if is_due:
            caught_up = time.monotonic()
        done = sum(_take_turn(kind, is_due=is_due) for kind in runners)
        if not graceful_shutdown.is_asked():
            rounds.go()
        if not done and not graceful_shutdown.is_asked():
            wakeups.wait(POLL * random.uniform(0.75, 1.25), signals=signals)  # noqa: S311  # not all at once


def _take_turn(kind: runner.Runner[Any], *, is_due: bool) -> int:
    try:
        return kind.take_turn(is_due=is_due)
    except Exception:
        log.exception("Expected to look for %s, but it went wrong.", kind.name)
        connection.close()
        return 0


# The main process


@dataclass
class Member:
    """A process of the worker, which is started again when it ends."""

    name: str
    act: Callable[[], object]
    process: BaseProcess | None = None
    started: float = -LEAST
    pause: float = LEAST

    def revive(self) -> None:
        if self.process is not None and not self.process.is_alive():
            self._note_end(self.process.exitcode)
            self.process = None
        if self.process is None and time.monotonic() - self.started >= self.pause:
            self.process = _fork.Process(target=_run, args=(self.act, os.getpid()), name=self.name)
            self.started = time.monotonic()
            self.process.start()

    def _note_end(self, status: int | None) -> None:
        log.info("%s ended with exit status %s.", self.name, status)


class Listener(Member):
    """The process that takes messages. Errors of the broker, like a wrong password, may end it."""

    def revive(self) -> None:
        """Start the process if it has ended, less and less often; the new one knows that the outage is logged."""
        super().revive()
        if self.pause > LEAST and time.monotonic() - self.started > max(HEALTHY, self.pause):
            self.pause = LEAST
            outages.here.forget(outages.broker())

    def _note_end(self, status: int | None) -> None:
        self.pause = min(MOST, 2 * self.pause)
        if status == outages.LOGGED_STATUS:
            outages.here.begin(outages.broker())  # the next listener, a fork of this process, logs the end
        else:
            outages.note_broker(f"the process that takes its messages ended with exit status {status}")


def _run(act: Callable[[], object], parent: int) -> None:
    """Run in a forked process; ask it to stop when its parent is gone."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the main process, too, which stops the others
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()
    with suppress(KeyboardInterrupt):
        act()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGTERM)


class Worker:
    """The main process of a worker for one queue.

    Parameters
    ----------
    queue : str
        The queue whose jobs are done.
    size : int
        The number of job processes.
    listen : callable
        Takes the messages of the broker until SIGTERM, in a process of its own.
    """

    def __init__(self, queue: str, *, size: int, listen: Callable[[], object]) -> None:
        self.queue = queue
        self.jobs = [Member(f"{queue} {number}", lambda: find_work(queue)) for number in range(size)]
        self.listener = Listener(f"listener of {queue}", listen)
        self.heartbeat = workers.Beating(queue=queue, processes=size)

    @property
    def members(self) -> Sequence[Member]:
        return [*self.jobs, self.listener]

    def run(self) -> None:
        """Keep all processes alive until SIGTERM or SIGINT, then stop them."""
        wakeups.open_pipe(self.queue)
        for number in STOPPING:
            signal.signal(number, lambda *_: graceful_shutdown.ask())
        log.info("A worker with %d processes does the jobs of the queue %s.", len(self.jobs), self.queue)
        try:
            self._revive()
            self.heartbeat.start()
            while not graceful_shutdown.is_asked():
                self._revive()
                time.sleep(TICK)
        finally:
            graceful_shutdown.ask()
            self._stop()

    def _revive(self) -> None:
        for member in self.members:
            member.revive()

    def _stop(self) -> None:
        alive = [member.process for member in self.members if member.process is not None]
        for process in alive:
            process.terminate()
        end = time.monotonic() + settings.STOP_SECONDS
        if self.listener.process is not None:
            self.listener.process.join(LISTENER_PATIENCE)
            self.listener.process.kill()
        for process in alive:
            process.join(max(0.0, end - time.monotonic()))
            process.kill()
            process.join()
        self.heartbeat.stop()
