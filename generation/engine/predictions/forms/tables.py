"""Prediction files that are tables: cells separated by commas, semicolons or tabs, with the names of columns first."""

import csv
from collections.abc import Iterator
from typing import NamedTuple

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import TextReader, UnreadableFile
from generation.engine.predictions.forms.columns import ANSWERS, IDS
from generation.engine.predictions.forms.json_files import first_again
from generation.engine.predictions.forms.rows import LONGEST, Bad, FileRecords, PredictionRow, lines_of

DELIMITERS = ("\t", ",", ";")


class TableHead(NamedTuple):
    """The first line of a table."""

    delimiter: str
    names: list[str]


def table_head(line: str) -> TableHead | None:
    """Return the head of a table that has this first line; None if the line is not the head of a table."""
    for delimiter in DELIMITERS:
        try:
            names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
        except csv.Error:
            continue
        if len(names) > 1 and not {*IDS, *ANSWERS}.isdisjoint(names):
            return TableHead(delimiter, names)
    return None


def table(text: TextReader, head: TableHead, bad: Bad) -> FileRecords:
    """Return the records of a table; raise `UnreadableFile` if a column occurs twice."""
    if len(set(head.names)) != len(head.names):
        raise UnreadableFile(f"expected every column once, got {quote(first_again(head.names))} twice", line=1)
    form = "tsv" if head.delimiter == "\t" else "csv"
    return FileRecords(form, "line", _records(text, head, bad), head.names)


def _records(text: TextReader, head: TableHead, bad: Bad) -> Iterator[PredictionRow]:
    rows = _rows(text, head.delimiter)
    next(rows)
    width = len(head.names)
    for row in rows:
        if len(row.value) == width:
            yield row._replace(value=dict(zip(head.names, row.value, strict=True)))
        else:
            bad(row.line, f"expected {width} columns, got {len(row.value)}")


class _Measured:
    """The lines of a table, each with a newline; `size` is the number of characters of the row that is being read."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines, self.size, self.line = lines, 0, 1

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.size += len(line) + 1
            if self.size > LONGEST + 1:
                raise UnreadableFile(f"expected at most {LONGEST:,} characters in a row, got more", line=self.line)
            yield f"{line}\n"


def _rows(text: TextReader, delimiter: str) -> Iterator[PredictionRow]:
    """Yield the rows of a table, each with the number of its first line; empty lines are skipped."""
    csv.field_size_limit(LONGEST)
    measured = _Measured(lines_of(text))
    reader = csv.reader(iter(measured), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield PredictionRow(line, row, measured.size)
            measured.line = line = reader.line_num + 1
            measured.size = 0
    except csv.Error as error:
        raise UnreadableFile(f"expected a table, got a row that can't be read ({error})", line=line) from error
