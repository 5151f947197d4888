"""Forks processes of a program of the site, which is fast. Each process opens new connections."""

import os
import signal
import traceback
from collections.abc import Callable

from django.db import connections


def start(do: Callable[[], object]) -> int:
    """Start a process that calls `do`, and return its process id.

    Connections to the database are closed before. The program must not have connected before to any other service that
    `do` uses, like a bucket: both processes would share the connection.
    """
    connections.close_all()
    process = os.fork()
    if process:
        return process
    try:
        do()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def end_of(process: int) -> int:
    """Wait until a process has ended and return its exit status, or minus the signal's number if a signal killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def wait_until_stopped(process: int) -> None:
    """Wait until a process has stopped itself."""
    _, status = os.waitpid(process, os.WUNTRACED)
    assert os.WIFSTOPPED(status), status


def die() -> None:
    """Kill this process without any cleanup, as a power cut does."""
    os.kill(os.getpid(), signal.SIGKILL)
