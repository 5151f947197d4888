"""Questions for the tests of prediction files, and helpers that read and write the files."""

import io
import json
from typing import Any

import numpy as np

from generation.engine.predictions import BadPredictions, ExpectedAnswers, Predictions, read_predictions

COUNTS = tuple(str(number) for number in range(11))
VOCABULARY = ("yes", "no", "red", "blue", "light blue", "cube", "sphere", *COUNTS)
KINDS = {"exist": ("yes", "no"), "color": ("red", "blue", "light blue"), "shape": ("cube", "sphere"), "count": COUNTS}
ADMITTED = tuple(tuple(VOCABULARY.index(answer) for answer in answers) for answers in KINDS.values())
SOURCES = tuple(f"q-{7 * number % 1009:04}" for number in range(300))


def expected(n: int, *, sources: bool = False) -> ExpectedAnswers:
    """Return the expected answers to `n` questions. Their kinds alternate."""
    names = np.array([name.encode() for name in SOURCES[:n]]) if sources else None
    kinds = np.arange(n, dtype=np.uint8) % len(KINDS)
    return ExpectedAnswers("riddles/val", n, VOCABULARY, names, kinds, ADMITTED)


def right(n: int) -> list[str]:
    """Return one admitted answer for each of `n` questions."""
    return [VOCABULARY[ADMITTED[number % len(KINDS)][number % 2]] for number in range(n)]


def read(content: bytes | str, n: int = 4, *, sources: bool = False) -> Predictions:
    """Read the content as a prediction file for `n` questions."""
    data = content.encode() if isinstance(content, str) else content
    return read_predictions(io.BytesIO(data), expected(n, sources=sources))


def refusal(content: bytes | str, n: int = 4, *, sources: bool = False) -> BadPredictions:
    """Return the error that refuses the content as a prediction file for `n` questions."""
    try:
        read(content, n, sources=sources)
    except BadPredictions as error:
        return error
    raise AssertionError("it was read")


def answers(found: Predictions) -> list[str]:
    """Return the answers that were read, as texts; an answer outside of the vocabulary as it was written."""
    return [VOCABULARY[code] if code >= 0 else found.outside[at] for at, code in enumerate(found.codes.tolist())]


def jsonl(rows: list[Any]) -> str:
    """Return the rows as JSON lines."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)
