"""The replies of a model: reads a file of JSON lines, one record for each attempt, as `static/ask.py` writes them.

Reading is strict, because figures of boards are computed from the records: a file with a wrong number, an unknown
state, or two records of one attempt is refused. Unknown fields are ignored.
"""

import json
import re
import tempfile
from array import array
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeGuard

import numpy as np

from generation.engine.errors import BadReplies
from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import LARGEST, RATIO, UnreadableFile, unpack
from generation.engine.predictions.forms.json_files import json_trouble, once
from generation.engine.predictions.forms.rows import lines_of
from generation.engine.predictions.packed_replies import ANSWERED, STATES, ReplyWriter, StoredRecord

LONGEST_LINE = 32 << 20  # characters of a record
LEAST_ROOM = 128 << 20  # bytes of text that every file may have
EACH_ROOM = 64 << 10  # further bytes for each question
EACH_MOST = 200  # records of a question: its variants, epochs and attempts
LARGEST_COUNT = 10**9  # of tokens
LARGEST_NUMBER = 10**6  # of seconds, of US dollars, of attempts
LONGEST_TEXT = 200  # characters of the short texts
LONGEST_ERROR = 2000  # characters of an error's text that are kept
SURROGATE = re.compile("[\ud800-\udfff]")
FORMAT = "Format: /docs/predictions/#replies"


class ReadReplies(NamedTuple):
    """A file of replies that was read: the digest of the packed file, and the number of its records."""

    digest: str
    records: int


def read_replies(file: BinaryIO, target: Path, *, n: int, where: str = "") -> ReadReplies:
    """Read a file of replies and write it packed; `PackedReplies` reads it again.

    Parameters
    ----------
    file : binary file
        JSON lines, plain or packed with gzip or zip. It is read from its current position; a zip must be seekable.
    target : Path
        The packed file, which is on the disk when the function returns.
    n : int
        The number of questions of the split.
    where : str
        The name of the split, for messages.

    Returns
    -------
    ReadReplies

    Raises
    ------
    BadReplies
        If the file cannot be read, or a record is wrong; the message names the line.
    """
    try:
        text, _ = unpack(file, most=partial(room, n), what="replies")
        with tempfile.TemporaryFile(dir=target.parent) as spool:
            kept = _spooled(lines_of(text, longest=LONGEST_LINE), spool, n)
            with target.open("wb") as packed:
                writer = ReplyWriter(packed, n)
                for question, records in _by_question(kept, spool):
                    writer.add(question, records)
                return ReadReplies(writer.finish(), len(kept.questions))
    except UnreadableFile as error:
        place = "" if error.line is None else f"line {error.line:,} of the replies: "
        message = f"{place}{error.reason}. {FORMAT}"
        raise BadReplies(message[:1].upper() + message[1:], where=where) from error


def room(n: int, packed: int) -> int:
    """Return the largest number of bytes of text for `n` questions and a number of packed bytes."""
    return min(LARGEST, LEAST_ROOM + EACH_ROOM * n + RATIO * packed)


class _Spool(NamedTuple):
    """For each record its question, and the place of its end in the spool."""

    questions: "array[int]"
    ends: "array[int]"


def _spooled(lines: Iterator[str], spool: BinaryIO, n: int) -> _Spool:
    """Write the records of a file to a spool, in the order of the file; raise `UnreadableFile`."""
    kept = _Spool(array("i"), array("q"))
    known: dict[tuple[Any, ...], int] = {}
    shared: dict[str, str] = {}
    counts = np.zeros(n, np.int32)
    for number, line in enumerate(lines, 1):
        said = line.strip(" \t\r")
        if not said:
            continue
        try:
            record = _record(json.loads(said, object_pairs_hook=once, parse_constant=_refuse_constant), n)
            content = json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise UnreadableFile(_trouble(error), line=number) from error
        _check_shared(shared, record, number)
        name = tuple(record[field] for field in ("question", "variant", "epoch", "attempt", "time"))
        if (first := known.setdefault(name, number)) != number:
            told = "question {}, variant {}, epoch {}, attempt {}".format(*name[:4])
            reason = f"expected one record of each attempt, got a second one of {told}; the first is in line {first:,}"
            raise UnreadableFile(reason, line=number)
        counts[record["question"]] += 1
        if counts[record["question"]] > EACH_MOST:
            raise UnreadableFile(f"expected at most {EACH_MOST} records of a question, got more", line=number)
        spool.write(content)
        kept.questions.append(record["question"])
        kept.ends.append(spool.tell())
    if not kept.questions:
        raise UnreadableFile("expected replies, got an empty file")
    return kept


def _trouble(error: ValueError | RecursionError) -> str:
    return str(error) if isinstance(error, BadField) else json_trouble(error)


