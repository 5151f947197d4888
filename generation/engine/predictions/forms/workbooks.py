"""Prediction files that are workbooks of Excel (.xlsx): a zip of XML files, of which the one sheet with cells is read.

The XML is parsed as a stream. Document types, and so entities, are refused, and each file of the zip may unpack to a
limited number of bytes only.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, BinaryIO
from xml.parsers import expat
from zipfile import ZipFile

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import (
    PIECE,
    WORKBOOK,
    UnreadableFile,
    check_entry,
    open_archive,
    readable,
)
from generation.engine.predictions.forms.json_files import first_again
from generation.engine.predictions.forms.rows import LONGEST, Bad, FileRecords, PredictionRow

STRINGS, RELATIONS = "xl/sharedStrings.xml", "xl/_rels/workbook.xml.rels"
MOST_COLUMNS = 16_384
PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")

Most = Callable[[int], int]
Row = tuple[int, dict[int, Any]]


def workbook(file: BinaryIO, bad: Bad, *, most: Most) -> FileRecords:
    """Return the records of a workbook, whose first row has the names of the columns.

    `most` returns the largest number of bytes that a file in it may have, for its number of packed bytes. Raises
    `UnreadableFile` if the workbook is broken, or has several sheets with cells.
    """
    archive = open_archive(file)
    for info in archive.infolist():
        check_entry(info)
    rows = _rows_of_sheet(archive, most)
    line, head = next(rows, (1, {}))
    names = {column: str(name).strip() for column, name in head.items() if str(name).strip()}
    if len(set(names.values())) != len(names):
        raise UnreadableFile(f"expected every column once, got {quote(first_again(names.values()))} twice", line=line)
    return FileRecords("xlsx", "line", _records(rows, names, bad), list(names.values()), line)


def _records(rows: Iterator[Row], names: dict[int, str], bad: Bad) -> Iterator[PredictionRow]:
    for line, cells in rows:
        size = sum(len(value) for value in cells.values() if isinstance(value, str))
        if size > LONGEST:
            bad(line, f"expected at most {LONGEST:,} characters in a row, got more")
        else:
            yield PredictionRow(line, {name: cells.get(column, "") for column, name in names.items()}, size)


def _rows_of_sheet(archive: ZipFile, most: Most) -> Iterator[Row]:
    """Return the rows with cells of the only visible sheet that has any."""
    has_strings = STRINGS in archive.namelist()
    strings = list(chain.from_iterable(_parsed(archive, STRINGS, _Strings(), most))) if has_strings else []
    found: list[tuple[str, Iterator[Row]]] = []
    for name, path in _sheets(archive, most):
        rows = chain.from_iterable(_parsed(archive, path, _Sheet(strings), most))
        first = next(rows, None)
        if first is not None:
            found.append((name, chain([first], rows)))
    if not found:
        raise UnreadableFile("expected predictions, got an empty workbook")
    if len(found) > 1:
        names = ", ".join(quote(name) for name, _ in found[:5])
        raise UnreadableFile(f"expected a workbook with one sheet, got {len(found)} ({names}): delete the others")
    return found[0][1]


def _sheets(archive: ZipFile, most: Most) -> list[tuple[str, str]]:
    """Return the name and the path of each visible sheet."""
    sheets, targets = _Elements("sheet"), _Elements("Relationship")
    for path, target in ((WORKBOOK, sheets), (RELATIONS, targets)):
        for _ in _parsed(archive, path, target, most):
            pass
    paths = {one.get("Id"): one.get("Target", "") for one in targets.found}
    shown = [one for one in sheets.found if one.get("state", "visible") == "visible"]
    return [(one.get("name", ""), posixpath.join("/xl", paths.get(one.get("id"), ""))[1:]) for one in shown]


def _parsed(archive: ZipFile, path: str, target: "_Target", most: Most) -> Iterator[list[Any]]:
    """Parse a file of a workbook, and yield what `target` has found after each piece of it."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler = lambda name, values: target.start(_local(name), values)
    parser.EndElementHandler = lambda name: target.end(_local(name))
    parser.CharacterDataHandler = target.text
    try:
        info = archive.getinfo(path)
        largest, size = most(info.compress_size), 0
        with readable(), archive.open(info) as member:
            while piece := member.read(PIECE):
                size += len(piece)
                if size > largest:
                    raise UnreadableFile(f"expected at most {largest >> 20:,} MB in {path}, got more")
                parser.Parse(piece, False)
                yield target.taken()
        parser.Parse(b"", True)
    except KeyError as error:
        raise UnreadableFile(f"expected a workbook with {path[:60]}, got one without it") from error
    except (expat.ExpatError, ValueError, IndexError) as error:
        raise UnreadableFile(f"expected a workbook, got a broken one ({error} in {path[:60]})") from error


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse_document_type(*_: Any) -> None:
    raise UnreadableFile("expected a workbook, got one with a document type, which is never read")


