"""Calls of tests need no new memory, however deep they are."""

import resource
import threading
from collections.abc import Callable

from tests.call_stack import with_room

CALLS = 1000
DEPTH = 400  # the frames of this many calls do not fit into one of CPython's usual pieces of memory


def nothing() -> None:
    pass


def worst(depth: int = DEPTH) -> int:
    """Return the number of page faults of many calls, at the depth from here on where it is the largest."""
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(CALLS):
        nothing()
    faults = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
    return max(faults, worst(depth - 1)) if depth else faults


@with_room
def worst_with_room() -> int:
    return worst()


def in_thread(count: Callable[[], int]) -> int:
    """Return the result of a function in a new thread, whose call stack is empty."""
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(count()))
    thread.start()
    thread.join()
    return results[0]


def test_calls_of_a_test_need_no_new_memory_at_any_depth() -> None:
    assert worst() < CALLS / 2


def test_calls_without_room_need_new_memory_at_some_depth() -> None:
    assert in_thread(worst) >= CALLS
    assert in_thread(worst_with_room) < CALLS / 2
