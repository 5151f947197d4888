"""CSV files in which spreadsheets do not read a text as a formula."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any

BOM = "\ufeff"  # without it, Excel reads UTF-8 as the encoding of the country
RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")  # first characters of texts that spreadsheets may read as formulas
HIDDEN = re.compile(r"(?<=[;\t\r\n])(?=[=+\-@])")  # where a text would be a formula if its delimiters were others


class _Echo:
    """A file whose `write` returns the text, so that `csv.writer` returns it too."""

    def write(self, text: str) -> str:
        return text


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield a line for each row. A text that looks like a formula gets an apostrophe in front; None becomes empty.

    So does a part of a text after `;`, a tab or a line break, because a spreadsheet may split the text there.
    """
    writer: Any = csv.writer(_Echo())
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def csv_file(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield the lines of `csv_lines` for people: the first one begins with the mark by which Excel recognises UTF-8."""
    lines = csv_lines(rows)
    yield BOM + next(lines, "")
    yield from lines


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = HIDDEN.sub("'", value)
    return f"'{text}" if text.startswith(RISKY) else text
