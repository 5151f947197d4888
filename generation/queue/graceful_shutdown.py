"""Being asked to stop: a moment that a worker's main process shares with the processes it forks.

SIGTERM to a Celery worker only ends its waiting for messages: a process in the middle of a job would go on for as long
as that takes, and be killed in the end. Here the main process notes that it was asked, each job's lease notices it, and
the job waits again as if it had never been tried.
"""

import mmap
import os
import signal
import struct
import time
from types import FrameType
from typing import Any

from celery.signals import worker_process_init, worker_shutting_down
from django.conf import settings

NEVER = bytes(8)
_SHARED = mmap.mmap(-1, 8)  # the moment by the machine's monotonic clock, NEVER while nobody asked
_HERE: list[float] = []  # the moment at which this process alone was asked
_HELD: list[str] = []  # what this process holds: one entry for each job


class Stopped(Exception):
    """The process was asked to stop: what it does waits for another one."""


def ask() -> None:
    _SHARED[:] = struct.pack("d", time.monotonic())


def forget() -> None:
    """Go on as if nobody had asked: the block that was to stop has ended."""
    _SHARED[:] = NEVER
    _HERE.clear()


def is_asked() -> bool:
    return bool(_HERE) or _SHARED[:] != NEVER


def seconds_left() -> float:
    """Return how long this process may still take to stop; infinity while nobody asked."""
    if not is_asked():
        return float("inf")
    moments = [*_HERE, *([struct.unpack("d", _SHARED[:])[0]] if _SHARED[:] != NEVER else [])]
    return settings.STOP_SECONDS - (time.monotonic() - min(moments))


def begin(name: str) -> None:
    _HELD.append(name)


def end(name: str) -> None:
    _HELD.remove(name)


def leave_if_asked_alone() -> None:
    """End this process where it, and not the whole worker, was asked to stop; the worker replaces it."""
    if _HERE and not _HELD:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


@worker_shutting_down.connect
def _ask_all(**_: Any) -> None:
    ask()


@worker_process_init.connect
def _notice_term(**_: Any) -> None:
    signal.signal(signal.SIGTERM, _ask_here)


def _ask_here(number: int, frame: FrameType | None) -> None:
    _HERE.append(time.monotonic())
    leave_if_asked_alone()
