"""Runs the training process as a child process, and reads the lines that it prints.

The training process has no access to the database or to the site's secrets. It ends when this process ends, because its
standard input is then closed. It inherits a lock of its folder, so that no other process trains in the same folder.

It has limits. The kernel limits its processor time and the size of each file. Its memory is limited by this process,
which reads the resident memory of the training process and its children every half second, and kills it if that is
too much. A limit of its address space would be wrong, because PyTorch and CUDA reserve far more addresses than they
use.
"""

import errno
import fcntl
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from django.conf import settings

from generation.engine.errors import BadTraining, NoTorch
from generation.engine.learners import is_network
from generation.queue import sandbox
from generation.storage.files import GIB

PROGRAM = "generation.engine.learners.training_process"
ESTIMATE = "generation.engine.learners.memory_process"
ESTIMATE_SECONDS = 60  # processor time of an estimate, most of it for loading PyTorch
LOG = "process.log"  # standard error of the training process
LOG_END = 1500  # characters of the log that a message shows
POLL = 0.5  # seconds between two calls of `check`
PATIENCE = 30.0  # seconds to wait for an earlier process that still uses the folder
NICENESS = "10"  # a low priority, so that pages and scores stay fast
GPU = ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
Line = Mapping[str, Any]


class ProcessEnded(Exception):
    """The training process ended without a result, because of an error in it or because it was killed."""


def python_for(method: str) -> str:
    """Return the Python that trains a method; raise `NoTorch` if it is a network and no Python has PyTorch."""
    if not is_network(method) or find_spec("torch") is not None:
        return sys.executable
    if not settings.TRAINING_PYTHON.exists():
        raise NoTorch(
            f"Expected PyTorch, which {method} needs, got none: there is no {settings.TRAINING_PYTHON}. Install it: "
            "make torch. Or name another Python in TRAINING_PYTHON."
        )
    return str(settings.TRAINING_PYTHON)


class FolderInUse(Exception):
    """Another process still trains in the folder. It may end soon, so the training is tried again."""


@contextmanager
def lock_folder(folder: Path, *, check: Callable[[], None]) -> Iterator[IO[bytes]]:
    """Yield a file whose lock keeps other processes out of the folder; raise `FolderInUse` if one still uses it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("ab") as file:
        end = time.monotonic() + PATIENCE
        while not _lock(file):
            check()
            if time.monotonic() > end:
                raise FolderInUse(f"{folder}: Expected a folder that no process uses, got one in use.")
            time.sleep(POLL)
        yield file


def _lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def run(
    folder: Path, lock: IO[bytes], *, method: str, threads: int, check: Callable[[], None]
) -> Generator[Line, None, None]:
    """Run the training process for the order in a folder, and yield the objects that it prints; the last has `done`.

    `check` is called every half second. An exception from it kills the process, and so does closing the generator.

    Raises
    ------
    BadTraining
        If the process refuses the order. The message is that of the process.
    OSError
        If the process could not read or write a file, for example because the disk is full.
    ProcessEnded
        If the process ended without a result.
    """
    memory = int(settings.TRAINING_MEMORY_GB * GIB)
    limits = sandbox.Limits(
        seconds=math.ceil(settings.TRAINING_HOURS * 3600 * threads) + 1,
        file_size=memory,  # what is written is in the memory before
    )
    sandboxed = sandbox.command(PROGRAM, str(folder), "--tied", limits=limits, python=python_for(method))
    command = ["nice", "-n", NICENESS, *sandboxed]
    with (folder / LOG).open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=settings.BASE_DIR,
            env=_environment(threads),
            pass_fds=[lock.fileno()],
            start_new_session=True,  # Ctrl-C reaches only this process, which then ends the other one
        )
    assert child.stdin is not None and child.stdout is not None

    def check_both() -> None:
        check()
        check_memory(child.pid, most=memory)

    try:
        for line in _lines(child.stdout, check_both):
            _check_line(line)
            yield line
            if "done" in line:
                return
        child.wait()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        child.stdin.close()
        child.stdout.close()
    _check_end(folder, child.returncode)


def _environment(threads: int) -> dict[str, str]:
    return sandbox.clean_environment(threads=threads) | {name: os.environ[name] for name in GPU if name in os.environ}


_estimating = threading.Lock()


@lru_cache(maxsize=100)
def estimate_memory(method: str, order: str, python: str) -> int:
    """Return roughly the bytes that the training of a network needs. This takes some seconds for a new order.

    Parameters
    ----------
    method : str
    order : str
        The standard input of `generation.engine.learners.memory_process`.
    python : str
        The result of `python_for`.

    Raises
    ------
    BadTraining
        If the memory cannot be estimated, for example because PyTorch is damaged, or if this process is already
        making an estimate: many at once would take all threads of a web server.
    """
    command = sandbox.command(ESTIMATE, limits=sandbox.Limits(ESTIMATE_SECONDS), python=python)
    wait = 2 * ESTIMATE_SECONDS
    if not _estimating.acquire(blocking=False):
        raise BadTraining(
            "Expected one order of a network at a time, got one while the memory of another is being estimated. Try "
            "again in a minute.",
            where=method,
        )
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command, input=order.encode(), capture_output=True, cwd=settings.BASE_DIR, env=_environment(1), timeout=wait
        )
        found = next(filter(None, map(_read, done.stdout.splitlines()[::-1])))
    except (subprocess.TimeoutExpired, StopIteration) as error:
        raise BadTraining(
            "Expected an estimate of the memory of the training, got none. Try again, or train a smaller network.",
            where=method,
        ) from error
    finally:
        _estimating.release()
    _check_line(found)
    return int(found["bytes"])


def _lines(output: IO[bytes], check: Callable[[], None]) -> Iterator[Line]:
    """Yield the objects of the lines as they arrive, and call `check` in between."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            check()
            if not selector.select(POLL):
                continue
            piece = os.read(output.fileno(), 1 << 16)
            if not piece:
                return
            *whole, rest = (rest + piece).split(b"\n")
            yield from filter(None, map(_read, whole))


