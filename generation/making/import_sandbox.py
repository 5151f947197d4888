"""Reading other people's files in a child process that may use only so much time and memory.

Nothing that comes from outside is parsed in the web process or in a worker itself: what a file makes of its parser ends
the child, and is a refusal of the file with one message.
"""

import gc
import io
import pickle
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

from generation.engine.errors import BadRecord, EngineError
from generation.engine.reading.dataset_reader import FoundFiles, ReadItem, SplitFiles
from generation.engine.spec import BaseSpec
from generation.queue import sandbox
from generation.storage import files as storage

CHILD = "generation.making.import_process"
MEMORY = 560 << 20  # of addresses, bytes; what is in memory is less
SECONDS = 8
SECONDS_PER_MB = 4
FOLDER_MB = 10  # as large as this a folder counts, of which little more than the names is read

Check = Callable[[], None]


class ReadingOrder(NamedTuple):
    """What the child is to do.

    Attributes
    ----------
    action : str
        `find`, `sort` or `read`.
    format : str
        The reader's name.
    names : sequence of str
        Of files and folders to be found or sorted.
    places : mapping of str to str
        Where each file lies on this machine's disk, by its name.
    split, spec, skip
        What to read, as `Reader.read` takes it.
    """

    action: str
    format: str
    names: Sequence[str] = ()
    places: Mapping[str, str] = {}
    split: SplitFiles | None = None
    spec: BaseSpec | None = None
    skip: int = 0


class ReadBatch(NamedTuple):
    """A few items that the child has read, and how many bytes it has read by then."""

    reads: list[ReadItem]
    bytes: int


class End(NamedTuple):
    """What the child knows when all is read: the SHA-256 of each file, by its name."""

    sha256: dict[str, str]


def nothing() -> None:
    """Do nothing."""


def find(format_: str, paths: Sequence[Path]) -> FoundFiles:
    """Return what lies in files and folders of this machine; raise `BadRecord`."""
    size = sum(path.stat().st_size if path.is_file() else FOLDER_MB * 10**6 for path in paths)
    order = ReadingOrder("find", format_, [str(path) for path in paths])
    return _only(_answers(order, size=size, check=nothing))


def sort(format_: str, names: Sequence[str], *, check: Check = nothing) -> FoundFiles:
    """Return what stored files are, by what is in them; raise `BadRecord`."""
    with ExitStack() as stack:
        places = {name: _place(name, stack) for name in names}
        return _only(_answers(ReadingOrder("sort", format_, names, places), size=_size(places), check=check))


class SplitReading:
    """The items of a split, read by a child process.

    Attributes
    ----------
    licence : str
        What the files state; known once the first item is there.
    bytes : int
        How many were read so far.
    sha256 : dict
        Of each file, by its name; known at the end.
    """

    def __init__(self, format_: str, split: SplitFiles, *, spec: BaseSpec, skip: int = 0, check: Check = nothing):
        self.order = ReadingOrder("read", format_, split=split, spec=spec, skip=skip)
        self.check = check
        self.licence, self.bytes = "", 0
        self.sha256: dict[str, str] = {}

    def __iter__(self) -> Iterator[ReadItem]:
        with ExitStack() as stack:
            assert self.order.split is not None
            places = {name: _place(name, stack) for name in self.order.split.files.values()}
            order = self.order._replace(places=places)
            answers = stack.enter_context(closing(_answers(order, size=_size(places), check=self.check)))
            self.licence = next(answers)
            for answer in answers:
                if isinstance(answer, End):
                    self.sha256 = answer.sha256
                else:
                    self.bytes = answer.bytes
                    yield from answer.reads


def _answers(order: ReadingOrder, *, size: int, check: Check) -> Generator[Any, None, None]:
    """Yield what the child answers; raise what it raises, and `BadRecord` where it was stopped."""
    seconds = SECONDS + SECONDS_PER_MB * (size // 10**6)
    where = ", ".join(map(str, order.names or (order.split.files.values() if order.split else ())))
    try:
        for frame in sandbox.frames(CHILD, pickle.dumps(order), seconds=seconds, memory=MEMORY, check=check):
            answer = _load(frame)
            if isinstance(answer, EngineError):
                raise answer
            yield answer
    except (sandbox.TooLong, sandbox.TooBig) as error:
        raise BadRecord(
            f"Expected files that can be read within {seconds} seconds of processor time and {MEMORY >> 20} MB of "
            "memory, got some that need more. Look for very long records in them, or send less at once.",
            where=where,
        ) from error


def _only(answers: Iterator[Any]) -> Any:
    [answer] = list(answers)
    return answer


def _load(frame: bytes) -> Any:
    gc.disable()  # nothing to be collected is made here, and the search for it would take longer than the loading
    try:
        return _Unpickler(io.BytesIO(frame)).load()
    finally:
        gc.enable()


class _Unpickler(pickle.Unpickler):
    """Reads what the child writes: values, and classes of the engine."""

    def find_class(self, module: str, name: str) -> Any:
        if "." in name or not (module.startswith("generation.engine.") or module == __name__):
            raise pickle.UnpicklingError(f"Expected something of the engine, got {module}.{name}.")
        return super().find_class(module, name)


def _place(name: str, stack: ExitStack) -> str:
    """Return where a file lies on this machine's disk; one of a bucket is copied there until the stack is closed."""
    if Path(name).is_absolute():
        return name
    try:
        return str(stack.enter_context(storage.on_disk(name)))
    except OSError as error:
        raise BadRecord(f"Expected a file that can be read, got: {error.strerror}.", where=name) from error


def _size(places: Mapping[str, str]) -> int:
    try:
        return sum(Path(place).stat().st_size for place in places.values())
    except OSError as error:
        raise BadRecord("Expected a file, got nothing. Put it back.", where=str(error.filename)) from error
