"""Running a module of ours in a child process that may use only so much time and memory.

As a program it is that child: it limits itself before anything else is imported, then runs the module.
"""

import os
import resource
import runpy
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "HOME", "NUMBA_CACHE_DIR")
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
PATIENCE = 1.5
WORDS = 2000  # of what a child complained about


class TooLong(Exception):
    """The child wanted more time than it was given."""


class TooBig(Exception):
    """The child wanted more memory than it was given."""


class Broken(Exception):
    """The child ended without a result, by a mistake of ours. The text is what it said."""


def run(module: str, given: bytes, *, seconds: int, memory: int) -> bytes:
    """Return what a module, run as a program, writes when it reads `given`; none of our secrets are in its environment.

    Parameters
    ----------
    module : str
        Its dotted name.
    given : bytes
        Its standard input.
    seconds : int
        Limit of its processor time; on the clock half as much again may pass, where others are at work too.
    memory : int
        Limit of its address space, in bytes.

    Raises
    ------
    TooLong, TooBig, Broken
    """
    command = [sys.executable, "-m", "generation.limited", str(seconds), str(memory), module]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ} | ALONE
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command, input=given, capture_output=True, cwd=ROOT, env=environment, timeout=PATIENCE * seconds
        )
    except subprocess.TimeoutExpired as error:
        raise TooLong(f"{module} was stopped after {PATIENCE * seconds:g} seconds.") from error
    said = done.stderr.decode(errors="replace")
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise TooLong(f"{module} was stopped after {seconds} seconds of processor time.")
    if done.returncode < 0 or (done.returncode != 0 and "MemoryError" in said):
        raise TooBig(f"{module} wanted more than {memory:,} bytes of memory.")
    if done.returncode != 0:
        raise Broken(said[-WORDS:] or f"{module} ended with {done.returncode}.")
    return done.stdout


def main() -> None:
    """Limit this process, then be the module."""
    seconds, memory, module = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