def check_memory(group: int, *, most: int) -> None:
    """Raise `BadTraining` if the processes of a group use more than `most` bytes of memory. Needs /proc of Linux."""
    used = sum(map(_resident, _members(group)))
    if used > most:
        raise BadTraining(
            f"Expected a training that needs at most {most / GIB:.1f} GB of memory, got one that uses "
            f"{used / GIB:.1f} GB. Reduce the batch or the size of the method, or change TRAINING_MEMORY_GB."
        )


def _members(group: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            if os.getpgid(int(path.name)) == group:
                yield int(path.name)


def _resident(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    return 0


def _read(line: bytes) -> Line | None:
    """Return the object of a line; None for other text, which a library may print."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _check_line(line: Line) -> None:
    """Raise the error that a line reports, if any."""
    error = line.get("error")
    if error is None:
        return
    if error.get("errno") == errno.EFBIG:
        raise BadTraining(
            f"Expected files of at most {settings.TRAINING_MEMORY_GB:.1f} GB, got a larger one: {error['message']}. "
            "Reduce the size of the method, or change TRAINING_MEMORY_GB."
        )
    if error["kind"] == "OSError":
        raise OSError(error.get("errno") or errno.EINVAL, error["message"])
    raise (NoTorch if error["kind"] == "NoTorch" else BadTraining)(error["message"])


def _check_end(folder: Path, code: int) -> None:
    """Raise an error about a process that ended without a result; `BadTraining` if its processor time was used up."""
    if code == -signal.SIGXCPU:
        raise BadTraining(
            f"Expected a training that needs at most {settings.TRAINING_HOURS:g} hours of {settings.TRAINING_THREADS} "
            "processors, got one that needs more. The training so far is kept: continue it, or change TRAINING_HOURS."
        )
    raise ProcessEnded(_describe_end(folder, code))


def _describe_end(folder: Path, code: int) -> str:
    said = (folder / LOG).read_text(errors="replace").strip()[-LOG_END:]
    if code < 0:
        name = signal.Signals(-code).name
        return f"the training process was ended by the signal {name}. Too little memory may be the reason. {said}"
    return f"the training process ended with status {code}: {said.splitlines()[-1] if said else 'no message'}"
