"""Heartbeats of background processes: the main process of each worker updates a row at regular intervals.

With each heartbeat it also runs a sweep: it frees the jobs of processes that are gone, and does the chores of each kind
of job.
"""

import logging
import os
import socket
import threading
from typing import Any

from django.db import DatabaseError, connection

from generation.models import Heartbeat, from_now
from generation.queue import leases, outages, runner
from generation.queue.fork_lock import no_forks

INTERVAL = 15.0  # seconds
FORGOTTEN = 86400.0  # seconds after which the row of a process that died is deleted

log = logging.getLogger(__name__)


class Beating:
    """A thread that sends heartbeats until it is stopped.

    It starts after the pool has forked, and has its own connection to the database.
    """

    def __init__(self, *, queue: str, processes: int) -> None:
        self.name, self.queues, self.processes = f"{queue}@{leases.worker_name()}", queue, processes
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._beat_on, name="heartbeat", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.ended.set()
        self.thread.join(timeout=INTERVAL)
        try:
            Heartbeat.objects.filter(name=self.name).delete()
        except DatabaseError:
            log.warning("The last heartbeat of %s stays for a minute.", self.name, exc_info=True)

    def _beat_on(self) -> None:
        while True:
            with no_forks:
                self._beat_once()
            if self.ended.wait(INTERVAL):
                return

    def _beat_once(self) -> None:
        try:
            beat(name=self.name, queues=self.queues, processes=self.processes)
            sweep()
            outages.here.end(outages.DATABASE)
        except Exception:
            log.warning("No heartbeat this time.", exc_info=True)
        finally:
            connection.close()  # it must not be open when the pool forks again


def beat(*, name: str, queues: str, processes: int = 1) -> None:
    Heartbeat.objects.note(name, host=socket.gethostname(), pid=os.getpid(), queues=queues, processes=processes)
    Heartbeat.objects.filter(seen__lt=from_now(-FORGOTTEN)).delete()
    _forget_killed()


def _forget_killed() -> None:
    # A worker that was killed on this host could not delete its row. Until then, its processes would count as alive.
    names = Heartbeat.objects.exclude(queues="").values_list("name", flat=True)
    killed = [name for name in names if leases.is_gone(name.partition("@")[2])]
    if killed:
        Heartbeat.objects.filter(name__in=killed).delete()


def sweep() -> None:
    runner.sweep()
    Heartbeat.objects.note(Heartbeat.SWEEP, host=socket.gethostname(), pid=os.getpid(), queues="")


def start_command(queue: str) -> str:
    return f"python manage.py process {queue}"


def describe_waiting(queue: str, *, waits: bool = True) -> dict[str, Any]:
    is_alone = waits and not Heartbeat.objects.reading(queue).alive().exists()
    return {"is_alone": is_alone, "start_command": start_command(queue)}
