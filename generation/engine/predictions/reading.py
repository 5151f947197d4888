"""Reads the rows of a prediction file in any supported format: the id of a question, and the answer to it.

In JSON, a row may also have boxes with scores. The format is recognised from the content of the file. A reader yields
batches of rows. It calls `bad` for each row that can't be read, and raises `UnreadableFile` if it can't continue.
"""

import codecs
import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import PIECE, TextReader, UnreadableFile
from generation.engine.reading.json_stream import JsonText

MANY = 4096  # rows in a batch
LONGEST = 1 << 20  # characters in a row
ROOM = 1 << 20  # characters after which a batch ends, because parsed JSON takes up to sixty bytes for each
BLANK = 1_000_000  # empty lines in a file
IDS = ("question_id", "question_index", "questionId", "index", "doc_id")
SAID = ("prediction", "answer")
BOXES = ("boxes", "scores")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Bad = Callable[[int, str], None]
"""A function that is called with the line of a row that can't be read, and the reason."""


class PredictionRowBatch(NamedTuple):
    """Successive rows of a file.

    Attributes
    ----------
    lines : sequence of int
        The place of each row, from 1: its line, or its number in a JSON list.
    ids, said : sequences
        The ids and the answers as they are in the file.
    choices : sequence of dict, or None
        For each row, the answers that letters stand for; None if the file has no columns for letters.
    boxes : sequence of (Any, Any), or None
        For each row, its boxes and scores as they are in the file; None for a format without boxes.
    """

    lines: Sequence[int]
    ids: Sequence[Any]
    said: Sequence[Any]
    choices: Sequence[dict[str, str]] | None = None
    boxes: Sequence[tuple[Any, Any]] | None = None


class PredictionRow(NamedTuple):
    """A row as it is in the file: its line or number from 1, its value, and its length in characters."""

    line: int
    value: Any
    size: int


class Fields(NamedTuple):
    """The names of a record's fields for the question's id and for the answer, and the format that they belong to.

    `has_boxes` says whether a record may also have the fields `BOXES`, which are ignored otherwise.
    """

    id: str
    said: str
    format: str
    has_boxes: bool = False


class PredictionRows(NamedTuple):
    """The content of a prediction file.

    Attributes
    ----------
    format : str
    unit : str
        What `PredictionRowBatch.lines` counts: lines or records.
    id : str
        The name of the field with the ids; empty if ids have no field.
    batches : iterator of PredictionRowBatch
    """

    format: str
    unit: str
    id: str
    batches: Iterator[PredictionRowBatch]


def rows_of(text: TextReader, bad: Bad, *, n: int, has_boxes: bool) -> PredictionRows:
    """Return the rows of a file for `n` questions; its beginning shows the format.

    `has_boxes` says whether boxes are read. Raises `UnreadableFile` if the file is empty, or is a table with boxes.
    """
    head = text.head.decode("utf-8-sig", errors="ignore").lstrip()
    if not head:
        raise UnreadableFile("expected predictions, got an empty file")
    if head[0] == "[":
        return _of_records("json", "record", _elements(text), bad, has_boxes=has_boxes)
    if head[0] == "{":
        if _is_record(head):
            return _of_records("jsonl", "line", _parsed_lines(text, bad), bad, has_boxes=has_boxes)
        return PredictionRows("json-object", "record", "", _pairs(text, has_boxes=has_boxes))
    line = head.partition("\n")[0].rstrip("\r")
    table = _table(line)
    if table is not None:
        if has_boxes and (names := [name for name in BOXES if name in table[1]]):
            raise UnreadableFile(f"expected {' and '.join(names)} in JSON lines, got a table with them", line=1)
        return _of_table(text, *table, bad)
    return PredictionRows("lines", "line", "", _plain(text, n))


# JSON


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return these pairs as an object; raise ValueError if a name occurs twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"the name {quote(_first_again(name for name, _ in pairs))} occurs twice")
    return found


def _first_again(names: Iterable[str]) -> str:
    """Return the first name that repeats an earlier one; raise ValueError if there is none."""
    known: set[str] = set()
    for name in names:
        if name in known:
            return name
        known.add(name)
    raise ValueError("Expected a name that occurs twice, got none.")


DECODER = json.JSONDecoder(object_pairs_hook=once)


def _is_record(head: str) -> bool:
    """Return whether the first JSON object of a text has an id or an answer, or is followed by more objects.

    The text may end within the object, for example within its boxes.
    """
    text = JsonText(io.BytesIO(head.encode()), decoder=DECODER)
    try:
        return any(name in (*IDS, *SAID) for name, _ in text.pairs()) or text.has_more()
    except (ValueError, RecursionError):
        return False


def _elements(text: TextReader) -> Iterator[PredictionRow]:
    whole = JsonText(text, decoder=DECODER, longest=LONGEST)
    return _numbered(whole, whole.elements())


def _numbered(whole: JsonText, records: Iterator[Any]) -> Iterator[PredictionRow]:
    number = 0
    try:
        for number, record in enumerate(records, 1):
            yield PredictionRow(number, record, whole.length)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(json_trouble(error), line=number + 1, unit="record") from error


