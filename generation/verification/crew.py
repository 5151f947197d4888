"""Processes that prove batches: forked from this one once everything is compiled, each with its own connection."""

import multiprocessing
import signal
from collections.abc import Iterable, Iterator
from multiprocessing.pool import Pool

from django.db import connections

from generation.verification.rows import BatchTask, ChunkProof, prove_chunk


class VerificationCrew:
    """Some processes; with one, work is done in this process."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.pool: Pool | None = None

    def __enter__(self) -> "VerificationCrew":
        if self.size > 1:
            connections.close_all()  # what is forked must open its own
            self.pool = multiprocessing.get_context("fork").Pool(self.size, initializer=_begin)
        return self

    def __exit__(self, *error: object) -> None:
        if self.pool is not None:
            self.pool.terminate()
            self.pool.join()

    def prove(self, tasks: Iterable[BatchTask]) -> Iterator[ChunkProof]:
        return map(prove_chunk, tasks) if self.pool is None else self.pool.imap(prove_chunk, tasks)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