class _Target:
    """What receives the elements of an XML file. The names of elements have no prefix."""

    def start(self, name: str, values: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, content: str) -> None: ...

    def taken(self) -> list[Any]:
        """Return what was found since the last call."""
        return []


class _Elements(_Target):
    """The attributes of the elements with a name."""

    def __init__(self, name: str) -> None:
        self.name, self.found = name, list[dict[str, str]]()

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == self.name:
            self.found.append({_local(key): value for key, value in values.items()})


class _Texts(_Target):
    """The text of elements `t`, without the pronunciation of East Asian words."""

    def __init__(self) -> None:
        self.parts, self.is_text, self.is_hint = list[str](), False, False
        self.found: list[Any] = []

    def start(self, name: str, values: dict[str, str]) -> None:
        self.is_text = name == "t"
        self.is_hint = self.is_hint or name == "rPh"

    def end(self, name: str) -> None:
        self.is_text = False
        if name == "rPh":
            self.is_hint = False

    def text(self, content: str) -> None:
        if self.is_text and not self.is_hint:
            self.parts.append(content)

    def whole(self) -> str:
        """Return the text that was collected."""
        text = "".join(self.parts)
        self.parts.clear()
        return ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text

    def taken(self) -> list[Any]:
        found, self.found = self.found, []
        return found


class _Strings(_Texts):
    """The texts that cells refer to by their numbers."""

    def end(self, name: str) -> None:
        super().end(name)
        if name == "si":
            self.found.append(self.whole())


class _Sheet(_Texts):
    """The rows of a sheet that have cells: the number of each, and its cells by their columns."""

    def __init__(self, strings: list[str]) -> None:
        super().__init__()
        self.strings = strings
        self.line, self.column, self.kind = 0, -1, "n"
        self.cells: dict[int, Any] = {}

    def start(self, name: str, values: dict[str, str]) -> None:
        super().start(name, values)
        if name == "row":
            self.line = int(values.get("r", self.line + 1))
            self.column, self.cells = -1, {}
        elif name == "c":
            place = PLACE.fullmatch(values.get("r", ""))
            self.column = _number_of(place[1]) if place else self.column + 1
            self.kind = values.get("t", "n")
            self.parts.clear()
        elif name == "v":
            self.is_text = True

    def end(self, name: str) -> None:
        super().end(name)
        if name == "c" and self.parts and self.column < MOST_COLUMNS:
            self.cells[self.column] = self._value(self.whole())
        elif name == "row" and self.cells:
            self.found.append((self.line, self.cells))

    def _value(self, text: str) -> Any:
        """Return the value of a cell; a broken one raises ValueError or IndexError."""
        if self.kind == "s":
            return self.strings[int(text)]
        if self.kind == "b":
            return text.strip() == "1"
        if self.kind != "n":
            return text
        return int(text) if text.isdecimal() else float(text)


def _number_of(letters: str) -> int:
    """Return the number of a column from 0: 25 for Z, and 26 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