def _check_shared(shared: dict[str, str], record: StoredRecord, number: int) -> None:
    """Raise `UnreadableFile` if a record has another form or model than the first one."""
    for field in ("form", "model"):
        first = shared.setdefault(field, record[field])
        if record[field] != first:
            got = f"{quote(first)} and {quote(record[field])}"
            raise UnreadableFile(f"expected the same {field} in each record, got {got}", line=number)


def _by_question(kept: _Spool, spool: BinaryIO) -> Iterator[tuple[int, list[StoredRecord]]]:
    """Yield each question that has records, in order, with its records in the order of the file."""
    questions, ends = np.array(kept.questions), np.array(kept.ends)
    order = np.argsort(questions, kind="stable")
    starts = np.concatenate([[0], ends[:-1]])
    breaks = np.flatnonzero(np.diff(questions[order])) + 1
    for rows in np.split(order, breaks):
        records = []
        for row in rows.tolist():
            spool.seek(int(starts[row]))
            records.append(json.loads(spool.read(int(ends[row] - starts[row]))))
        yield int(questions[rows[0]]), records


# A record


class BadField(ValueError):
    """A field of a record is wrong."""


def _refuse_constant(name: str) -> Any:
    raise BadField(f"expected finite numbers, got {name}")


def _record(value: Any, n: int) -> StoredRecord:
    """Return the known fields of a record; raise `BadField` if one is wrong."""
    if not isinstance(value, dict):
        raise BadField(f'expected a record such as {{"question": 0, "state": "answered", ...}}, got {quote(value)}')
    question = value.get("question")
    if not _is_whole(question) or not 0 <= question < n:
        raise BadField(f"expected a question from 0 to {n - 1:,}, got {quote(question)}")
    state = value.get("state")
    if state not in STATES:
        raise BadField(f"expected one of the states {', '.join(STATES)}, got {quote(state)}")
    reply = value.get("reply")
    if reply is not None and not isinstance(reply, str):
        raise BadField(f"expected a text or null as reply, got {quote(reply)}")
    if state == ANSWERED and not (reply or "").strip():
        raise BadField("expected a reply with text for the state answered, got none")
    found: StoredRecord = {
        "question": int(question),
        "form": _text(value, "form") or "plain",
        "variant": _whole(value, "variant", 0),
        "epoch": _whole(value, "epoch", 0),
        "attempt": _whole(value, "attempt", 1),
        "state": state,
        "reply": _plain(reply),
        "reasoning": _plain(_reasoning(value.get("reasoning"))),
        "finish_reason": _text(value, "finish_reason"),
        "usage": _usage(value.get("usage")),
        "latency": _number(value, "latency"),
        "cost": _number(value, "cost"),
        **{name: _text(value, name) for name in ("model", "served_model", "time")},
        "error": _text(value, "error", longest=None),
    }
    return found


def _plain(text: str | None) -> str | None:
    """Return a text with a mark in place of each half of a surrogate pair, which cannot be stored."""
    return None if text is None else SURROGATE.sub("\ufffd", text)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(record: Mapping[str, Any], name: str, usual: int) -> int:
    value = record.get(name, usual)
    if not _is_whole(value) or not 0 <= value <= LARGEST_NUMBER:
        raise BadField(f"expected a whole number from 0 to {LARGEST_NUMBER:,} as {name}, got {quote(value)}")
    return int(value)


def _number(record: Mapping[str, Any], name: str) -> float | None:
    value = record.get(name)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= LARGEST_NUMBER:
        raise BadField(f"expected a number from 0 to {LARGEST_NUMBER:,} as {name}, got {quote(value)}")
    return float(value)


def _text(record: Mapping[str, Any], name: str, *, longest: int | None = LONGEST_TEXT) -> str:
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or (longest is not None and len(value) > longest):
        raise BadField(f"expected a text of at most {longest or LARGEST:,} characters as {name}, got {quote(value)}")
    return SURROGATE.sub("\ufffd", value[:LONGEST_ERROR])


def _usage(value: Any) -> dict[str, int] | None:
    """Return the tokens of a request; other fields of the server are left out."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadField(f"expected a JSON object or null as usage, got {quote(value)}")
    found = {}
    for name in ("prompt_tokens", "completion_tokens"):
        count = value.get(name)
        if count is None:
            continue
        is_whole = _is_whole(count) or (isinstance(count, float) and count.is_integer())
        if not is_whole or not 0 <= count <= LARGEST_COUNT:
            raise BadField(f"expected a whole number from 0 to {LARGEST_COUNT:,} as {name}, got {quote(count)}")
        found[name] = int(count)
    return found or None


def _reasoning(value: Any) -> str | None:
    """Return reasoning as one text: the texts of the server's fields, one after the other, without repeats."""
    if value is None or isinstance(value, str):
        return value
    parts = list(value.values()) if isinstance(value, dict) else [value]
    texts = [part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in parts if part]
    return "\n\n".join(dict.fromkeys(texts)) or None
