"""CSV files in which spreadsheets do not read a text as a formula."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")  # first characters of texts that spreadsheets may read as formulas


class _Echo:
    """A file whose `write` returns the text, so that `csv.writer` returns it too."""

    def write(self, text: str) -> str:
        return text


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield a line for each row. A text that looks like a formula gets an apostrophe in front; None becomes empty."""
    writer: Any = csv.writer(_Echo())
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and value.startswith(RISKY) else value