def json_trouble(error: Exception) -> str:
    """Return what is wrong with a text that is not JSON."""
    if isinstance(error, RecursionError):
        return "expected JSON, got lists or objects nested too deep"
    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return f"expected JSON, got something else ({reason})"


def _pairs(text: TextReader, *, has_boxes: bool) -> Iterator[PredictionRowBatch]:
    """Yield the pairs of a single object, which maps ids to answers, or to objects with an answer and boxes."""
    whole = JsonText(text, decoder=DECODER, longest=LONGEST)

    def pairs() -> Iterator[Any]:
        yield from whole.pairs()
        whole.end()

    for batch in _batched(_numbered(whole, pairs())):
        ids, values = [row.value[0] for row in batch], [row.value[1] for row in batch]
        boxes = None
        if has_boxes:
            boxes = [_boxes_of(value) if isinstance(value, dict) else (None, None) for value in values]
            values = list(map(_answer_in, values))
        yield PredictionRowBatch([row.line for row in batch], ids, values, boxes=boxes)


def _answer_in(value: Any) -> Any:
    """Return the answer in an object that has one; any other value is the answer itself."""
    names = SAID if isinstance(value, dict) else ()
    return next((value[name] for name in names if name in value), value)


def _boxes_of(record: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a record's boxes and scores; None for those that it doesn't have."""
    boxes, scores = (record.get(name) for name in BOXES)
    return boxes, scores


def _batched(rows: Iterator[PredictionRow]) -> Iterator[list[PredictionRow]]:
    while batch := _taken(rows):
        yield batch


def _taken(rows: Iterator[PredictionRow]) -> list[PredictionRow]:
    batch, size = [], 0
    for row in rows:
        batch.append(row)
        size += row.size
        if len(batch) >= MANY or size >= ROOM:
            break
    return batch


def _parsed_lines(text: TextReader, bad: Bad) -> Iterator[PredictionRow]:
    scan = DECODER.raw_decode
    for number, line in enumerate(lines_of(text), 1):
        said = line.strip(" \t\r")
        if not said:
            continue
        try:
            record, end = scan(said)
            if end != len(said):
                raise ValueError(f"more after its end: {quote(said[end:].lstrip())}")
            if "\\u" in said:
                json.dumps(record, ensure_ascii=False).encode()  # fails for half of a surrogate pair
        except (ValueError, RecursionError) as error:
            bad(number, json_trouble(error))
        else:
            yield PredictionRow(number, record, len(said))


def _of_records(
    container: str, unit: str, records: Iterator[PredictionRow], bad: Bad, *, has_boxes: bool
) -> PredictionRows:
    """Return the rows of records. In the first batch, the first record with known fields decides the fields of all."""
    first = _taken(records)
    fields = next((found for row in first if (found := _fields(row.value, container)) is not None), None)
    if fields is None:
        for row in first:
            bad(row.line, _no_fields(row.value))
        return PredictionRows(container, unit, "", iter(()))
    fields = fields._replace(has_boxes=has_boxes)
    return PredictionRows(fields.format, unit, fields.id, _batches(first, records, fields, bad))


def _fields(record: Any, container: str) -> Fields | None:
    if not isinstance(record, dict):
        return None
    if "doc_id" in record and "filtered_resps" in record:
        return Fields("doc_id", "filtered_resps", "lmms-eval")
    name = next((name for name in IDS if name in record), None)
    said = next((said for said in SAID if said in record), None)
    if name is None or said is None:
        return None
    return Fields(name, said, f"vlmevalkit-{container}" if (name, said) == ("index", "prediction") else container)


def _no_fields(record: Any) -> str:
    if not isinstance(record, dict):
        return f'expected a record such as {{"question_id": 0, "answer": "yes"}}, got {quote(record)}'
    names = ", ".join(quote(name) for name in list(record)[:8]) or "nothing"
    return f'expected "question_id" and "answer", got {names}'


def _batches(
    first: list[PredictionRow], records: Iterator[PredictionRow], fields: Fields, bad: Bad
) -> Iterator[PredictionRowBatch]:
    yield _batch(first, fields, bad)
    first.clear()
    for batch in _batched(records):
        yield _batch(batch, fields, bad)


def _batch(batch: list[PredictionRow], fields: Fields, bad: Bad) -> PredictionRowBatch:
    kept = [row for row in batch if isinstance(row.value, dict) and fields.id in row.value and fields.said in row.value]
    if len(kept) != len(batch):
        _tell(batch, fields, bad)
    lines, records = [row.line for row in kept], [row.value for row in kept]
    ids, said = [record[fields.id] for record in records], [record[fields.said] for record in records]
    if fields.format == "lmms-eval":
        said = [_first_reply(one) for one in said]
    has_letters = fields.format.startswith("vlmevalkit") and any("A" in record for record in records)
    choices = [_choices(record) for record in records] if has_letters else None
    return PredictionRowBatch(lines, ids, said, choices, list(map(_boxes_of, records)) if fields.has_boxes else None)


def _tell(batch: list[PredictionRow], fields: Fields, bad: Bad) -> None:
    for line, record, _ in batch:
        if not isinstance(record, dict):
            bad(line, _no_fields(record))
            continue
        missing = [name for name in (fields.id, fields.said) if name not in record]
        if missing:
            bad(line, f'expected "{fields.id}" and "{fields.said}" as in the records before, got no "{missing[0]}"')


def _first_reply(value: Any) -> Any:
    while isinstance(value, list):
        value = value[0] if value else None  # an empty list is no reply, while as an answer it is the empty set
    return value


def _choices(record: Mapping[str, Any]) -> dict[str, str]:
    return {letter: value for letter in LETTERS if isinstance(value := record.get(letter), str) and value}


# Tables and lines


def _table(line: str) -> tuple[str, list[str]] | None:
    """Return delimiter and column names of a table from its first line; None if that is not the head of a table."""
    for delimiter in ("\t", ",", ";"):
        try:
            names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
        except csv.Error:
            continue
        if len(names) > 1 and not {*IDS, *SAID}.isdisjoint(names):
            return delimiter, names
    return None


def _of_table(text: TextReader, delimiter: str, names: list[str], bad: Bad) -> PredictionRows:
    container = "tsv" if delimiter == "\t" else "csv"
    if len(set(names)) != len(names):
        raise UnreadableFile(f"expected every column once, got {quote(_first_again(names))} twice", line=1)
    fields = _fields(dict.fromkeys(names, ""), container)
    if fields is None:
        got = ", ".join(quote(name) for name in names[:8])
        raise UnreadableFile(f"expected the columns question_id and answer, got {got}", line=1)
    label = fields.format if fields.format != "tsv" else "csv"
    return PredictionRows(label, "line", fields.id, _cells(text, delimiter, names, fields, bad))


def _cells(
    text: TextReader, delimiter: str, names: list[str], fields: Fields, bad: Bad
) -> Iterator[PredictionRowBatch]:
    at_id, at_said = names.index(fields.id), names.index(fields.said)
    letters = [(letter, names.index(letter)) for letter in LETTERS if letter in names and fields.said == "prediction"]
    rows = _table_rows(text, delimiter)
    next(rows)
    for batch in _batched(rows):
        kept = [row for row in batch if len(row.value) == len(names)]
        if len(kept) != len(batch):
            for row in batch:
                if len(row.value) != len(names):
                    bad(row.line, f"expected {len(names)} columns, got {len(row.value)}")
        cells = [row.value for row in kept]
        yield PredictionRowBatch(
            [row.line for row in kept],
            [row[at_id] for row in cells],
            [row[at_said] for row in cells],
            [{letter: row[at] for letter, at in letters if row[at]} for row in cells] if letters else None,
        )


class _Measured:
    """The lines of a table, each with a newline; `size` is the number of characters of the row that is being read."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines, self.size, self.line = lines, 0, 1

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.size += len(line) + 1
            if self.size > LONGEST + 1:
                raise UnreadableFile(f"expected at most {LONGEST:,} characters in a row, got more", line=self.line)
            yield f"{line}\n"


def _table_rows(text: TextReader, delimiter: str) -> Iterator[PredictionRow]:
    """Yield the rows of a table, each with the number of its first line; empty lines are skipped."""
    csv.field_size_limit(LONGEST)
    measured = _Measured(lines_of(text))
    reader = csv.reader(iter(measured), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield PredictionRow(line, row, measured.size)
            measured.line = line = reader.line_num + 1
            measured.size = 0
    except csv.Error as error:
        raise UnreadableFile(f"expected a table, got a row that can't be read ({error})", line=line) from error


def _plain(text: TextReader, n: int) -> Iterator[PredictionRowBatch]:
    """Yield the answers of a file with one answer on each line, in question order; skip empty lines after line `n`."""
    lines = enumerate((line.rstrip("\r") for line in lines_of(text)), 1)
    for batch in _batched(PredictionRow(number, line, len(line)) for number, line in lines if number <= n or line):
        numbers = [row.line for row in batch]
        yield PredictionRowBatch(numbers, [number - 1 for number in numbers], [row.value for row in batch])


def lines_of(text: TextReader, *, longest: int = LONGEST) -> Iterator[str]:
    """Yield the lines of a text without newlines; raise `UnreadableFile` if one has more than `longest` characters."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    parts, length, number, blank = list[str](), 0, 0, 0  # the parts of a line whose end is not read yet, and its length
    while piece := text.read(PIECE):
        *whole, last = decoder.decode(piece).split("\n")
        if whole:
            whole[0] = "".join([*parts, whole[0]])
            parts, length = [], 0
        parts.append(last)
        length += len(last)
        number += len(whole)
        blank += whole.count("")
        if length > longest or (whole and len(whole[0]) > longest):
            raise UnreadableFile(f"expected at most {longest:,} characters in a line, got more", line=number + 1)
        if blank > BLANK:
            raise UnreadableFile(f"expected at most {BLANK:,} empty lines, got more: reading stopped", line=number + 1)
        yield from whole
    if rest := "".join(parts):
        yield rest
