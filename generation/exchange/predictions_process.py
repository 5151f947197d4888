"""The child process that reads one file of predictions: given a pickled request, it writes an answer.

The answer is a line of JSON, then the packed predictions, or where they are refused every finding as a line of text.
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
    """A file, and the questions that it has to answer."""

    path: Path
    expected: ExpectedAnswers


def answer(request: CheckRequest) -> tuple[dict[str, object], bytes]:
    """Return the head of the answer, and the file's predictions or findings."""
    try:
        with request.path.open("rb") as file:
            found = read_predictions(file, request.expected)
    except BadPredictions as error:
        lines = list(error.findings.lines()) if error.findings is not None else []
        counts = error.findings.counts if error.findings is not None else {}
        return {"refused": error.reason, "where": error.where, "counts": counts}, "\n".join([*lines, ""]).encode()
    said: dict[str, object] = {"format": found.format, "packing": found.packing}
    return said, pack(found.codes, found.read, found.outside)


def main() -> None:
    """Answer the request of the parent process."""
    request = CheckRequest(*pickle.load(sys.stdin.buffer))  # noqa: S301 - our own process wrote it
    head, content = answer(request)
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
    sys.stdout.buffer.write(content)


if __name__ == "__main__":
    main()
