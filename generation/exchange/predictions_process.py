"""The child process that reads one file of predictions. It reads a pickled request and writes an answer.

The answer is a line of JSON, followed by the packed predictions. If the file is refused, every finding follows instead,
as a line of text.
"""

import json
import pickle
import sys
from pathlib import Path
from typing import NamedTuple

from generation.engine.errors import BadPredictions
from generation.engine.predictions import ExpectedAnswers, read_predictions
from generation.engine.predictions.packed_predictions import pack


class CheckRequest(NamedTuple):
    path: Path
    expected: ExpectedAnswers
    column: str = ""


def answer(request: CheckRequest) -> tuple[dict[str, object], bytes]:
    """Return the head of the answer, and the packed predictions or the findings."""
    try:
        with request.path.open("rb") as file:
            found = read_predictions(file, request.expected, column=request.column)
    except BadPredictions as error:
        lines = list(error.findings.lines()) if error.findings is not None else []
        counts = error.findings.counts if error.findings is not None else {}
        said: dict[str, object] = {
            "refused": error.reason,
            "where": error.where,
            "counts": counts,
            "columns": error.columns,
        }
        return said, "\n".join([*lines, ""]).encode()
    return {"format": found.format, "packing": found.packing}, pack(
        found.codes, found.read, found.outside, numbers=found.numbers, boxes=found.boxes
    )


def main() -> None:
    """Read the request of the parent process and write the answer."""
    request = CheckRequest(*pickle.load(sys.stdin.buffer))  # noqa: S301 - the parent process wrote it
    head, content = answer(request)
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
    sys.stdout.buffer.write(content)


if __name__ == "__main__":
    main()
