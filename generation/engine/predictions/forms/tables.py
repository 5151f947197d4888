"""Prediction files that are tables of text, with the names of the columns first.

Tabs, commas, semicolons or bars separate the cells. Comments that begin with `#`, and a line such as `sep=;` that Excel
reads, may be before the names.
"""

import csv
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import TextReader, UnreadableFile
from generation.engine.predictions.forms.column_names import is_known, plain_name
from generation.engine.predictions.forms.json_files import first_again
from generation.engine.predictions.forms.rows import LONGEST, Bad, FileRecords, PredictionRow, has_old_ends, lines_of

DELIMITERS = ("\t", ",", ";", "|")
SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
COMMENT = "#"


class Opening(NamedTuple):
    """The first line of a file that is no comment.

    Attributes
    ----------
    line : str
    skipped : int
        The number of lines before it: empty ones, comments, and the line that names the delimiter.
    delimiter : str
        The delimiter that such a line names; empty without one.
    """

    line: str
    skipped: int
    delimiter: str


class TableHead(NamedTuple):
    """The names of the columns, their delimiter, and the number of lines before them."""

    delimiter: str
    names: list[str]
    skipped: int


def opening_of(text: TextReader, *, column: str = "") -> Opening:
    """Return the first line of a file that is no comment; a comment with known names of columns is their line."""
    lines = text.head.decode("utf-8-sig", errors="ignore").split("\r" if has_old_ends(text) else "\n")
    delimiter = ""
    for number, line in enumerate(lines):
        said = line.strip()
        if found := SEPARATOR.fullmatch(line.rstrip("\r")):
            delimiter = found[1]
        elif said.startswith(COMMENT):
            names = said.lstrip(f"{COMMENT} ")
            if table_head(Opening(names, number, delimiter), column=column) is not None:
                return Opening(names, number, delimiter)
        elif said:
            return Opening(line.rstrip("\r"), number, delimiter)
    return Opening("", 0, "")


def table_head(opening: Opening, *, column: str = "") -> TableHead | None:
    """Return the head of a table that begins so; None if no name of a column is a common one or `column`."""
    wanted = plain_name(column)
    for delimiter in opening.delimiter or DELIMITERS:
        try:
            names = [name.strip() for name in next(csv.reader([opening.line], delimiter=delimiter), [])]
        except csv.Error:
            continue
        if len(names) > 1 and any(is_known(name) or (wanted and plain_name(name) == wanted) for name in names):
            return TableHead(delimiter, names, opening.skipped)
    return None


def table(text: TextReader, head: TableHead, bad: Bad) -> FileRecords:
    """Return the records of a table; raise `UnreadableFile` if a column occurs twice. Columns need no names."""
    line = head.skipped + 1
    names = [name for name in head.names if name]
    if len(set(names)) != len(names):
        raise UnreadableFile(f"expected every column once, got {quote(first_again(names))} twice", line=line)
    form = "tsv" if head.delimiter == "\t" else "csv"
    return FileRecords(form, "line", _records(text, head, bad), names, line)


def _records(text: TextReader, head: TableHead, bad: Bad) -> Iterator[PredictionRow]:
    rows = _rows(text, head)
    next(rows)
    width, has_unnamed = len(head.names), "" in head.names
    for row in rows:
        is_longer = "".join(row.value[width:]).strip() != ""  # extra commas at the end say nothing
        values = row.value if is_longer else row.value[:width]
        if len(values) != width:
            bad(row.line, f"expected {width} columns, got {len(row.value)}")
            continue
        record = dict(zip(head.names, values, strict=True))
        if has_unnamed:
            del record[""]
        yield row._replace(value=record)


class _Measured:
    """The lines of a table, each with a newline; `size` is the number of characters of the row that is being read."""

    def __init__(self, lines: Iterator[str], line: int) -> None:
        self.lines, self.size, self.line = lines, 0, line

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.size += len(line) + 1
            if self.size > LONGEST + 1:
                raise UnreadableFile(f"expected at most {LONGEST:,} characters in a row, got more", line=self.line)
            yield f"{line}\n"


def _rows(text: TextReader, head: TableHead) -> Iterator[PredictionRow]:
    """Yield the rows of a table, each with the number of its first line; empty lines are skipped."""
    csv.field_size_limit(LONGEST)
    line = head.skipped + 1
    measured = _Measured(islice(lines_of(text), head.skipped, None), line)
    reader = csv.reader(iter(measured), delimiter=head.delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield PredictionRow(line, row, measured.size)
            measured.line = line = head.skipped + reader.line_num + 1
            measured.size = 0
    except csv.Error as error:
        raise UnreadableFile(f"expected a table, got a row that can't be read ({error})", line=line) from error
