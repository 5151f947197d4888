"""Prediction files with one answer in each line, in the order of the questions."""

from collections.abc import Iterator

from generation.engine.predictions.decompression import TextReader
from generation.engine.predictions.forms.rows import (
    PredictionRow,
    PredictionRowBatch,
    PredictionRows,
    batched,
    lines_of,
)


def plain_lines(text: TextReader, n: int) -> PredictionRows:
    """Return the answers of a file for `n` questions; empty lines after line `n` are skipped."""
    return PredictionRows("lines", "line", "", _batches(text, n))


def _batches(text: TextReader, n: int) -> Iterator[PredictionRowBatch]:
    lines = enumerate((line.rstrip("\r") for line in lines_of(text)), 1)
    for batch in batched(PredictionRow(number, line, len(line)) for number, line in lines if number <= n or line):
        numbers = [row.line for row in batch]
        yield PredictionRowBatch(numbers, [number - 1 for number in numbers], [row.value for row in batch])
