"""Prediction files: reads them in any supported format, and checks them against the questions of a split.

`read_predictions` returns an answer for every question or raises `BadPredictions`, which states the problem of every
wrong line. Files are streamed: the use of memory depends on the number of questions, not on the length of the file.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import BinaryIO, NamedTuple
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadPredictions
from generation.engine.predictions.decompression import (
    ZIP,
    PackedFile,
    UnreadableFile,
    open_member,
    packed_files,
)
from generation.engine.predictions.expected_answers import ExpectedAnswers
from generation.engine.predictions.findings import DOCS, Findings
from generation.engine.predictions.forms.columns import UnclearColumn, unclear
from generation.engine.predictions.forms.rows import PredictionRows
from generation.engine.predictions.matching import PUBLISHED, PredictionChecker
from generation.engine.predictions.predicted_boxes import PredictedBoxes
from generation.engine.predictions.reading import rows_of
from generation.engine.predictions.template import template

__all__ = [
    "BadPredictions",
    "ExpectedAnswers",
    "Findings",
    "PredictedBoxes",
    "Predictions",
    "UploadedMember",
    "members",
    "read_predictions",
    "template",
]


class Predictions(NamedTuple):
    """An answer for each question.

    Attributes
    ----------
    codes : array (n,) of int32
        Codes of the vocabulary; `OUTSIDE` of `generation.engine.scoring.score` for other answers.
    read : array (n,) of int32
        The same, but answers outside the vocabulary are read as free text; `OUTSIDE` if no answer is found in it.
    outside : mapping of int to str
        The answers that are `OUTSIDE` in `codes`, as shortened texts, by position.
    format, packing : str
        The format of the file, and its packing: "", "gzip" or "zip".
    numbers : array (n,) of float64, or None
        The answers as numbers, not rounded; NaN for an answer that is no number. None if `most_counted` is None.
    boxes : PredictedBoxes or None
        None if no prediction has boxes.
    """

    codes: NDArray[np.int32]
    read: NDArray[np.int32]
    outside: Mapping[int, str]
    format: str
    packing: str
    numbers: NDArray[np.float64] | None = None
    boxes: PredictedBoxes | None = None


class UploadedMember(NamedTuple):
    """A file of an upload: its name, which is empty for the upload itself, and the function that opens it.

    `size` and `packed` are its numbers of unpacked and packed bytes in a zip; both are 0 for the upload itself.
    """

    name: str
    open: Callable[[], BinaryIO]
    size: int = 0
    packed: int = 0


def read_predictions(file: BinaryIO, expected: ExpectedAnswers, *, column: str = "") -> Predictions:
    """Return the predictions in a file.

    Parameters
    ----------
    file : binary file
        Read from its current position; a zip must be seekable.
    expected : ExpectedAnswers
    column : str
        The column of answers; empty to recognise it.

    Returns
    -------
    Predictions

    Raises
    ------
    BadPredictions
        If the file can't be read, doesn't have one answer for each question, or has several columns that may have the
        answers, which the error then names.
    """
    checker = PredictionChecker(expected)
    try:
        rows, packing = rows_of(file, checker.bad, expected, is_answer=checker.is_answer, column=column)
        checker.unit = rows.unit
        if rows.id == "custom_id":
            checker.allow_prefix()
        for batch in rows.batches:
            checker.add(batch)
    except UnreadableFile as error:
        raise _refusal(error, where=expected.name) from error
    return _settled(checker, rows, packing)


def _settled(checker: PredictionChecker, rows: PredictionRows, packing: str) -> Predictions:
    """Return the predictions, with the meaning of ids that fits best; raise `BadPredictions` if there are problems."""
    ways = list(range(len(checker.namings)))
    if rows.id in PUBLISHED:
        ways.reverse()
    meant, expected = min(ways, key=checker.wrong), checker.expected
    findings = checker.findings(meant)
    if findings.counts:
        message = findings.message(expected=expected.n, got=checker.got)
        raise BadPredictions(message, where=expected.name, findings=findings)
    positions = np.array(checker.positions[meant], np.int32)
    codes, read = np.empty(expected.n, np.int32), np.empty(expected.n, np.int32)
    codes[positions], read[positions] = checker.codes, checker.read[meant]
    if rows.others and expected.truth is not None and np.array_equal(codes, expected.truth):
        raise _refusal(unclear([rows.answer, *rows.others]), where=expected.name)
    numbers = None
    if expected.most_counted is not None:
        numbers = np.empty(expected.n)
        numbers[positions] = checker.numbers
    outside, boxes = checker.outside.by(positions), checker.boxes.by(positions)
    return Predictions(codes, read, outside, rows.format, packing, numbers, boxes)


def _refusal(error: UnreadableFile, *, where: str = "") -> BadPredictions:
    found = Findings(unit=error.unit, malformed=[] if error.line is None else [(error.line, error.reason)])
    place = "" if error.line is None else f"{error.unit} {error.line:,}: "
    message = f"{place}{error.reason}. Format: {DOCS}"
    columns = error.columns if isinstance(error, UnclearColumn) else ()
    return BadPredictions(message[:1].upper() + message[1:], where=where, findings=found, columns=columns)


def members(file: BinaryIO) -> list[UploadedMember]:
    """Return the files of an upload: those of a zip by their names, or the upload itself.

    Raises
    ------
    BadPredictions
        If the zip can't be read, or has no file.
    """
    file.seek(0)
    head = file.read(len(ZIP[0]))
    if not head.startswith(ZIP):
        return [UploadedMember("", partial(_again, file))]
    try:
        archive, found = packed_files(file)
    except UnreadableFile as error:
        raise _refusal(error) from error
    if not found:
        raise BadPredictions(f"Expected files in the zip, got none. Format: {DOCS}")
    return [
        UploadedMember(one.name, partial(_opened, archive, one), one.info.file_size, one.info.compress_size)
        for one in found
    ]


def _opened(archive: ZipFile, member: PackedFile) -> BinaryIO:
    try:
        return open_member(archive, member.info)
    except UnreadableFile as error:
        raise _refusal(error, where=member.name) from error


def _again(file: BinaryIO) -> BinaryIO:
    file.seek(0)
    return file
