"""Reads a platform's list of submissions: the platform's own file, or the same list after a spreadsheet saved it.

A spreadsheet writes what its country uses: semicolons or tabs between cells, a decimal comma, points between thousands,
another encoding. A figure that can be read in two ways is refused, because pay depends on it.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from generation.engine.errors import EngineError

DELIMITERS = (",", ";", "\t", "|")
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # the first bytes of xlsx, ods and xls files
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
SHOWN = 40  # characters of a cell in a message

SIGN = r"(?:[$€£¥₹]|[^\W\d_]{2,3})"
CURRENCY = re.compile(rf"\A{SIGN}\s*(?=[\d.,])|(?<=[\d.,])\s*{SIGN}\Z")
SPACED = re.compile(r"\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?:[.,]\d*)?\Z")  # as in 1 234,5 and 1’234.5
SPACES = re.compile(r"[ \u00a0\u2009\u202f'’]")
ONE_MARK = re.compile(r"\d+[.,]\d*|[.,]\d+")
GROUPED = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d*)?")
AMBIGUOUS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
FIGURE = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
MOST_SECONDS = 1e9


class BadPlatformFile(EngineError):
    """The file is not an export of submissions."""


class Table(NamedTuple):
    rows: list[tuple[int, list[str]]]  # those that are not empty, each with its number in the file
    delimiter: str


def read_table(content: bytes, columns: Sequence[str]) -> Table:
    """Return these columns of a file; other columns are ignored, and cells that a short row lacks are empty.

    Raises
    ------
    BadPlatformFile
        If the file is not a text file with delimiters, or has no rows, or not all columns.
    """
    text = _decode(content)
    try:
        heads = [(_head(text, one, columns), one) for one in DELIMITERS]
        head, delimiter = max(heads, key=lambda found: len(found[0].at))
        missing = [name for name in columns if name not in head.at]
        rows = [] if missing else list(_rows(text, delimiter, head, columns))
    except csv.Error as error:
        raise BadPlatformFile(f"Expected a CSV file in UTF-8, got something else: {error}.", where="file") from error
    if not rows:
        raise BadPlatformFile(
            f"Expected the columns {', '.join(columns)} and at least one row. Missing: "
            f"{', '.join(missing) or 'a row below the names of the columns'}.",
            where="file",
        )
    return Table(rows, delimiter)


def _decode(content: bytes) -> str:
    if content.startswith(WORKBOOKS):
        raise BadPlatformFile(
            "Expected a CSV file, got a workbook. Choose the platform's own file, or save the workbook as CSV UTF-8.",
            where="file",
        )
    is_wide = content.startswith(UTF_16)
    try:
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if is_wide or b"\0" in content:
            raise BadPlatformFile(
                f"Expected a CSV file in UTF-8, got something else: {error}.", where="file"
            ) from error
        text = content.decode("cp1252", "replace")  # as spreadsheets of Western Europe save CSV
    if "\0" in text:
        raise BadPlatformFile("Expected a CSV file in UTF-8, got something else: it has null characters.", where="file")
    return text.removeprefix("\ufeff")


class _Head(NamedTuple):
    number: int  # of the row with the names of the columns
    at: dict[str, int]  # the place of each column that is there


def _head(text: str, delimiter: str, columns: Iterable[str]) -> _Head:
    for number, cells in enumerate(_read(text, delimiter), start=1):
        is_hint = cells[:1] and cells[0].casefold().startswith("sep=")  # for spreadsheets
        if any(cells) and not is_hint:
            names = [" ".join(cell.split()).casefold() for cell in cells]
            return _Head(number, {one: names.index(one.casefold()) for one in columns if one.casefold() in names})
    return _Head(0, {})


def _rows(text: str, delimiter: str, head: _Head, columns: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    places = [head.at[name] for name in columns]
    for number, cells in enumerate(_read(text, delimiter), start=1):
        if number > head.number and any(cells):
            yield number, [cells[at] if at < len(cells) else "" for at in places]


def _read(text: str, delimiter: str) -> Iterator[list[str]]:
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        yield [_cell(cell) for cell in row]


def _cell(text: str) -> str:
    # ="123" and '123 keep a spreadsheet from reading a text as a number.
    found = re.fullmatch(r'="(.*)"', text.strip())
    return (found[1] if found else text).strip().removeprefix("'")


def read_seconds(cells: Sequence[tuple[int, str]], *, name: str, delimiter: str) -> list[float | None]:
    """Return the seconds in the cells of a column, each with its row; an empty cell is None.

    A figure like `1.234` or `1,234` is read as the other figures of the column are written. If they do not show it, the
    point is a decimal point in a file with commas between its cells, as platforms write it. Other figures are refused.
    """
    figures = [_strip(text) for _, text in cells]
    marks = {mark for mark in map(_decimal_mark, figures) if mark}
    column = marks.pop() if len(marks) == 1 else ""
    seconds = []
    for (row, text), figure in zip(cells, figures, strict=True):
        is_as_written = not marks and not column and delimiter == "," and "." in figure
        mark = _decimal_mark(figure) or column or ("." if is_as_written else "")
        seconds.append(_seconds(figure, mark, shown=f"{text[:SHOWN]!r} in row {row}", name=name))
    return seconds


def _strip(text: str) -> str:
    # The sign of a currency goes, and spaces and apostrophes between thousands.
    figure = CURRENCY.sub("", text.strip())
    return SPACES.sub("", figure) if SPACED.match(figure) else figure


def _decimal_mark(figure: str) -> str:
    """Return the mark that can only be a decimal mark in this figure, or an empty text."""
    if ONE_MARK.fullmatch(figure) and not AMBIGUOUS.fullmatch(figure):
        return "," if "," in figure else "."
    grouped = GROUPED.fullmatch(figure)
    is_known = grouped is not None and not AMBIGUOUS.fullmatch(figure)
    return {".": ",", ",": "."}[grouped[1]] if grouped is not None and is_known else ""


def _seconds(figure: str, mark: str, *, shown: str, name: str) -> float | None:
    if not figure:
        return None
    if not mark and AMBIGUOUS.fullmatch(figure):
        whole, part = re.split("[.,]", figure)
        raise BadPlatformFile(
            f"Expected a number of seconds as {name}, got {shown}, which may be {whole}{part} or {whole}.{part}. "
            f"Write {whole}{part} or {whole}.{part}0.",
            where="file",
        )
    group = {",": ".", ".": ","}.get(mark, "")
    plain = figure.replace(group, "") if GROUPED.fullmatch(figure) and group else figure
    plain = plain.replace(",", ".")
    seconds = float(plain) if FIGURE.fullmatch(plain) else -1.0
    if not 0 <= seconds < MOST_SECONDS:
        raise BadPlatformFile(f"Expected a number of seconds as {name}, got {shown}.", where="file")
    return seconds
