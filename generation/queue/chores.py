"""Regular work that is no job, such as housekeeping: job processes do it between jobs when it is due.

A row of `Heartbeat` has the time at which a chore was last begun. The process that moves this time does the chore, so
neither a clock nor the broker is needed.
"""

import logging
import os
import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection

from generation.models import Heartbeat, from_now
from generation.queue import DEFAULT, leases

LOOK = 60.0  # seconds between two looks of a process whether a chore is due
AGAIN = 600.0  # seconds after which a chore that went wrong is due again

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Chore:
    """Regular work that is done once for the site, or on each machine.

    Attributes
    ----------
    name : str
        Names the row.
    act : callable
        Does the work. It may be called twice, and killed half-way.
    every : float
        Seconds between two times.
    on_each_machine : bool
        Whether each machine, or container, does it separately. Processes of both queues do this, and otherwise those
        of `default`, which have a higher priority.
    """

    name: str
    act: Callable[[], object]
    every: float = 3600.0
    on_each_machine: bool = False

    @property
    def row(self) -> str:
        return f"{self.name}@{leases.host_name()}" if self.on_each_machine else self.name

    def do_if_due(self) -> bool:
        """Do the work if it is due and no other process does it; return whether it succeeded."""
        if not Heartbeat.objects.claim_chore(self.row, every=self.every, host=socket.gethostname(), pid=os.getpid()):
            return False
        try:
            self.act()
        except Exception:
            log.exception("Expected to do the chore %s, but it went wrong. It is due again in ten minutes.", self.name)
            if not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()
            Heartbeat.objects.filter(name=self.row).update(seen=from_now(AGAIN - self.every))
            return False
        return True


CHORES: dict[str, Chore] = {}


def register(chore: Chore) -> Chore:
    CHORES[chore.name] = chore
    return chore


class Rounds:
    """The looks of one job process of a queue. The first one is `LOOK` seconds after its start."""

    def __init__(self, queue: str) -> None:
        self.queue = queue
        self.due = time.monotonic() + LOOK

    def go(self) -> None:
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + LOOK * random.uniform(0.75, 1.25)  # noqa: S311  # not all at once
        try:
            for chore in CHORES.values():
                if chore.on_each_machine or self.queue == DEFAULT:
                    chore.do_if_due()
        except Exception:
            log.exception("Expected to look for chores that are due, but it went wrong.")
            connection.close()
