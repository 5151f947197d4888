"""Running a module of this program in a child process with limits of time and memory.

Run as a program, this module is the child process: it sets its own limits before it imports the other module, and then
runs it.
"""

import os
import resource
import runpy
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "HOME", "NUMBA_CACHE_DIR")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PATIENCE = 1.5  # times the limit of processor time by the clock, if somebody waits for the result
LONG_PATIENCE = 20  # the same in the background, where a busy machine must not change what is refused
HEAD = struct.Struct(">Q")  # the length of a frame in bytes, written before the frame
WORDS = 2000  # limit of characters that are kept of a child's standard error


class Limits(NamedTuple):
    """The limits of a child process that the kernel enforces: a file that is too large is an `OSError` in the child.

    Attributes
    ----------
    seconds : int
        Processor time, of all threads together.
    memory : int or None
        Bytes of address space.
    file_size : int or None
        Bytes of each file.
    """

    seconds: int
    memory: int | None = None
    file_size: int | None = None


class TooLong(Exception):
    """The child needed more time than its limit."""


class ClockRanOut(TooLong):
    """The child did not end by the clock, and it is not known whether it needs more processor time than its limit."""


class TooBig(Exception):
    """The child needed more memory than its limit."""


class Broken(Exception):
    """The child ended without a result, because of an error in this program or because it was asked to stop.

    After an error, the text is the end of its standard error.
    """


def run(module: str, given: bytes, *, seconds: int, memory: int, wait: float | None = None) -> bytes:
    """Run a module as a program, and return its standard output. Its environment contains no secrets of the site.

    Parameters
    ----------
    module : str
        Its dotted name.
    given : bytes
        Its standard input.
    seconds : int
        Limit of its processor time.
    memory : int
        Limit of its address space, in bytes.
    wait : float or None
        Seconds by the clock after which it is stopped; by default `PATIENCE` times the limit of processor time.

    Raises
    ------
    TooLong, ClockRanOut, TooBig, Broken
    """
    longest = PATIENCE * seconds if wait is None else wait
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command(module, limits=Limits(seconds, memory=memory)),
            input=given,
            capture_output=True,
            cwd=ROOT,
            env=clean_environment(),
            timeout=longest,
        )
    except subprocess.TimeoutExpired as error:
        raise ClockRanOut(f"{module} was stopped after {longest:g} seconds.") from error
    _check_end(module, done.returncode, done.stderr, seconds=seconds, memory=memory)
    return done.stdout


def frames(
    module: str, given: bytes, *, seconds: int, memory: int, check: Callable[[], None] = lambda: None
) -> Iterator[bytes]:
    """Run a module as a program, and yield each frame that it writes with `write_frame`, as soon as it arrives.

    Parameters and errors are those of `run`, but there is no limit by the clock. Instead, `check` is called once a
    second while nothing arrives, and may raise an error to stop the child. The child's temporary files are in a folder
    that is deleted at the end.
    """
    with TemporaryDirectory(prefix="horsesense-reading-") as folder, TemporaryFile() as complaints:
        child = subprocess.Popen(  # noqa: S603 - our own module
            command(module, limits=Limits(seconds, memory=memory)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            cwd=ROOT,
            env=clean_environment() | {"TMPDIR": folder},
        )
        assert child.stdin is not None and child.stdout is not None
        try:
            with suppress(BrokenPipeError), child.stdin:
                child.stdin.write(given)
            source = _Source(child.stdout.fileno(), check)
            while len(head := source.read(HEAD.size)) == HEAD.size:
                frame = source.read(HEAD.unpack(head)[0])
                yield frame
            child.wait()
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
        complaints.seek(0)
        _check_end(module, child.returncode, complaints.read(), seconds=seconds, memory=memory)


def command(module: str, *arguments: str, limits: "Limits", python: str = sys.executable) -> list[str]:
    numbers = [str(-1 if number is None else number) for number in limits]
    return [python, "-m", "generation.queue.sandbox", *numbers, module, *arguments]


def clean_environment(*, threads: int = 1) -> dict[str, str]:
    # Without the secrets of the site.
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | dict.fromkeys(THREADS, str(threads))


def write_frame(content: bytes) -> None:
    sys.stdout.buffer.write(HEAD.pack(len(content)))
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


class _Source:
    """Reads the bytes of a pipe, and calls `check` once a second while none arrive."""

    def __init__(self, number: int, check: Callable[[], None]) -> None:
        self.number, self.check = number, check
        self.poll = select.poll()
        self.poll.register(number, select.POLLIN | select.POLLHUP)

    def read(self, size: int) -> bytes:
        """Return `size` bytes; fewer if the pipe ends."""
        found = bytearray()
        while len(found) < size:
            while not self.poll.poll(1000):
                self.check()
            content = os.read(self.number, min(size - len(found), 1 << 20))
            if not content:
                break
            found += content
        return bytes(found)


def _check_end(module: str, code: int, complaints: bytes, *, seconds: int, memory: int) -> None:
    """Raise `TooLong`, `TooBig` or `Broken` unless the child ended without an error."""
    said = complaints.decode(errors="replace")
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        raise TooLong(f"{module} was stopped after {seconds} seconds of processor time.")
    if code in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP):
        raise Broken(f"{module} was asked to stop.")
    if code < 0 or (code != 0 and "MemoryError" in said):
        raise TooBig(f"{module} wanted more than {memory:,} bytes of memory.")
    if code != 0:
        raise Broken(said[-WORDS:] or f"{module} ended with {code}.")


def main() -> None:
    """Set the limits of this process, then run the module in it."""
    limits, module = map(int, sys.argv[1:4]), sys.argv[4]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kinds = (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE)
    for kind, number in zip(kinds, limits, strict=True):
        if number >= 0:  # at the hard limit of processor time the signal would be SIGKILL, as that of the kernel
            resource.setrlimit(kind, (number, number + 5 if kind == resource.RLIMIT_CPU else number))
    del sys.argv[1:5]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
