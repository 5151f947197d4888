"""Batches are verified in order, in this process or by several processes, and only a few are read ahead."""

import functools
import os
from collections.abc import Iterator

import pytest

from generation.engine.verification.process_pool import AHEAD, Crew


def verify_batch(known: dict[int, str], batch: int) -> tuple[str, int]:
    if batch == 13:
        raise ValueError("thirteen")
    return known.get(batch, "unknown"), os.getpid()


@pytest.mark.parametrize("size", [1, 2])
def test_batches_are_returned_in_order_with_their_results(size: int) -> None:
    with Crew(functools.partial(verify_batch, {1: "one"}), size=size) as crew:
        found = list(crew.prove_all(range(12)))
    assert [(batch, said) for batch, (said, _) in found] == [(n, "one" if n == 1 else "unknown") for n in range(12)]
    assert (os.getpid() in {pid for _, (_, pid) in found}) == (size == 1)


@pytest.mark.parametrize("size", [1, 2])
def test_an_error_in_a_batch_is_raised_in_the_main_process(size: int) -> None:
    with Crew(functools.partial(verify_batch, {}), size=size) as crew, pytest.raises(ValueError, match="thirteen"):
        list(crew.prove_all([12, 13]))


def test_only_a_few_batches_are_read_ahead() -> None:
    read: list[int] = []

    def batches() -> Iterator[int]:
        for batch in range(100, 200):
            read.append(batch)
            yield batch

    with Crew(functools.partial(verify_batch, {}), size=2) as crew:
        next(crew.prove_all(batches()))
        assert len(read) <= 2 * AHEAD + 1
