"""Rows of a prediction file: the id of a question and what was said, in each format that there is.

Formats are told apart by what is in the file. A reader yields batches; a row that can't be read is handed to `bad`,
what ends the reading raises `Unreadable`.
"""

import codecs
import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from generation.engine.predictions.unpacking import PIECE, Text, Unreadable
from generation.engine.predictions.vocabulary import shown
from generation.engine.streaming import JsonText

MANY = 4096  # rows a batch
LONGEST = 1 << 21  # characters that a row may have
IDS = ("question_id", "question_index", "questionId", "index", "doc_id")
SAID = ("prediction", "answer")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Bad = Callable[[int, str], None]
"""Takes the line of a row that can't be read, and why."""


class Batch(NamedTuple):
    """Rows that follow each other.

    Attributes
    ----------
    lines : sequence of int
        Where each row is, from 1: its line, or in a list its number.
    ids, said : sequences
        As they stand in the file.
    choices : sequence of dict, or None
        For each row the answers that letters stood for.
    """

    lines: Sequence[int]
    ids: Sequence[Any]
    said: Sequence[Any]
    choices: Sequence[dict[str, str]] | None = None


class Fields(NamedTuple):
    """Under which names a record has the question's id and what was said; `format` is what such records are."""

    id: str
    said: str
    format: str


class Rows(NamedTuple):
    """What a file has.

    Attributes
    ----------
    format : str
    unit : str
        What `Batch.lines` counts: lines or records.
    id : str
        The name under which ids stand; empty where they have none.
    batches : iterator of Batch
    """

    format: str
    unit: str
    id: str
    batches: Iterator[Batch]


def rows_of(text: Text, bad: Bad, *, n: int) -> Rows:
    """Return the rows of a file for `n` questions, told by its beginning; raise `Unreadable` for an empty one."""
    head = text.head.decode("utf-8-sig", errors="ignore").lstrip()
    if not head:
        raise Unreadable("expected predictions, got an empty file")
    if head[0] == "[":
        return _of_records("json", "record", _elements(text), bad)
    if head[0] == "{":
        if _is_record(head):
            return _of_records("jsonl", "line", _parsed_lines(text, bad), bad)
        return Rows("json-object", "record", "", _pairs(text))
    line = head.partition("\n")[0].rstrip("\r")
    table = _table(line)
    if table is not None:
        return _of_table(text, *table, bad)
    return Rows("lines", "line", "", _plain(text, n))


# JSON


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise ValueError where it has a name twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {shown(twice)} occurs twice")
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _is_record(head: str) -> bool:
    """Return whether the object that a text begins with is one answer, or one of several objects."""
    text = JsonText(io.BytesIO(head.encode()), decoder=DECODER)
    try:
        return any(name in IDS for name, _ in text.pairs()) or text.has_more()
    except (ValueError, RecursionError):
        return False


def _elements(text: Text) -> Iterator[tuple[int, Any]]:
    return _numbered(JsonText(text, decoder=DECODER, longest=LONGEST).elements())


