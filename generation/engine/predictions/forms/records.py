"""Reads the ids, answers and boxes of records, once the columns are chosen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generation.engine.predictions.decompression import UnreadableFile
from generation.engine.predictions.forms.columns import Columns, choose, describe_missing, listed
from generation.engine.predictions.forms.rows import (
    Bad,
    FileRecords,
    PredictionRow,
    PredictionRowBatch,
    PredictionRows,
    batched,
    taken,
)

BOXES = ("boxes", "scores")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def predictions_in(records: FileRecords, bad: Bad, *, has_boxes: bool) -> PredictionRows:
    """Return the predictions of records. The first record with known columns decides the columns of all.

    `has_boxes` says whether boxes are read; a table must not have any then. Raises `UnreadableFile`.
    """
    if records.names is not None:
        _check_table(records.names, records.form, has_boxes=has_boxes)
    first = taken(records.rows)
    samples = [row.value for row in first] if records.names is None else [dict.fromkeys(records.names, "")]
    columns = next((found for one in samples if (found := choose(one, records.form)) is not None), None)
    if columns is None:
        for row in first:
            bad(row.line, describe_missing(row.value))
        return PredictionRows(records.form, records.unit, "", iter(()))
    reader = _RecordReader(columns, bad, has_boxes=has_boxes and records.names is None)
    return PredictionRows(columns.format, records.unit, columns.id, reader.batches(first, records.rows))


def _check_table(names: Sequence[str], form: str, *, has_boxes: bool) -> None:
    if has_boxes and (boxes := [name for name in BOXES if name in names]):
        raise UnreadableFile(f"expected {' and '.join(boxes)} in JSON lines, got a table with them", line=1)
    if choose(dict.fromkeys(names, ""), form) is None:
        raise UnreadableFile(f"expected the columns question_id and answer, got {listed(names)}", line=1)


class _RecordReader:
    """Reads records with these columns."""

    def __init__(self, columns: Columns, bad: Bad, *, has_boxes: bool) -> None:
        self.columns, self.bad, self.has_boxes = columns, bad, has_boxes

    def batches(self, first: list[PredictionRow], rows: Iterator[PredictionRow]) -> Iterator[PredictionRowBatch]:
        yield self._batch(first)
        first.clear()
        for batch in batched(rows):
            yield self._batch(batch)

    def _batch(self, batch: list[PredictionRow]) -> PredictionRowBatch:
        id, answer = self.columns.id, self.columns.answer
        kept = [row for row in batch if isinstance(row.value, dict) and id in row.value and answer in row.value]
        if len(kept) != len(batch):
            self._tell(batch)
        records = [row.value for row in kept]
        said = [record[answer] for record in records]
        if self.columns.format == "lmms-eval":
            said = list(map(_first_reply, said))
        has_letters = answer == "prediction" and any("A" in record for record in records)
        return PredictionRowBatch(
            [row.line for row in kept],
            [record[id] for record in records],
            said,
            list(map(_choices, records)) if has_letters else None,
            list(map(_boxes_of, records)) if self.has_boxes else None,
        )

    def _tell(self, batch: list[PredictionRow]) -> None:
        """Note what is wrong with each record that lacks a column."""
        names = self.columns.id, self.columns.answer
        for line, record, _ in batch:
            if not isinstance(record, dict):
                self.bad(line, describe_missing(record))
            elif missing := [name for name in names if name not in record]:
                self.bad(
                    line, f'expected "{names[0]}" and "{names[1]}" as in the records before, got no "{missing[0]}"'
                )


def _boxes_of(record: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a record's boxes and scores; None for those that it doesn't have."""
    boxes, scores = (record.get(name) for name in BOXES)
    return boxes, scores


def _first_reply(value: Any) -> Any:
    while isinstance(value, list):
        value = value[0] if value else None  # an empty list is no reply, while as an answer it is the empty set
    return value


def _choices(record: Mapping[str, Any]) -> dict[str, str]:
    return {letter: value for letter in LETTERS if isinstance(value := record.get(letter), str) and value}
