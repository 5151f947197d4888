"""The child process that reads other people's files: what they are, and their records."""

import gc
import pickle
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from generation.engine.errors import BadRecord, EngineError
from generation.engine.reading.dataset_reader import CountingFile, ReadItem, find_reader
from generation.making.import_sandbox import End, ReadBatch, ReadingOrder
from generation.queue import sandbox

QUESTIONS = 500  # in one part of the answer, about


def answers(order: ReadingOrder) -> Iterator[Any]:
    """Yield what answers an order: what was found, or the licence, items part by part, and the end."""
    reader, opened = find_reader(order.format), _Opened(order)
    if order.action == "find":
        yield reader.find([Path(name) for name in order.names])
    elif order.action == "sort":
        yield reader.sort(order.names, opened=opened.plainly)
    else:
        assert order.split is not None and order.spec is not None
        yield reader.stated(order.split, opened=opened.plainly)
        reads = reader.read(order.split, spec=order.spec, opened=opened.counted, skip=order.skip)
        yield from _parts(reads, opened)
        yield End({Path(name).name: file.hash.hexdigest() for name, file in opened.files})


class _Opened:
    """Opens the files of an order; `files` are those whose bytes were counted."""

    def __init__(self, order: ReadingOrder) -> None:
        self.places = order.places
        self.bytes = 0
        self.files: list[tuple[str, CountingFile]] = []

    def plainly(self, name: str) -> BinaryIO:
        try:
            return Path(self.places[name]).open("rb")
        except OSError as error:
            raise BadRecord(f"Expected a file that can be read, got: {error.strerror}.", where=name) from error

    def counted(self, name: str) -> BinaryIO:
        file = CountingFile(self.plainly(name), tick=self._tick)
        self.files.append((name, file))
        return cast("BinaryIO", file)

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
    """Read the order and write the answers, each as a frame; what the engine refuses is an answer, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our parent, which stops us
    order = pickle.load(sys.stdin.buffer)  # noqa: S301 - our parent wrote it
    gc.disable()  # records are trees: reference counts free them, and searching them for circles takes a quarter longer
    try:
        for answer in answers(order):
            sandbox.write_frame(pickle.dumps(answer))
    except EngineError as error:
        sandbox.write_frame(pickle.dumps(error))
    except BrokenPipeError:
        sys.exit(1)  # our parent is gone, or has heard enough


if __name__ == "__main__":
    main()
