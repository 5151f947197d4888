"""Recognises the form of a prediction file by its content, and reads its predictions.

`PredictionRows` says what was taken: the format, the column of ids, the column of answers, and batches of rows. What is
not recognised is refused: `bad` is called for each row that can't be read, and `UnreadableFile` is raised if the file
can't be read at all.
"""

from functools import partial
from typing import BinaryIO

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import TextReader, UnreadableFile, open_table, room, unpack
from generation.engine.predictions.expected_answers import ExpectedAnswers
from generation.engine.predictions.file_marks import PARQUET
from generation.engine.predictions.forms.json_files import json_list, json_object
from generation.engine.predictions.forms.parquet_files import parquet
from generation.engine.predictions.forms.plain_lines import IsAnswer, plain_lines
from generation.engine.predictions.forms.records import predictions_in
from generation.engine.predictions.forms.rows import Bad, FileRecords, PredictionRows
from generation.engine.predictions.forms.tables import opening_of, table, table_head
from generation.engine.predictions.forms.workbooks import workbook


def rows_of(
    file: BinaryIO, bad: Bad, expected: ExpectedAnswers, *, is_answer: IsAnswer, column: str = ""
) -> tuple[PredictionRows, str]:
    """Return the rows of a file, and its packing ("", "gzip" or "zip").

    Parameters
    ----------
    file : binary file
    bad : callable
        Called with the line of a row that can't be read, and the reason.
    expected : ExpectedAnswers
    is_answer : callable
        Returns whether a text is an answer of the vocabulary.
    column : str
        The column of answers that the user named; empty to recognise it.

    Raises
    ------
    UnreadableFile
        If the file can't be read; `UnclearColumn` if several columns may have the answers.
    """
    most = partial(room, expected.n, has_boxes=expected.has_boxes)
    packed = open_table(file, most=most)
    text = None
    if packed is not None:
        content, packing = packed
        is_parquet = content.read(len(PARQUET)) == PARQUET
        content.seek(-len(PARQUET), 1)
        records: FileRecords | None = parquet(content, most=most) if is_parquet else workbook(content, bad, most=most)
    else:
        text, packing = unpack(file, most=most)
        records = _records(text, bad, column)
    if records is not None:
        exported = expected.exported
        found = predictions_in(records, bad, has_boxes=expected.has_boxes, column=column, exported=exported)
        return found, packing
    assert text is not None
    if column:
        raise UnreadableFile(f"expected the column {quote(column)}, got a file without columns")
    return plain_lines(text, expected.n, is_answer, partial(_has_answer, expected)), packing


def _has_answer(expected: ExpectedAnswers, line: str) -> bool:
    """Return whether an answer to the first question can be read in a line."""
    return expected.n > 0 and expected.reader.code(line, int(expected.kinds[0])) >= 0


def _records(text: TextReader, bad: Bad, column: str) -> FileRecords | None:
    """Return the records of a text; None if it has plain lines."""
    head = text.head.decode("utf-8-sig", errors="ignore").lstrip()
    if not head:
        raise UnreadableFile("expected predictions, got an empty file")
    if head[0] == "[":
        return json_list(text)
    if head[0] == "{":
        return json_object(text, head, bad)
    opening = opening_of(text, column=column)
    if opening.line.lstrip()[:1] == "[" and opening.skipped:
        raise UnreadableFile("expected JSON, got a comment before it: delete the comment", line=1)
    if opening.line.lstrip()[:1] == "{" and opening.skipped:
        return json_object(text, head[head.index(opening.line.lstrip()) :], bad, skipped=opening.skipped)
    if opening.line.strip()[:1] == opening.line.strip()[-1:] == '"' and "\\n" in opening.line:
        raise UnreadableFile("expected predictions, got a text within JSON: write the text itself", line=1)
    found = table_head(opening, column=column)
    return None if found is None else table(text, found, bad)
