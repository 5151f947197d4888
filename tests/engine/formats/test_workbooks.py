"""Workbooks for Excel: each cell is read back with its type, and a text stays a text."""

import io
import re
import zipfile
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from generation.engine.formats.workbooks import CONTROLS, LONGEST, MAIN, workbook

SPACE = {"m": MAIN}
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")).filter(
    lambda text: not CONTROLS.search(text)
)


def cells_of(content: bytes) -> list[list[object]]:
    """Return the cells of a workbook's only sheet."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        sheet = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    return [[_value(cell) for cell in row] for row in sheet.iterfind("m:sheetData/m:row", SPACE)]


def _value(cell: ET.Element) -> object:
    value, text = cell.findtext("m:v", None, SPACE), cell.findtext("m:is/m:t", None, SPACE)
    if text is not None:
        return re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), text)
    if value is None:
        return None
    return value == "1" if cell.get("t") == "b" else float(value) if "." in value else int(value)


@given(
    st.lists(
        st.lists(TEXTS | st.booleans() | st.none() | st.integers(-(10**9), 10**9) | st.just(0.5), max_size=4),
        max_size=3,
    )
)
def test_cells_are_read_back_with_their_types(rows: list[list[object]]) -> None:
    assert cells_of(workbook(rows, name="Answers")) == rows


def test_texts_that_a_spreadsheet_would_change_stay_texts() -> None:
    texts = [
        "=1+1",
        "@SUM(A1)",
        "1-2",
        "1.5",
        "612345678901234567890123",
        "5e12",
        "TRUE",
        " a;b ",
        "_x0041_",
        "<&>\"'",
        "é\n字",
    ]
    assert cells_of(workbook([texts], name="A & B")) == [texts]


def test_what_a_cell_cannot_hold_is_replaced() -> None:
    assert cells_of(workbook([["a\0b\x1b", "x" * 40_000]], name="A")) == [["a\ufffdb\ufffd", "x" * LONGEST]]


def test_the_same_table_has_the_same_bytes() -> None:
    assert workbook([["a", 1]], name="A") == workbook([["a", 1]], name="A")
