"""Requests to stop. A worker's main process shares the time of the request with the processes that it forks.

A Celery worker that receives SIGTERM only stops waiting for messages. A process that runs a job would continue until
the job ends, or until the process is killed. Therefore the main process notes the request, the lease of each job
notices it, and the job is released as if it had never been tried.
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
_SHARED = mmap.mmap(-1, 8)  # the time of the request by the machine's monotonic clock; NEVER without a request
_HERE: list[float] = []  # the times of requests to this process alone
_HELD: list[str] = []  # the jobs that this process holds: one token for each


class Stopped(Exception):
    """The process was asked to stop. Its job waits for another process."""


def ask() -> None:
    _SHARED[:] = struct.pack("d", time.monotonic())


def forget() -> None:
    # The block that had to stop has ended.
    _SHARED[:] = NEVER
    _HERE.clear()


def is_asked() -> bool:
    return bool(_HERE) or _SHARED[:] != NEVER


def seconds_left() -> float:
    """Return the seconds within which this process has to stop; infinity without a request."""
    if not is_asked():
        return float("inf")
    moments = [*_HERE, *([struct.unpack("d", _SHARED[:])[0]] if _SHARED[:] != NEVER else [])]
    return settings.STOP_SECONDS - (time.monotonic() - min(moments))


def begin(name: str) -> None:
    _HELD.append(name)


def end(name: str) -> None:
    _HELD.remove(name)


def leave_if_asked_alone() -> None:
    """End this process if it holds no job and it alone was asked to stop, not the whole worker.

    The worker replaces the process.
    """
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
