"""Excel workbooks (xlsx) with one table: a spreadsheet of every country opens them with the same cells.

A CSV file can't do this: with German settings, for example, Excel expects semicolons. The files follow ECMA-376.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
TYPES = "http://schemas.openxmlformats.org/package/2006"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{TYPES}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{SHEET_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{SHEET_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{TYPES}/relationships">'
    f'<Relationship Id="rId1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">'
    '<sheets><sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{TYPES}/relationships">'
    f'<Relationship Id="rId1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
DAY = (1980, 1, 1, 0, 0, 0)  # in each part, so that the same table has the same bytes
LONGEST = 32_767  # characters of a cell in Excel
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # not allowed in XML
ESCAPES = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")  # Excel would read `_x0041_` as A


def workbook(rows: Iterable[Iterable[object]], *, name: str) -> bytes:
    """Return a workbook with a table.

    Parameters
    ----------
    rows : iterable of iterables
        The cells: a text is always a text, so none is read as a formula, date or number. None is an empty cell.
    name : str
        The name of the sheet, at most 31 letters, digits and spaces.

    Returns
    -------
    bytes
        An xlsx file. Characters that XML does not allow are replaced by U+FFFD, and a text is cut at 32,767 characters.
    """
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in PARTS.items():
            archive.writestr(_part(path), HEAD + text.replace("{name}", escape(name)))
        with archive.open(_part("xl/worksheets/sheet1.xml"), "w") as sheet:
            for text in _sheet(rows):
                sheet.write(text.encode())
    return file.getvalue()


def _part(path: str) -> zipfile.ZipInfo:
    part = zipfile.ZipInfo(path, DAY)
    part.compress_type = zipfile.ZIP_DEFLATED
    return part


def _sheet(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    yield f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>'
    for row in rows:
        yield f"<row>{''.join(map(_cell, row))}</row>"
    yield "</sheetData></worksheet>"


def _cell(value: object) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{value:d}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value!r}</v></c>"
    text = ESCAPES.sub("_x005F_", CONTROLS.sub("\ufffd", str(value)[:LONGEST]))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
