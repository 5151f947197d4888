"""Reading files of predictions that users sent, in a child process with limits of time and memory."""

import json
import logging
import pickle
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from generation.engine.errors import BadPredictions, EngineError
from generation.engine.predictions import ExpectedAnswers
from generation.engine.predictions.decompression import GZIP, ZIP
from generation.engine.predictions.file_marks import PARQUET
from generation.exchange.predictions_process import CheckRequest, answer
from generation.queue import sandbox
from generation.storage import files

CHILD = "generation.exchange.predictions_process"
SMALL = 1 << 16  # limit in bytes of an uncompressed file that is read in this process, because it needs little
SECONDS = 8  # seconds of processor time for the smallest file
BYTES_A_SECOND = 2_000_000  # bytes of a file for which it gets one second more
MEMORY = 1 << 30  # bytes of address space
QUESTIONS_A_SECOND = 2000  # a reply in free text takes up to 0.2 ms
EACH_MEMORY = 500  # additional bytes for each question
FORMATS = "Format: /docs/predictions/"

log = logging.getLogger(__name__)


class NotRead(EngineError):
    """A file could not be read because of an error in this program."""


class TooSlow(Exception):
    """A file was not read within the time that the caller waits. Another attempt may be faster."""


@dataclass(frozen=True)
class RefusedLines:
    """The findings of a refused file, with the counts and lines of `generation.engine.predictions.Findings`."""

    counts: Mapping[str, int]
    text: str

    def lines(self) -> Iterator[str]:
        yield from self.text.splitlines()


class ReadFile(NamedTuple):
    packed: bytes  # predictions
    format: str


def read_file(path: Path, expected: ExpectedAnswers, *, column: str = "", wait: float | None = None) -> ReadFile:
    """Return the predictions in a file.

    Parameters
    ----------
    path : Path
    expected : ExpectedAnswers
    column : str
        The column of answers; empty to recognise it.
    wait : float or None
        Seconds after which the caller no longer waits; by default 20 times the limit of processor time.

    Raises
    ------
    BadPredictions
        If the file cannot be read within the limits, or does not have one answer for each question.
    NotRead
        If reading failed because of an error in this program.
    TooSlow
        If it was not read within `wait`.
    """
    size = path.stat().st_size
    request = CheckRequest(path, expected, column)
    if size <= SMALL and not _needs_limits(path):
        return _result(*answer(request))
    seconds = SECONDS + size // BYTES_A_SECOND + expected.n // QUESTIONS_A_SECOND
    wait = sandbox.LONG_PATIENCE * seconds if wait is None else wait
    given = pickle.dumps(tuple(request))
    try:
        said = sandbox.run(CHILD, given, seconds=seconds, memory=MEMORY + EACH_MEMORY * expected.n, wait=wait)
    except sandbox.ClockRanOut as error:
        message = f"Expected a file that is checked within {wait:g} seconds, got one that takes longer."
        raise TooSlow(message) from error
    except sandbox.TooLong as error:
        message = f"Expected a file that is read within {seconds} seconds of processor time, got one that takes longer."
        raise BadPredictions(f"{message} {FORMATS}", where=expected.name) from error
    except sandbox.TooBig as error:
        message = f"Expected a file that is read in {MEMORY >> 20:,} MB of memory, got one that takes more."
        raise BadPredictions(f"{message} {FORMATS}", where=expected.name) from error
    except sandbox.Broken as error:
        log.warning("The reading of a file of predictions ended early: %s", error)
        message = "Expected predictions or what is wrong with them, but reading ended early. The log says more."
        raise NotRead(message) from error
    head, _, content = said.partition(b"\n")
    return _result(json.loads(head), content)


def _result(head: Mapping[str, object], content: bytes) -> ReadFile:
    if "refused" in head:
        counts = head["counts"]
        assert isinstance(counts, Mapping)
        findings = RefusedLines(counts, content.decode())
        columns = head["columns"]
        assert isinstance(columns, Sequence)
        raise BadPredictions(str(head["refused"]), where=str(head["where"]), findings=findings, columns=columns)
    return ReadFile(content, str(head["format"]))


def _needs_limits(path: Path) -> bool:
    # A small file may need much memory or time if it is packed, or read by pyarrow.
    with path.open("rb") as file:
        return file.read(len(ZIP[0])).startswith((GZIP, PARQUET, *ZIP))


@contextmanager
def copy_on_disk(file: BinaryIO) -> Iterator[Path]:
    """Yield the path of a copy of the unread rest of an open file. The copy is deleted at the end of the block."""
    with tempfile.NamedTemporaryFile(prefix="predictions-") as copy:
        while piece := file.read(files.PIECE):
            copy.write(piece)
        copy.flush()
        yield Path(copy.name)
