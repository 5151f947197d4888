"""Questions about counts for the tests of predictions with numbers and boxes, and helpers that read their files."""

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions import BadPredictions, ExpectedAnswers, PredictedBoxes, Predictions, read_predictions
from tests.engine.predictions.asked import SOURCES

MOST = 15
VOCABULARY = tuple(str(count) for count in range(MOST + 1))
WRITTEN = ("jsonl", "json", "json-object")  # formats that have boxes


def expected(n: int, *, sources: bool = False, sizes: Any = None, most_counted: int | None = MOST) -> ExpectedAnswers:
    """Return the expected answers to `n` questions, whose pictures have these widths and heights."""
    return ExpectedAnswers(
        name="heads/val",
        n=n,
        vocabulary=VOCABULARY,
        sources=np.array([name.encode() for name in SOURCES[:n]]) if sources else None,
        kinds=np.zeros(n, np.uint8),
        admitted=(tuple(range(MOST + 1)),),
        most_counted=most_counted,
        sizes=None if sizes is None else np.array(sizes, np.int32).reshape(n, 2),
    )


def read(content: bytes | str, n: int, **more: Any) -> Predictions:
    """Read the content as a prediction file for `n` questions."""
    data = content.encode() if isinstance(content, str) else content
    return read_predictions(io.BytesIO(data), expected(n, **more))


def refusal(content: bytes | str, n: int, **more: Any) -> BadPredictions:
    """Return the error that refuses the content as a prediction file for `n` questions."""
    try:
        read(content, n, **more)
    except BadPredictions as error:
        return error
    raise AssertionError("it was read")


def rows(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records with the ids 0, 1 and so on, and the answer 1 where there is none."""
    return [{"question_id": number, "answer": 1, **record} for number, record in enumerate(records)]


def write(records: list[dict[str, Any]], form: str) -> str:
    """Return the text of a file with these records in a format of `WRITTEN`."""
    if form == "jsonl":
        return "".join(json.dumps(record) + "\n" for record in records)
    if form == "json":
        return json.dumps(records, indent=1)
    by_id = {record["question_id"]: {k: v for k, v in record.items() if k != "question_id"} for record in records}
    return json.dumps(by_id)


def boxes_of(found: PredictedBoxes, position: int) -> tuple[list[list[float]], list[float]]:
    """Return the boxes and the scores of a question."""
    first, end = found.starts[position], found.starts[position + 1]
    return found.boxes[first:end].tolist(), found.scores[first:end].tolist()


def as_float32(values: Any) -> Any:
    """Return numbers as they are stored."""
    array: NDArray[np.float32] = np.array(values, np.float32)
    return array.tolist()
