"""Processes that a program of the site starts by forking: quick, and each with connections of its own."""

import os
import signal
import traceback
from collections.abc import Callable

from django.db import connections


def start(do: Callable[[], object]) -> int:
    """Return the number of a new process that does something; what it reaches, it must be the first to reach."""
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
    """Wait until a process has ended, and return its exit status; minus the signal's number where one killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def wait_until_stopped(process: int) -> None:
    """Wait until a process has stopped itself."""
    _, status = os.waitpid(process, os.WUNTRACED)
    assert os.WIFSTOPPED(status), status


def die() -> None:
    """End this process at once, as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)
