"""A platform's list of submissions, as the platform wrote it and after spreadsheets of several countries saved it."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.results.payment import PlatformRow, read_export
from annotations.results.platform_file import BadPlatformFile, read_seconds

HEAD = ["Submission id", "Participant id", "Status", "Reward", "Completion code", "Time taken"]
ROWS = [
    ["s-1", "5f0c", "AWAITING REVIEW", "£5.00", "C1DONE", "321.5"],
    ["s-2", "5f1c", "RETURNED", "£1,234.50", "", ""],
]
FOUND = [
    PlatformRow("s-1", "5f0c", "AWAITING REVIEW", "C1DONE", 321.5),
    PlatformRow("s-2", "5f1c", "RETURNED", "", None),
]
GERMAN = [[*row[:3], row[3].replace("£", "€ "), row[4], row[5].replace(".", ",")] for row in ROWS]


def write(rows: Sequence[Sequence[str]], *, delimiter: str = ",", end: str = "\r\n", quote: bool = False) -> str:
    marks = [[f'"{cell}"' if quote or delimiter in cell else cell for cell in row] for row in [HEAD, *rows]]
    return "".join(delimiter.join(row) + end for row in marks)


def seconds(*cells: str, delimiter: str = ";") -> list[float | None]:
    return read_seconds(list(enumerate(cells, start=2)), name="Time taken", delimiter=delimiter)


def test_what_spreadsheets_write_is_read_as_the_platform_wrote_it() -> None:
    files = {
        "the platform": write(ROWS).encode(),
        "quotes, line feeds, BOM": write(ROWS, end="\n", quote=True).encode("utf-8-sig"),
        "carriage returns": write(ROWS, end="\r").encode(),
        "Excel, German": write(GERMAN, delimiter=";").encode("utf-8-sig"),
        "Excel, German, without Unicode": write(GERMAN, delimiter=";").encode("cp1252"),
        "Excel, Unicode text": write(GERMAN, delimiter="\t").encode("utf-16"),
        "Excel, with a line for the delimiter": ("sep=;\r\n" + write(GERMAN, delimiter=";")).encode(),
        "Google, German": write(GERMAN).encode(),
        "bars": write(ROWS, delimiter="|").encode(),
        "empty lines": ("\r\n" + write(ROWS) + "\r\n,,,,,\r\n\r\n").encode(),
        "other capitals and spaces": write(ROWS).replace("Submission id", " SUBMISSION  ID ").encode(),
        "texts as formulas": write(ROWS).replace("5f0c", '"=""5f0c"""').replace("5f1c", "'5f1c").encode(),
        "a currency by mistake": write(GERMAN, delimiter=";").replace(";321,5", ";321,50 €").encode(),
    }
    assert {name: read_export(content) for name, content in files.items()} == dict.fromkeys(files, FOUND)


def test_figures_are_read_as_their_column_is_written() -> None:
    expected: dict[tuple[str, ...], list[float]] = {
        ("1.234,50", "1 234,5", "1’234.5", "1,234,567.8"): [1234.5, 1234.5, 1234.5, 1234567.8],
        ("321,5", "1,234", "1.234"): [321.5, 1.234, 1234.0],
        ("321.5", "1,234", "1.234"): [321.5, 1234.0, 1.234],
        ("1234,567", "263,546"): [1234.567, 263.546],
        ("€ 5,00", "5,00 €", "EUR 5", "$1,234.50"): [5.0, 5.0, 5.0, 1234.5],
        ("0,123", ",5", "5,", "1,5E+02", "1e-3"): [0.123, 0.5, 5.0, 150.0, 0.001],
        ("1\u202f234", "12"): [1234.0, 12.0],
    }
    assert {cells: seconds(*cells) for cells in expected} == expected
    assert seconds("263.546", "12", delimiter=",") == [263.546, 12.0]  # as platforms write it


def test_figures_that_can_be_read_in_two_ways_are_refused() -> None:
    cases = [("1,234", ","), ("1,234", ";"), ("1.234", ";"), ("1.234", "\t"), ("€ 1.234", ";")]
    for figure, delimiter in cases:
        with pytest.raises(BadPlatformFile, match=r"in row 3, which may be 1234 or 1\.234\. Write 1234 or 1\.2340"):
            seconds("12", figure, delimiter=delimiter)
    with pytest.raises(BadPlatformFile, match="in row 4, which may be"):
        seconds("321,5", "12.5", "1.234")


@pytest.mark.parametrize(
    "text", ["soon", "nan", "inf", "-5", "1e400", "12 34", "1.2.3", "1,23.4", "0:05:21", "1.234.56"]
)
def test_other_texts_are_no_seconds(text: str) -> None:
    with pytest.raises(BadPlatformFile, match=r"Expected a number of seconds as Time taken, got .* in row 2"):
        seconds(text)


@given(
    st.decimals(min_value=0, max_value=999_999, places=2, allow_nan=False), st.sampled_from([".,", ",.", " ,", "’."])
)
def test_a_figure_with_two_decimals_is_the_same_in_every_country(number: object, marks: str) -> None:
    group, decimal = marks
    text = f"{number:,.2f}".translate({ord(","): group, ord("."): decimal})
    assert seconds(text) == [float(str(number))]


@pytest.mark.parametrize("damaged", ["6,12346E+23", "6.12346E+23", "1E+15", "612345678901234000000000"])
def test_an_id_that_a_spreadsheet_rounded_is_refused(damaged: str) -> None:
    for place in (0, 1):
        row = [*ROWS[0]]
        row[place] = damaged
        with pytest.raises(
            BadPlatformFile, match=re.escape(f"an id in row 3, got '{damaged}': a spreadsheet rounded it")
        ):
            read_export(write([ROWS[1], row]).encode())


def test_placeholders_in_the_file_are_no_ids() -> None:
    [row] = read_export(write([["{{%SESSION_ID%}}", "undefined", "RETURNED", "", "", ""]]).encode())
    assert row[:2] == ("", "")


def test_other_files_are_refused_by_what_they_are() -> None:
    cases = {
        b"PK\x03\x04rest": "got a workbook. Choose the platform's own file, or save the workbook as CSV",
        b"\xd0\xcf\x11\xe0rest": "got a workbook",
        b"\xff\xfe\x00": "Expected a CSV file in UTF-8",
        b"a\0b": "null characters",
        b"\x80\0": "Expected a CSV file in UTF-8",
        b"": "Missing: Submission id, Participant id, Status, Completion code, Time taken",
        write([]).encode(): "Missing: a row below the names of the columns",
        b'Submission id;"' + b"x" * 200_000: "Expected a CSV file in UTF-8, got something else: field larger",
    }
    for content, said in cases.items():
        with pytest.raises(BadPlatformFile, match=said):
            read_export(content)
