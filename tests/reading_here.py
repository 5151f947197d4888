"""Reads imports in the process of the test, in modules about what comes after the reading.

To start the process that reads takes longer than to read a small file, and an import starts it once for each split and
once more. The process itself is tested by hostile files, by its death, and by the tests of each world's site (in the
gate, of some worlds).
"""

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from generation.making import import_process, import_sandbox
from generation.making.import_sandbox import ReadingOrder

STARTED = import_sandbox.CHILD


@pytest.fixture
def reads_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read imports in this process, with copies of what the processes send; another process that a test sets is run."""
    answers_of_process = import_sandbox._answers

    def answers(order: ReadingOrder, **limits: Any) -> Iterator[Any]:
        if import_sandbox.CHILD != STARTED:
            yield from answers_of_process(order, **limits)
            return
        for answer in import_process.answers(pickle.loads(pickle.dumps(order))):
            yield import_sandbox._load(pickle.dumps(answer))

    monkeypatch.setattr(import_sandbox, "_answers", answers)
