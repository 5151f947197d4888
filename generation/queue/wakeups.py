"""Wakes an idle process of a worker, so that it looks for work now instead of a moment later.

All processes of a worker wait for a byte in one pipe. A process that knows of work writes a byte, and an idle one reads
it. A process that claims a job writes the next byte, so that as many processes wake as there are jobs.
"""

import os
import select
from contextlib import suppress

_queue = ""  # the queue of the worker that this process belongs to
_pipe = (-1, -1)
AT_ONCE = 65_536  # bytes: the capacity of a pipe


def open_pipe(queue: str) -> None:
    """Create the pipe, before the worker's main process forks the other processes."""
    global _queue, _pipe  # forked processes inherit them
    _queue, _pipe = queue, os.pipe()
    for end in _pipe:
        os.set_blocking(end, False)


def is_in_worker() -> bool:
    return bool(_queue)


def ring(queue: str = "") -> bool:
    """Wake an idle process of this worker; return False if this process belongs to no worker of the queue."""
    if not _queue or queue not in ("", _queue):
        return False
    with suppress(BlockingIOError):  # the pipe is full, so nobody sleeps
        os.write(_pipe[1], b".")
    return True


def wait(seconds: float, *, signals: int) -> None:
    # Wait until this process is woken, the time is over, or something can be read from the descriptor `signals`.
    select.select([_pipe[0], signals], [], [], seconds)
    with suppress(BlockingIOError):
        os.read(_pipe[0], AT_ONCE)  # all of them: this process wakes the next one if it finds work
