"""Processes that prove batches of a dataset or a folder. They are forked after everything is compiled."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.pool import AsyncResult, Pool
from typing import Any, Generic, TypeVar

Batch = TypeVar("Batch")
Result = TypeVar("Result")

AHEAD = 3  # waiting batches for each process


class Crew(Generic[Batch, Result]):
    """Several processes that prove batches. With size 1, this process does the work.

    Parameters
    ----------
    prove : callable
        Returns the result of a batch. Processes get it, with all its data, when they are forked. After that they get
        only batches.
    size : int
    """

    def __init__(self, prove: Callable[[Batch], Result], *, size: int) -> None:
        self.prove, self.size = prove, size
        self.pool: Pool | None = None

    def __enter__(self) -> "Crew[Batch, Result]":
        if self.size > 1:
            self.pool = multiprocessing.get_context("fork").Pool(self.size, _begin, (self.prove,))
        return self

    def __exit__(self, *error: object) -> None:
        if self.pool is not None:
            self.pool.terminate()
            self.pool.join()

    def prove_all(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Result]]:
        """Yield each batch with its result, in order. Only few batches are read ahead."""
        if self.pool is None:
            yield from ((batch, self.prove(batch)) for batch in batches)
            return
        waiting: deque[tuple[Batch, AsyncResult[Result]]] = deque()
        for batch in batches:
            waiting.append((batch, self.pool.apply_async(_prove, (batch,))))
            if len(waiting) > AHEAD * self.size:
                first, result = waiting.popleft()
                yield first, result.get()
        for first, result in waiting:
            yield first, result.get()


_PROVE: list[Callable[[Any], Any]] = []  # the function that a forked process applies to a batch


def _begin(prove: Callable[[Any], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _PROVE[:] = [prove]


def _prove(batch: Any) -> Any:
    return _PROVE[0](batch)
