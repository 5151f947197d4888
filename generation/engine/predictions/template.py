"""Template files of predictions, which have an empty answer for every question."""

import json
from collections.abc import Iterator

from generation.engine.errors import BadPredictions
from generation.engine.predictions.expected_answers import ExpectedAnswers

FORMATS = ("json", "jsonl", "csv")


def template(expected: ExpectedAnswers, format: str = "jsonl") -> Iterator[bytes]:
    """Yield a template with one row for each question; raise `BadPredictions` if the format is unknown."""
    if format not in FORMATS:
        raise BadPredictions(f"Expected one of {', '.join(FORMATS)}, got {format!r}.", where="format")
    if format == "csv":
        yield b"question_id,answer\n"
    if format == "json":
        yield b"[\n"
    for position in range(expected.n):
        if format == "csv":
            yield b"%d,\n" % position
            continue
        row = json.dumps({"question_id": position, "answer": ""})
        comma = "," if format == "json" and position < expected.n - 1 else ""
        yield f"{row}{comma}\n".encode()
    if format == "json":
        yield b"]\n"
