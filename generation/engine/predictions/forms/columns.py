"""The columns of a prediction file: which one has the ids of questions, and which one the answers of the model.

The right answers are never taken for answers of a model. So the columns are chosen only if there is one choice: a file
with `answer` and another column that looks like a reply is refused with the question which of them counts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import UnreadableFile
from generation.engine.predictions.forms import tool_records
from generation.engine.predictions.forms.column_names import (
    KEY,
    find_ids,
    is_answer,
    is_reply,
    may_be_reply,
    plain_name,
)

LISTED = 8  # columns that a message names
DEEPEST = 4  # objects inside one another in which replies are looked for
INPUTS = ("image", "images", "image_id")
ASKED = ("prompt", "question")
WITHOUT_REPLIES = ("doc", "metadata", "usage", "arguments", "program", "facets", "scene", "story")

Record = Mapping[str, Any]


class UnclearColumn(UnreadableFile):
    """It is not clear which column has the answers of the model. `columns` has the possible ones."""

    def __init__(self, reason: str, columns: Iterable[str], *, line: int | None = None, unit: str = "line") -> None:
        super().__init__(reason, line=line, unit=unit)
        self.columns = tuple(columns)


class Columns(NamedTuple):
    """The chosen columns.

    Attributes
    ----------
    id : str
    answer : str
        The name of the column of answers, or the names on the way to it, with dots between them.
    format : str
    take : callable
        Returns the answer in a record; raises `LookupError` if it has none, and `NoAnswer` if it cannot be one.
    own : frozenset of str
        Names that look like replies, but have another meaning in this format.
    """

    id: str
    answer: str
    format: str
    take: Callable[[Record], Any]
    own: frozenset[str] = frozenset()


def choose(record: Any, form: str, *, column: str = "") -> Columns | None:
    """Return the columns of a record in a file of this form; None if it has no id or no answer.

    `column` is the column of answers that the user named. Raises `UnclearColumn` if there are several choices.
    """
    ids = find_ids(record) if isinstance(record, dict) else []
    if not ids:
        return None
    name = "csv" if form == "tsv" else form
    found = _possible(record)
    tool = tool_records.tool_of(record, form, found)
    if tool is not None and column in ("", tool.answer):
        return Columns(tool.id, tool.answer, tool.format, tool.take, tool.own)
    if column:
        answer = _named(record, column)
        return None if answer is None else Columns(ids[0], answer, name, tool_records.unwrapped(answer, _at(answer)))
    nested = list(_nested(record)) if len(found) != 1 or is_answer(found[0]) else []
    if len(found) == 1 and isinstance(record[found[0]], dict | list):
        found = list(_inside(record, found[0])) or found
    if len(found := [*found, *(path for path in nested if path.partition(".")[0] not in found)]) > 1:
        raise unclear(found)
    return Columns(ids[0], found[0], name, tool_records.unwrapped(found[0], _at(found[0]))) if found else None


def unclear(names: Iterable[str]) -> UnclearColumn:
    """Return the error for a file with several columns that may have the answers of the model."""
    several = list(names)
    told = " and ".join([", ".join(map(quote, several[:-1][:LISTED])), quote(several[-1])])
    question = "which one is it? Name it with --column NAME, or choose it in the form"
    return UnclearColumn(f"expected one column with the answers of the model, got {told}: {question}", several)


def may_compete(name: str, columns: Columns) -> bool:
    """Return whether a column may have answers of the model besides the chosen one."""
    return name not in (columns.id, columns.answer) and name not in columns.own and (is_reply(name) or is_answer(name))


def unknown_columns(record: Record, columns: Columns, known: frozenset[str]) -> list[str]:
    """Return the columns of texts whose meaning is not known, without those of `known`, a split's exports."""
    return [
        name
        for name, value in record.items()
        if isinstance(value, str) and name != columns.id and name not in known and may_be_reply(name)
    ]


def describe_missing(record: Any, column: str = "") -> str:
    """Return what is wrong with a record that has no id or no answer."""
    if not isinstance(record, dict):
        return f'expected a record such as {{"question_id": 0, "answer": "yes"}}, got {quote(record)}'
    if column:
        return f"expected a column of ids and the column {quote(column)}, got {listed(record)}"
    hint = ": name the column of answers with --column NAME" if find_ids(record) and len(record) > 1 else ""
    return f'expected "question_id" and "answer", got {listed(record)}{hint}'


def listed(names: Iterable[str]) -> str:
    """Return the first names for a message, in quotes."""
    return ", ".join(quote(name) for name in [name for name in names if name != KEY][:LISTED]) or "nothing"


def _possible(record: Record) -> list[str]:
    """Return the columns that may have answers of a model.

    In LLaVA's files of questions, which have images and no prompt, `text` is the question.
    """
    names = [name for name in record if is_answer(name) or is_reply(name)]
    if any(name in record for name in INPUTS) and not any(name in record for name in ASKED):
        return [name for name in names if name != "text"]
    return names


def _nested(record: Record, path: str = "", depth: int = DEEPEST) -> Iterator[str]:
    """Yield the way to each value in the objects of a record whose name looks like a reply."""
    for name, value in record.items():
        if name in WITHOUT_REPLIES or not depth:
            continue
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            name, value = f"{name}.0", value[0]
        if isinstance(value, dict):
            yield from _nested(value, f"{path}{name}.", depth - 1)
        elif path and is_reply(name):
            yield f"{path}{name}"


def _inside(record: Record, name: str) -> Iterator[str]:
    """Yield the way to each answer in a column of objects, such as `outputs.0.text`."""
    value, path = record[name], name
    if isinstance(value, list) and len(value) == 1:
        value, path = value[0], f"{name}.0"
    if isinstance(value, dict):
        yield from (f"{path}.{one}" for one in value if is_answer(one) or is_reply(one))


def _named(record: Record, column: str) -> str | None:
    """Return the column of a record that a user named; None if it has none."""
    same = [name for name in record if name == column] or [
        name for name in record if plain_name(name) == plain_name(column) and name != KEY
    ]
    if len(same) == 1:
        return same[0]
    try:
        _at(column)(record)
    except LookupError:
        return None
    return column


def _at(path: str) -> Callable[[Record], Any]:
    """Return a function that returns the value of a column, or the value at the end of a way with dots."""
    steps = path.split(".")

    def take(record: Record) -> Any:
        if path in record:
            return record[path]
        value: Any = record
        for step in steps:
            is_place = isinstance(value, list) and step.isascii() and step.isdigit()
            if not is_place and not isinstance(value, dict):
                raise LookupError(step)
            value = value[int(step) if is_place else step]
        return value

    return take
