"""Supervises child processes: starts them, restarts them after a crash, and stops them together."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

LONGEST_PAUSE = 30.0  # seconds between two starts of a child that keeps crashing
HEALTHY_AFTER = 30.0  # seconds after which a child counts as healthy again
TICK = 0.2
LARGEST_LOG = 10_000_000  # bytes; the content of a larger log is moved to another file
PR_SET_PDEATHSIG = 1


@dataclass(kw_only=True)
class SupervisedProcess:
    """A process that is kept alive; it and its children form a process group.

    Its output goes to the file `log`, or to this process's output if there is no log file.
    """

    name: str
    command: Sequence[str]
    log: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()
    nice: int = 0
    sockets: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    crashes: int = 0
    start_again: float | None = None

    def start(self) -> None:
        with self._output() as output:
            self.process = subprocess.Popen(  # noqa: S603  # our own command
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output and subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **self.environment},
                cwd=self.folder,
                pass_fds=self.sockets,
                start_new_session=True,
                preexec_fn=_manners(self.nice),
            )
        self.started, self.start_again = time.monotonic(), None

    def _output(self) -> AbstractContextManager[IO[bytes] | None]:
        if self.log is None:
            return nullcontext()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        return self.log.open("ab")

    def ask_to_end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def kill(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError, PermissionError):  # the group has ended (macOS: PermissionError)
                os.killpg(self.process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """Return the last lines of the process's log; empty without a log."""
        if self.log is None:
            return ""
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - 4000))
            text = file.read().decode(errors="replace")
        end = "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-5:])
        return f" The end of {self.log}:\n{end}"


def _manners(nice: int) -> Callable[[], None]:
    """Return a function that a child calls before it executes its program.

    The function lowers the child's priority. On Linux, it also makes the kernel send SIGTERM to the child when the
    parent dies.
    """
    parent = os.getpid()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def behave() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # the parent died before the previous line
                os._exit(1)
        if nice:
            os.nice(nice)

    return behave


class Supervisor:
    """Child processes that are kept alive until a stop is requested.

    Parameters
    ----------
    children : sequence of SupervisedProcess
        The processes to keep alive.
    say : callable
        It is called with one text for each event that users should know about.
    grace : float
        Seconds that the children have to stop before they are killed.
    """

    def __init__(self, children: Sequence[SupervisedProcess], *, say: Callable[[str], object], grace: float) -> None:
        self.children = children
        self.grace = grace
        self.say = say
        self.stopping = threading.Event()

    def start(self) -> None:
        for child in self.children:
            if child.log is not None:
                set_aside(child.log)
            child.start()

    def watch(self, *, until: Callable[[], bool] = lambda: False) -> None:
        """Keep the children alive until `ask_to_stop` is called or `until` returns True."""
        while not self.stopping.is_set() and not until():
            for child in self.children:
                self._look_after(child)
                if child.log is not None:
                    cut(child.log)
            self.stopping.wait(TICK)

    def ask_to_stop(self, *_: object) -> None:
        self.stopping.set()  # `watch` returns; a signal handler is called with arguments

    def stop(self) -> None:
        """Stop all children and their children; kill those that need more than `grace` seconds."""
        for child in self.children:
            child.ask_to_end()
        deadline = time.monotonic() + self.grace
        for child in self.children:
            if child.process is not None and not _gone(child.process, deadline - time.monotonic()):
                self.say(f"{child.name} took more than {self.grace:.0f} s to stop and was killed")
        for child in self.children:
            child.kill()
            if child.process is not None:
                child.process.wait()

    def _look_after(self, child: SupervisedProcess) -> None:
        now = time.monotonic()
        if child.start_again is not None:
            if now >= child.start_again:
                child.start()
            return
        if child.process is None or child.process.poll() is None:
            return
        child.kill()  # kills the processes that the child started and that still run
        child.crashes = 1 if now - child.started > HEALTHY_AFTER else child.crashes + 1
        pause = pause_after(child.crashes)
        child.start_again = now + pause
        self.say(
            f"{child.name} ended unexpectedly ({_ending(child.process.returncode)}) and starts again "
            f"in {pause:.0f} s.{child.last_words()}"
        )


def pause_after(crashes: int) -> float:
    return min(LONGEST_PAUSE, 2.0 ** min(crashes - 1, 10))  # 1, 2, 4, ... seconds


def set_aside(log: Path) -> None:
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_suffix(".old.log"))


def cut(log: Path) -> None:
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        shutil.copyfile(log, log.with_suffix(".old.log"))
        os.truncate(log, 0)  # the process has opened it for appending, so it writes its next line at the start


def _gone(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(max(0.0, seconds))
    except subprocess.TimeoutExpired:
        return False
    return True


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"status {code}"
