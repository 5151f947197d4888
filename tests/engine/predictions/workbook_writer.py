"""Writes small workbooks of Excel and Parquet files for tests."""

import io
import zipfile
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa
from pyarrow import parquet

SPREADSHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
Row = Sequence[Any]


def xlsx(*sheets: Sequence[Row], shared: bool = True, more: dict[str, str] | None = None) -> bytes:
    """Return a workbook with these sheets; its texts are shared as Excel writes them, or in their cells."""
    texts: list[str] = []
    files = {"[Content_Types].xml": "<Types/>"}
    for number, rows in enumerate(sheets, 1):
        lines = [f'<row r="{at}">{_cells(row, at, texts, shared=shared)}</row>' for at, row in enumerate(rows, 1)]
        data = f"<sheetData>{''.join(lines)}</sheetData>"
        files[f"xl/worksheets/sheet{number}.xml"] = f"<worksheet {SPREADSHEET}>{data}</worksheet>"
    names = [f'<sheet name="Sheet{at}" sheetId="{at}" r:id="rId{at}"/>' for at in range(1, len(sheets) + 1)]
    files["xl/workbook.xml"] = f"<workbook {SPREADSHEET} {RELATIONS}><sheets>{''.join(names)}</sheets></workbook>"
    targets = [f'<Relationship Id="rId{at}" Target="worksheets/sheet{at}.xml"/>' for at in range(1, len(sheets) + 1)]
    files["xl/_rels/workbook.xml.rels"] = f"<Relationships>{''.join(targets)}</Relationships>"
    if shared:
        strings = "".join(f"<si><r><t>{escape(text)}</t></r><rPh><t>x</t></rPh></si>" for text in texts)
        files["xl/sharedStrings.xml"] = f"<sst {SPREADSHEET}>{strings}</sst>"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (files | (more or {})).items():
            archive.writestr(name, content)
    return packed.getvalue()


def _cells(row: Row, line: int, texts: list[str], *, shared: bool) -> str:
    return "".join(_cell(value, f"{chr(65 + at)}{line}", texts, shared=shared) for at, value in enumerate(row))


def _cell(value: Any, place: str, texts: list[str], *, shared: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if not isinstance(value, str):
        return f'<c r="{place}"><v>{value}</v></c>'
    if not shared:
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    texts.append(value)
    return f'<c r="{place}" t="s"><v>{len(texts) - 1}</v></c>'


def parquet_of(columns: dict[str, Sequence[Any]]) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table({name: list(values) for name, values in columns.items()}), file)
    return file.getvalue()
