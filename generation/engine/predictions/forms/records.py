"""Reads the ids, answers and boxes of records, once the columns are chosen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generation.engine.predictions.answer_values import NoAnswer, quote
from generation.engine.predictions.decompression import UnreadableFile
from generation.engine.predictions.forms.column_names import COUNTERS, find_ids, is_answer, plain_name
from generation.engine.predictions.forms.columns import (
    Columns,
    UnclearColumn,
    choose,
    describe_missing,
    may_compete,
    unclear,
    unknown_columns,
)
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


def predictions_in(
    records: FileRecords, bad: Bad, *, has_boxes: bool, column: str = "", exported: frozenset[str] = frozenset()
) -> PredictionRows:
    """Return the predictions of records. The first record with known columns decides the columns of all.

    Parameters
    ----------
    records : FileRecords
    bad : callable
    has_boxes : bool
        Whether boxes are read. A table must not have any then.
    column : str
        The column of answers that the user named; empty to recognise it.
    exported : frozenset of str
        Columns of the split's exports, which never have answers of a model.

    Raises
    ------
    UnreadableFile
        If the columns are missing; `UnclearColumn` if several may have the answers.
    """
    first = taken(records.rows)
    samples = [row.value for row in first] if records.names is None else [dict.fromkeys(records.names, "")]
    sample = next((one for one in samples if choose(one, records.form, column=column) is not None), None)
    if sample is None:
        if not samples:
            return PredictionRows(records.form, records.unit, "", iter(()))
        raise _missing(samples[0], column, first[0].line if records.names is None else records.head_line, records.unit)
    columns = choose(sample, records.form, column=column)
    assert columns is not None
    if has_boxes and records.names is not None:
        _refuse_boxes(records)
    _check_ids(sample, first, columns)
    reader = _RecordReader(sample, columns, bad, has_boxes=has_boxes)
    others = [] if column or not is_answer(columns.answer) else unknown_columns(sample, columns, exported)
    found = reader.batches(first, records.rows)
    return PredictionRows(columns.format, records.unit, columns.id, found, columns.answer, tuple(others))


def _missing(sample: Any, column: str, line: int, unit: str) -> UnreadableFile:
    """Return the error for a file without a column of ids or of answers; it offers the columns that there are."""
    reason = describe_missing(sample, column)
    ids = find_ids(sample) if isinstance(sample, dict) else []
    if others := [name for name in sample if name not in ids] if ids else []:
        return UnclearColumn(reason, others, line=line, unit=unit)
    return UnreadableFile(reason, line=line, unit=unit)


def _refuse_boxes(records: FileRecords) -> None:
    if boxes := [name for name in BOXES if name in (records.names or ())]:
        raise UnreadableFile(
            f"expected {' and '.join(boxes)} in JSON lines, got a table with them", line=records.head_line
        )


def _check_ids(sample: Mapping[str, Any], rows: Sequence[PredictionRow], columns: Columns) -> None:
    """Raise `UnreadableFile` if two columns of the same name or rank, such as `index` and `id`, have other numbers."""
    if columns.own:
        return
    same = {plain_name(columns.id), *(COUNTERS if columns.id in COUNTERS else ())}
    for name in [name for name in find_ids(sample) if name != columns.id and plain_name(name) in same]:
        for row in rows:
            record = row.value if isinstance(row.value, dict) else {}
            if _differ(record.get(columns.id), record.get(name)):
                reason = f"expected one column of ids, got {quote(columns.id)} and {quote(name)} with different numbers"
                raise UnreadableFile(f"{reason}: leave one of them out")


def _differ(one: Any, other: Any) -> bool:
    numbers = [str(value) for value in (one, other) if isinstance(value, int | str) and str(value).isdecimal()]
    return len(numbers) == 2 and int(numbers[0]) != int(numbers[1])


class _RecordReader:
    """Reads records with these columns. `sample` is the record for which they were chosen."""

    def __init__(self, sample: Mapping[str, Any], columns: Columns, bad: Bad, *, has_boxes: bool) -> None:
        self.columns, self.bad, self.has_boxes = columns, bad, has_boxes
        self.names = set(sample)
        self.has_letters = not is_answer(columns.answer)

    def batches(self, first: list[PredictionRow], rows: Iterator[PredictionRow]) -> Iterator[PredictionRowBatch]:
        yield self._batch(first)
        first.clear()
        for batch in batched(rows):
            yield self._batch(batch)

    def _batch(self, batch: list[PredictionRow]) -> PredictionRowBatch:
        kept, ids, said = list[PredictionRow](), list[Any](), list[Any]()
        id, take = self.columns.id, self.columns.take
        for row in batch:
            record = row.value
            try:
                if not isinstance(record, dict):
                    raise NoAnswer(describe_missing(record))
                answer = take(record)
                ids.append(record[id])
            except LookupError:
                self.bad(row.line, self._lack(record))
            except NoAnswer as error:
                self.bad(row.line, str(error))
            else:
                said.append(answer)
                kept.append(row)
                if not record.keys() <= self.names:
                    self._check_names(record)
        records = [row.value for row in kept]
        has_letters = self.has_letters and any("A" in record and "B" in record for record in records)
        return PredictionRowBatch(
            [row.line for row in kept],
            ids,
            said,
            list(map(_choices, records)) if has_letters else None,
            list(map(_boxes_of, records)) if self.has_boxes else None,
        )

    def _lack(self, record: Mapping[str, Any]) -> str:
        """Return which column a record lacks that those before it have."""
        names = self.columns.id, self.columns.answer
        missing = names[0] if names[0] not in record else names[1]
        return f'expected "{names[0]}" and "{names[1]}" as in the records before, got no "{missing}"'

    def _check_names(self, record: Mapping[str, Any]) -> None:
        """Raise `UnclearColumn` if a record has a further column that looks like a reply."""
        new = record.keys() - self.names
        self.names |= new
        if several := sorted(name for name in new if may_compete(name, self.columns)):
            raise unclear([self.columns.answer, *several])


def _boxes_of(record: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a record's boxes and scores; None for those that it doesn't have."""
    boxes, scores = (record.get(name) for name in BOXES)
    return boxes, scores


def _choices(record: Mapping[str, Any]) -> dict[str, str]:
    return {letter: value for letter in LETTERS if isinstance(value := record.get(letter), str) and value}
