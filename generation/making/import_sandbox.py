"""Reading files from outside in a child process with limits of time and memory.

The web process and the workers never parse these files themselves. If a file makes its parser exceed the limits, only
the child process ends, and the file is refused with one message.
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
from generation.engine.reading.published_files import GZIP
from generation.engine.spec import BaseSpec
from generation.queue import sandbox
from generation.storage import files as storage

CHILD = "generation.making.import_process"
MEMORY = 560 << 20  # bytes of address space; less than this is in memory
SECONDS = 8
SECONDS_PER_MB = 4
PACKED = 20  # bytes of text for each byte of gzip, as published questions have
FOLDER_MB = 10  # assumed size of a folder, of which little more than the names of its files is read

Check = Callable[[], None]


class ReadingOrder(NamedTuple):
    """The order for the child process.

    Attributes
    ----------
    action : str
        `find`, `sort` or `read`.
    format : str
        The reader's name.
    names : sequence of str
        Names of files and folders to find or sort.
    places : mapping of str to str
        The path of each file on this machine's disk, by the file's name.
    split, spec, skip
        What to read: arguments of `Reader.read`.
    """

    action: str
    format: str
    names: Sequence[str] = ()
    places: Mapping[str, str] = {}
    split: SplitFiles | None = None
    spec: BaseSpec | None = None
    skip: int = 0


class ReadBatch(NamedTuple):
    reads: list[ReadItem]
    bytes: int  # read so far


class End(NamedTuple):
    sha256: dict[str, str]  # by name of file, after everything is read


def nothing() -> None:
    """Do nothing."""


def find(format_: str, paths: Sequence[Path]) -> FoundFiles:
    size = sum(_size_of(path) if path.is_file() else FOLDER_MB * 10**6 for path in paths)
    order = ReadingOrder("find", format_, [str(path) for path in paths])
    return _only(_answers(order, size=size, check=nothing))


def sort(format_: str, names: Sequence[str], *, check: Check = nothing) -> FoundFiles:
    # Files are recognised by their content.
    with ExitStack() as stack:
        places = {name: _place(name, stack) for name in names}
        return _only(_answers(ReadingOrder("sort", format_, names, places), size=_size(places), check=check))


class SplitReading:
    """The items of a split, which a child process reads.

    Attributes
    ----------
    licence : str
        The licence that the files state. It is known before the first item.
    bytes : int
        Number of bytes read so far.
    sha256 : dict
        The SHA-256 of each file, by its name. It is known at the end.
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
    """Yield the answers of the child process; raise its errors, and `BadRecord` if it exceeded a limit."""
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
    gc.disable()  # loading makes no garbage, and the search for garbage would take longer than the loading
    try:
        return _Unpickler(io.BytesIO(frame)).load()
    finally:
        gc.enable()


class _Unpickler(pickle.Unpickler):
    """Reads what the child process writes. It accepts only plain values, and classes of the engine and this module."""

    def find_class(self, module: str, name: str) -> Any:
        if "." in name or not (module.startswith("generation.engine.") or module == __name__):
            raise pickle.UnpicklingError(f"Expected something of the engine, got {module}.{name}.")
        return super().find_class(module, name)


def _place(name: str, stack: ExitStack) -> str:
    """Return the path of a file on this machine's disk. A file of a bucket is copied until the stack is closed."""
    if Path(name).is_absolute():
        return name
    try:
        return str(stack.enter_context(storage.on_disk(name)))
    except OSError as error:
        raise BadRecord(f"Expected a file that can be read, got: {error.strerror}.", where=name) from error


def _size(places: Mapping[str, str]) -> int:
    try:
        return sum(_size_of(Path(place)) for place in places.values())
    except OSError as error:
        raise BadRecord("Expected a file, got nothing. Put it back.", where=str(error.filename)) from error


def _size_of(path: Path) -> int:
    # of a packed file, about the size that it has when it is unpacked
    with path.open("rb") as file:
        return path.stat().st_size * (PACKED if file.read(len(GZIP)) == GZIP else 1)
