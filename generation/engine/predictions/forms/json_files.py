"""Prediction files of JSON: a list of records, lines, or one object that maps ids to answers."""

import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import TextReader, UnreadableFile
from generation.engine.predictions.forms.column_names import ANSWER, KEY, find_ids, is_known
from generation.engine.predictions.forms.rows import LONGEST, Bad, FileRecords, PredictionRow, lines_of
from generation.engine.reading.json_stream import JsonText


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return these pairs as an object; raise ValueError if a name occurs twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"the name {quote(first_again(name for name, _ in pairs))} occurs twice")
    return found


def first_again(names: Iterable[str]) -> str:
    """Return the first name that repeats an earlier one; raise ValueError if there is none."""
    known: set[str] = set()
    for name in names:
        if name in known:
            return name
        known.add(name)
    raise ValueError("Expected a name that occurs twice, got none.")


DECODER = json.JSONDecoder(object_pairs_hook=once)
NAME = r'"([^"\\]{1,60})"'
BY_COLUMNS = re.compile(rf'\{{\s*{NAME}\s*:\s*(?:\[(?!\s*\{{)|\{{\s*"[0-9]+"\s*:)')
LIST_WITHIN = re.compile(rf'\{{(?:\s*{NAME}\s*:\s*(?:"[^"]*"|[\w.+-]+)\s*,){{0,20}}\s*{NAME}\s*:\s*\[\s*\{{')


def json_list(text: TextReader) -> FileRecords:
    """Return the records of a file that is one list."""
    whole = JsonText(text, decoder=DECODER, longest=LONGEST)
    return FileRecords("json", "record", _numbered(whole, whole.elements()))


def json_object(text: TextReader, head: str, bad: Bad, *, skipped: int = 0) -> FileRecords:
    """Return the records of a file that begins with an object: one for each line, or one for each pair of the object.

    A pair is a record with the id under `KEY`: the object of the pair, or its value as the answer. `skipped` is the
    number of lines before the object, which are comments.
    """
    wanted = "expected records or an object that maps ids to answers, got"
    if (found := BY_COLUMNS.match(head)) and is_known(found[1]):
        raise UnreadableFile(f"{wanted} a table by columns, as pandas writes it: use to_json(orient='records')")
    if (found := LIST_WITHIN.match(head)) and not _has_id(head[: found.end(2)]):
        raise UnreadableFile(f"{wanted} an object with a list of records in {quote(found[2])}: submit only the list")
    if _is_record(head):
        return FileRecords("jsonl", "line", _parsed_lines(text, bad, skipped))
    if skipped:
        raise UnreadableFile("expected JSON, got a comment before it: delete the comment", line=1)
    whole = JsonText(text, decoder=DECODER, longest=LONGEST)

    def records() -> Iterator[Any]:
        for name, value in whole.pairs():
            yield {**value, KEY: name} if isinstance(value, dict) else {KEY: name, ANSWER: value}
        whole.end()

    return FileRecords("json-object", "record", _numbered(whole, records()))


def _has_id(head: str) -> bool:
    return bool(find_ids(re.findall(rf"{NAME}\s*:", head)))


def _is_record(head: str) -> bool:
    """Return whether the first JSON object of a text has an id or an answer, or is followed by more objects.

    The text may end within the object, for example within its boxes.
    """
    text = JsonText(io.BytesIO(head.encode()), decoder=DECODER)
    try:
        return any(is_known(name) for name, _ in text.pairs()) or text.has_more()
    except (ValueError, RecursionError):
        return False


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


def _parsed_lines(text: TextReader, bad: Bad, skipped: int) -> Iterator[PredictionRow]:
    scan = DECODER.raw_decode
    for number, line in enumerate(lines_of(text), 1):
        said = line.strip(" \t\r")
        if not said or number <= skipped:
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
