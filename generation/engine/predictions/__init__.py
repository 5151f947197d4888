"""Prediction files: read in whatever format they are, and held against the questions of a split.

`read_predictions` gives an answer for every question or raises `BadPredictions`, which says of every line what is wrong
with it. Files are streamed: memory depends on how many questions there are, not on how long the file is.
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
    unpack,
)
from generation.engine.predictions.matching import DOCS, PUBLISHED, ExpectedAnswers, Findings, PredictionChecker
from generation.engine.predictions.reading import PredictionRows, rows_of
from generation.engine.predictions.template import template

__all__ = [
    "BadPredictions",
    "ExpectedAnswers",
    "Findings",
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
        Codes of the vocabulary; `OUTSIDE` of `generation.engine.scoring.score` for what it doesn't have.
    read : array (n,) of int32
        The same, but where `OUTSIDE` what the reader of free text finds; `OUTSIDE` where it finds nothing.
    outside : mapping of int to str
        What was said, by position, wherever `codes` has `OUTSIDE`; cut.
    format, packing : str
        How the file was written, and packed: "", "gzip" or "zip".
    """

    codes: NDArray[np.int32]
    read: NDArray[np.int32]
    outside: Mapping[int, str]
    format: str
    packing: str


class UploadedMember(NamedTuple):
    """A file that an upload carries: its name, empty where it is the upload itself, and what opens it.

    `size` and `packed` are the bytes that it has and that it takes in a zip; 0 where it is the upload itself.
    """

    name: str
    open: Callable[[], BinaryIO]
    size: int = 0
    packed: int = 0


def read_predictions(file: BinaryIO, expected: ExpectedAnswers) -> Predictions:
    """Return the predictions in a file.

    Parameters
    ----------
    file : binary file
        Read from where it stands; a zip has to be seekable.
    expected : Expected

    Returns
    -------
    Predictions

    Raises
    ------
    BadPredictions
        If the file can't be read, or doesn't have one answer for each question.
    """
    checker = PredictionChecker(expected)
    try:
        text, packing = unpack(file, n=expected.n)
        rows = rows_of(text, checker.bad, n=expected.n)
        checker.unit = rows.unit
        for batch in rows.batches:
            checker.add(batch)
    except UnreadableFile as error:
        raise _refusal(error, where=expected.name) from error
    return _settled(checker, rows, packing)


def _settled(checker: PredictionChecker, rows: PredictionRows, packing: str) -> Predictions:
    """Return what was read, ids taken for what fits; raise `BadPredictions` with what is wrong where nothing does."""
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
    return Predictions(codes, read, checker.outside.by(positions), rows.format, packing)


def _refusal(error: UnreadableFile, *, where: str = "") -> BadPredictions:
    found = Findings(unit=error.unit, malformed=[] if error.line is None else [(error.line, error.reason)])
    place = "" if error.line is None else f"{error.unit} {error.line:,}: "
    message = f"{place}{error.reason}. Format: {DOCS}"
    return BadPredictions(message[:1].upper() + message[1:], where=where, findings=found)


def members(file: BinaryIO) -> list[UploadedMember]:
    """Return the files that an upload carries: those of a zip by their names, or the file itself.

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
