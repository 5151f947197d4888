"""The columns of a prediction file: which one has the ids of questions, and which one the answers."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from generation.engine.predictions.answer_values import quote

IDS = ("question_id", "question_index", "questionId", "index", "doc_id")
ANSWERS = ("prediction", "answer")
KEY = ""  # the name of the column of ids in an object that maps ids to answers


class Columns(NamedTuple):
    """The names of the columns of ids and answers, and the format that they belong to."""

    id: str
    answer: str
    format: str


def choose(record: Any, form: str) -> Columns | None:
    """Return the columns that a record has, in a file of this form; None if one is missing."""
    if not isinstance(record, dict):
        return None
    if "doc_id" in record and "filtered_resps" in record:
        return Columns("doc_id", "filtered_resps", "lmms-eval")
    answer = next((name for name in ANSWERS if name in record), None)
    ids = (KEY,) if form == "json-object" else IDS
    name = next((name for name in ids if name in record), None)
    if name is None or answer is None:
        return None
    if (name, answer) == ("index", "prediction"):
        return Columns(name, answer, f"vlmevalkit-{form}")
    return Columns(name, answer, "csv" if form == "tsv" else form)


def describe_missing(record: Any) -> str:
    """Return what is wrong with a record that has no id or no answer."""
    if not isinstance(record, dict):
        return f'expected a record such as {{"question_id": 0, "answer": "yes"}}, got {quote(record)}'
    return f'expected "question_id" and "answer", got {listed(record)}'


def listed(names: Iterable[str]) -> str:
    """Return the first names for a message, in quotes."""
    return ", ".join(quote(name) for name in [name for name in names if name != KEY][:8]) or "nothing"
