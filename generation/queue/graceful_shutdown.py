"""Requests to stop. A worker's main process shares the time of the request with the processes that it forks.

The lease of each job notices the request, and the job is released as if it had never been tried. A process that looks
for work ends. A job process that gets SIGTERM alone does the same, and the worker replaces it.
"""

import mmap
import signal
import struct
import time
from types import FrameType

from django.conf import settings

NEVER = bytes(8)
_SHARED = mmap.mmap(-1, 8)  # the time of the request by the machine's monotonic clock; NEVER without a request
_HERE: list[float] = []  # the times of requests to this process alone


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


def note_term() -> None:
    # Note SIGTERM as a request to this process alone, without an interruption of what it does.
    _HERE.clear()
    signal.signal(signal.SIGTERM, _ask_here)


def _ask_here(number: int, frame: FrameType | None) -> None:
    _HERE.append(time.monotonic())
