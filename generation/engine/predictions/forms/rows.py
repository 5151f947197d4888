"""The rows of a prediction file, in batches, and the lines of a text."""

import codecs
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from generation.engine.predictions.decompression import PIECE, TextReader, UnreadableFile

MANY = 4096  # rows in a batch
LONGEST = 1 << 20  # characters in a row
ROOM = 1 << 20  # characters after which a batch ends, because parsed JSON takes up to sixty bytes for each
BLANK = 1_000_000  # empty lines in a file

Bad = Callable[[int, str], None]
"""A function that is called with the line of a row that can't be read, and the reason."""


class PredictionRowBatch(NamedTuple):
    """Successive rows of a file.

    Attributes
    ----------
    lines : sequence of int
        The place of each row, from 1: its line, or its number in a JSON list.
    ids, said : sequences
        The ids and the answers as they are in the file.
    choices : sequence of dict, or None
        For each row, the answers that letters stand for; None if the file has no columns for letters.
    boxes : sequence of (Any, Any), or None
        For each row, its boxes and scores as they are in the file; None for a format without boxes.
    """

    lines: Sequence[int]
    ids: Sequence[Any]
    said: Sequence[Any]
    choices: Sequence[dict[str, str]] | None = None
    boxes: Sequence[tuple[Any, Any]] | None = None


class PredictionRow(NamedTuple):
    """A row as it is in the file: its line or number from 1, its value, and its length in characters."""

    line: int
    value: Any
    size: int


class FileRecords(NamedTuple):
    """The records of a prediction file, before the columns of ids and answers are chosen.

    Attributes
    ----------
    form : str
        The form of the file: json, jsonl, json-object or csv.
    unit : str
        What `PredictionRow.line` counts: lines or records.
    rows : iterator of PredictionRow
        The value of each row is a mapping by the names of columns, if the row is right.
    names : sequence of str, or None
        The columns of a table; None for a form in which each record has its own.
    head_line : int
        The line of these names.
    """

    form: str
    unit: str
    rows: Iterator[PredictionRow]
    names: Sequence[str] | None = None
    head_line: int = 1


class PredictionRows(NamedTuple):
    """The content of a prediction file.

    Attributes
    ----------
    format : str
    unit : str
        What `PredictionRowBatch.lines` counts: lines or records.
    id : str
        The name of the column of ids; empty if ids have no name.
    batches : iterator of PredictionRowBatch
    answer : str
        The column of answers; empty if answers have no name.
    others : tuple of str
        Columns of texts whose meaning is not known, if the column of answers may also have the right answers.
    """

    format: str
    unit: str
    id: str
    batches: Iterator[PredictionRowBatch]
    answer: str = ""
    others: tuple[str, ...] = ()


def batched(rows: Iterator[PredictionRow]) -> Iterator[list[PredictionRow]]:
    """Yield all rows in batches."""
    while batch := taken(rows):
        yield batch


def taken(rows: Iterator[PredictionRow]) -> list[PredictionRow]:
    """Return the next batch of rows; empty at the end."""
    batch, size = [], 0
    for row in rows:
        batch.append(row)
        size += row.size
        if len(batch) >= MANY or size >= ROOM:
            break
    return batch


def has_old_ends(text: TextReader) -> bool:
    """Return whether the lines of a text end with carriage returns alone, as in files of old Macintosh programs."""
    return b"\r" in text.head and b"\n" not in text.head


def lines_of(text: TextReader, *, longest: int = LONGEST) -> Iterator[str]:
    """Yield the lines of a text without newlines; raise `UnreadableFile` if one has more than `longest` characters."""
    end, other = ("\r", "\n") if has_old_ends(text) else ("\n", "")
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    parts, length, number, blank = list[str](), 0, 0, 0  # the parts of a line whose end is not read yet, and its length
    while piece := text.read(PIECE):
        *whole, last = (content := decoder.decode(piece)).split(end)
        if other and other in content:
            raise UnreadableFile("expected one kind of line ends, got carriage returns alone and newlines")
        if whole:
            whole[0] = "".join([*parts, whole[0]])
            parts, length = [], 0
        parts.append(last)
        length += len(last)
        number += len(whole)
        blank += whole.count("")
        if length > longest or (whole and len(whole[0]) > longest):
            raise UnreadableFile(f"expected at most {longest:,} characters in a line, got more", line=number + 1)
        if blank > BLANK:
            raise UnreadableFile(f"expected at most {BLANK:,} empty lines, got more: reading stopped", line=number + 1)
        yield from whole
    if rest := "".join(parts):
        yield rest
