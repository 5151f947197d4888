"""The child process that reads files from outside: it recognises them and reads their records."""

import gc
import pickle
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from generation.engine.errors import BadRecord, EngineError
from generation.engine.reading.dataset_reader import ProgressFile, ReadItem, find_reader
from generation.engine.reading.published_files import unpacked
from generation.engine.reading.unread_files import check_files, check_found, explain
from generation.making.import_sandbox import End, ReadBatch, ReadingOrder
from generation.queue import sandbox

QUESTIONS = 500  # approximate number of items and questions in a batch


def answers(order: ReadingOrder) -> Iterator[Any]:
    """Yield the answers to an order: the found files; or the licence, the items in batches, and the end.

    `BadRecord` says what the files are if they are well known and not of the order's format.
    """
    reader, opened = find_reader(order.format), _Opened(order)
    if order.action == "find":
        paths = [Path(name) for name in order.names]
        named = {str(path): path for path in paths if path.is_file()}
        check_files(named, format=order.format, label=reader.label)
        with _explained(order):
            found = reader.find(paths)
        yield check_found(found, paths, format=order.format, label=reader.label)
    elif order.action == "sort":
        check_files({name: Path(order.places[name]) for name in order.names}, format=order.format, label=reader.label)
        yield reader.sort(order.names, opened=opened.plainly)
    else:
        assert order.split is not None and order.spec is not None
        with _explained(order):
            yield reader.stated(order.split, opened=opened.plainly)
            reads = reader.read(order.split, spec=order.spec, opened=opened.counted, skip=order.skip)
            yield from _parts(reads, opened)
        yield End({Path(name).name: file.hash.hexdigest() for name, file in opened.files})


@contextmanager
def _explained(order: ReadingOrder) -> Iterator[None]:
    """Raise `BadRecord` with what the files are, if that is known."""
    try:
        yield
    except BadRecord as error:
        files = [(name, Path(place)) for name, place in order.places.items()] or [
            (one, Path(one)) for one in order.names
        ]
        raise explain(error, files, format=order.format, label=find_reader(order.format).label) from error


class _Opened:
    """Opens the files of an order. `files` are the opened files whose bytes are counted."""

    def __init__(self, order: ReadingOrder) -> None:
        self.places = order.places
        self.bytes = 0
        self.files: list[tuple[str, ProgressFile]] = []

    def plainly(self, name: str) -> BinaryIO:
        return unpacked(self._packed(name), name=Path(name).name)

    def counted(self, name: str) -> BinaryIO:
        file = ProgressFile(self._packed(name), tick=self._tick)
        self.files.append((name, file))
        return unpacked(file, name=Path(name).name)

    def _packed(self, name: str) -> BinaryIO:
        try:
            return Path(self.places[name]).open("rb")
        except OSError as error:
            raise BadRecord(f"Expected a file that can be read, got: {error.strerror}.", where=name) from error

    def _tick(self, count: int) -> None:
        self.bytes += count


def _parts(reads: Iterator[ReadItem], opened: _Opened) -> Iterator[ReadBatch]:
    part: list[ReadItem] = []
    questions = 0
    for read in reads:
        part.append(read)
        questions += 1 + len(read.item.questions)
        if questions >= QUESTIONS:
            yield ReadBatch(part, opened.bytes)
            part, questions = [], 0
    yield ReadBatch(part, opened.bytes)


def main() -> None:
    """Read the order, and write each answer as a frame. An error of the engine is an answer too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C, and stops this process
    order = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent process wrote it
    gc.disable()  # records have no reference cycles, and a search for cycles makes reading take a quarter longer
    try:
        for answer in answers(order):
            sandbox.write_frame(pickle.dumps(answer))
    except EngineError as error:
        sandbox.write_frame(pickle.dumps(error))
    except BrokenPipeError:
        sys.exit(1)  # the parent process has ended, or reads no further


if __name__ == "__main__":
    main()
