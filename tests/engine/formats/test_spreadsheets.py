"""CSV files for spreadsheets: texts that look like formulas are escaped, and other cells are written as usual."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.formats.spreadsheets import HIDDEN, RISKY, csv_file, csv_lines


@pytest.mark.parametrize("text", ["=1+1", "+49", "-1", "@SUM(A1)", "\tx", "\rx", "\nx"])
def test_a_text_that_looks_like_a_formula_gets_an_apostrophe(text: str) -> None:
    assert next(csv.reader(csv_lines([[text, "a"]]))) == [f"'{text}", "a"]


def test_a_part_of_a_text_that_other_delimiters_make_a_formula_gets_an_apostrophe() -> None:
    for mark in (";", "\t", "\n"):
        [row] = csv.reader(io.StringIO(next(csv_lines([[f"a{mark}=1+1{mark}b", "c"]])), newline=""))
        assert row == [f"a{mark}'=1+1{mark}b", "c"]


def test_a_file_begins_with_the_mark_of_utf_8() -> None:
    content = "".join(csv_file([["a", "b"], ["ü;x", "1"]])).encode()
    assert content == b"\xef\xbb\xbfa,b\r\n\xc3\xbc;x,1\r\n"
    assert list(csv.reader(content.decode("utf-8-sig").splitlines())) == [["a", "b"], ["ü;x", "1"]]


def test_numbers_are_not_escaped_and_none_is_an_empty_cell() -> None:
    assert list(csv_lines([[-1, -0.5, None, True, False, "a,b"]])) == ['-1,-0.5,,true,false,"a,b"\r\n']


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1), max_size=5))
def test_other_texts_are_read_back_unchanged(rows: list[list[str]]) -> None:
    kept = [[text for text in row if not text.startswith(RISKY) and not HIDDEN.search(text)] or ["a"] for row in rows]
    assert list(csv.reader(io.StringIO("".join(csv_lines(kept)), newline=""))) == kept
