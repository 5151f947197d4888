"""CSV files that a spreadsheet opens without taking a text for a formula."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")  # what spreadsheets take for the beginning of a formula


class _Echo:
    """A file that gives back what is written."""

    def write(self, text: str) -> str:
        return text


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield a line for each row: a text that looks like a formula has an apostrophe before it, None is empty."""
    writer: Any = csv.writer(_Echo())
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and value.startswith(RISKY) else value