def _numbered(records: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        for number, record in enumerate(records, 1):
            yield number, record
    except (ValueError, RecursionError) as error:
        raise Unreadable(_json_trouble(error), line=number + 1, unit="record") from error


def _json_trouble(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "expected JSON, got lists or objects nested too deep"
    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return f"expected JSON, got something else ({reason})"


def _pairs(text: Text) -> Iterator[Batch]:
    """Yield the pairs of one object: ids and answers."""
    whole = JsonText(text, decoder=DECODER, longest=LONGEST)

    def pairs() -> Iterator[Any]:
        yield from whole.pairs()
        whole.end()

    for batch in _batched(_numbered(pairs())):
        yield Batch([line for line, _ in batch], [pair[0] for _, pair in batch], [pair[1] for _, pair in batch])


def _batched(rows: Iterator[tuple[int, Any]]) -> Iterator[list[tuple[int, Any]]]:
    while batch := list(islice(rows, MANY)):
        yield batch


def _parsed_lines(text: Text, bad: Bad) -> Iterator[tuple[int, Any]]:
    scan = DECODER.raw_decode
    for number, line in enumerate(_lines(text), 1):
        said = line.strip(" \t\r")
        if not said:
            continue
        try:
            record, end = scan(said)
            if end != len(said):
                raise ValueError(f"more after its end: {shown(said[end:].lstrip())}")
            if "\\u" in said:
                json.dumps(record, ensure_ascii=False).encode()  # half of a character is none
        except (ValueError, RecursionError) as error:
            bad(number, _json_trouble(error))
        else:
            yield number, record


def _of_records(container: str, unit: str, records: Iterator[tuple[int, Any]], bad: Bad) -> Rows:
    """Return the rows of records; the first one that says what it is tells what all are."""
    passed = []
    fields = None
    for line, record in records:
        fields = _fields(record, container)
        if fields is not None:
            break
        passed.append((line, record))
        if len(passed) == MANY:
            break
    if fields is None:
        for line, record in passed:
            bad(line, _no_fields(record))
        return Rows(container, unit, "", iter(()))
    first = iter([*passed, (line, record)])
    return Rows(fields.format, unit, fields.id, _batches(first, records, fields, bad))


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
        return f'expected a record such as {{"question_id": 0, "answer": "yes"}}, got {shown(record)}'
    names = ", ".join(shown(name) for name in list(record)[:8]) or "nothing"
    return f'expected "question_id" and "answer", got {names}'


def _batches(
    first: Iterator[tuple[int, Any]], records: Iterator[tuple[int, Any]], fields: Fields, bad: Bad
) -> Iterator[Batch]:
    for source in (first, records):
        for batch in _batched(source):
            yield _batch(batch, fields, bad)


def _batch(batch: list[tuple[int, Any]], fields: Fields, bad: Bad) -> Batch:
    kept = [row for row in batch if isinstance(row[1], dict) and fields.id in row[1] and fields.said in row[1]]
    if len(kept) != len(batch):
        _tell(batch, fields, bad)
    lines, records = [line for line, _ in kept], [record for _, record in kept]
    ids, said = [record[fields.id] for record in records], [record[fields.said] for record in records]
    if fields.format == "lmms-eval":
        said = [_first_reply(one) for one in said]
    has_letters = fields.format.startswith("vlmevalkit") and any("A" in record for record in records)
    return Batch(lines, ids, said, [_choices(record) for record in records] if has_letters else None)


def _tell(batch: list[tuple[int, Any]], fields: Fields, bad: Bad) -> None:
    for line, record in batch:
        if not isinstance(record, dict):
            bad(line, _no_fields(record))
            continue
        missing = [name for name in (fields.id, fields.said) if name not in record]
        if missing:
            bad(line, f'expected "{fields.id}" and "{fields.said}" as in the records before, got no "{missing[0]}"')


def _first_reply(value: Any) -> Any:
    """Return the first of the replies that lmms-eval lists for a question."""
    while isinstance(value, list) and value:
        value = value[0]
    return value


def _choices(record: Mapping[str, Any]) -> dict[str, str]:
    return {letter: value for letter in LETTERS if isinstance(value := record.get(letter), str) and value}


# Tables and lines


def _table(line: str) -> tuple[str, list[str]] | None:
    """Return delimiter and names of a table by its first line; None where that is none."""
    for delimiter in ("\t", ",", ";"):
        try:
            names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
        except csv.Error:
            continue
        if len(names) > 1 and not {*IDS, *SAID}.isdisjoint(names):
            return delimiter, names
    return None


def _of_table(text: Text, delimiter: str, names: list[str], bad: Bad) -> Rows:
    container = "tsv" if delimiter == "\t" else "csv"
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"expected every column once, got {shown(twice)} twice", line=1)
    fields = _fields(dict.fromkeys(names, ""), container)
    if fields is None:
        got = ", ".join(shown(name) for name in names[:8])
        raise Unreadable(f"expected the columns question_id and answer, got {got}", line=1)
    label = fields.format if fields.format != "tsv" else "csv"
    return Rows(label, "line", fields.id, _cells(text, delimiter, names, fields, bad))


def _cells(text: Text, delimiter: str, names: list[str], fields: Fields, bad: Bad) -> Iterator[Batch]:
    at_id, at_said = names.index(fields.id), names.index(fields.said)
    letters = [(letter, names.index(letter)) for letter in LETTERS if letter in names and fields.said == "prediction"]
    rows = _table_rows(text, delimiter)
    next(rows)
    while batch := list(islice(rows, MANY)):
        kept = [row for row in batch if len(row[1]) == len(names)]
        if len(kept) != len(batch):
            for line, row in batch:
                if len(row) != len(names):
                    bad(line, f"expected {len(names)} columns, got {len(row)}")
        yield Batch(
            [line for line, _ in kept],
            [row[at_id] for _, row in kept],
            [row[at_said] for _, row in kept],
            [{letter: row[at] for letter, at in letters if row[at]} for _, row in kept] if letters else None,
        )


def _table_rows(text: Text, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line at which each row begins, and its cells; empty lines are none."""
    csv.field_size_limit(LONGEST)
    reader = csv.reader((f"{line}\n" for line in _lines(text)), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise Unreadable(f"expected a table, got a row that can't be read ({error})", line=line) from error


def _plain(text: Text, n: int) -> Iterator[Batch]:
    """Yield the answers of a file that has one a line, in question order; empty lines after the last are none."""
    lines = enumerate((line.rstrip("\r") for line in _lines(text)), 1)
    for batch in _batched((number, line) for number, line in lines if number <= n or line):
        yield Batch([number for number, _ in batch], [number - 1 for number, _ in batch], [line for _, line in batch])


def _lines(text: Text) -> Iterator[str]:
    """Yield the lines of a text, without what ends them."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    rest, number = "", 0
    while piece := text.read(PIECE):
        *whole, rest = (rest + decoder.decode(piece)).split("\n")
        number += len(whole)
        if len(rest) > LONGEST:
            raise Unreadable(f"expected at most {LONGEST:,} characters in a line, got more", line=number + 1)
        yield from whole
    if rest:
        yield rest
