"""Room for the calls of a test in one piece of memory, because Python is slow where its call stack leaves a piece.

CPython keeps the frames of calls in pieces of 16 KB. It maps a new piece when a call does not fit, and unmaps it when
this call returns. A loop at the end of a piece does both for each call. For deep stacks, such as those of requests to
the site, this took a third of the processor time. A piece has at least twice the size of the call that does not fit.
"""

from typing import TypeVar

import pytest
from _pytest import runner

Function = TypeVar("Function")
SLOTS = 1 << 17  # of 8 bytes; the piece is twice as large: 2 MB, of which only the used part is in memory


def with_room(function: Function) -> Function:
    """Make the frame of this function so large that the calls below it fit into the same piece of memory."""
    code = function.__code__  # type: ignore[attr-defined]
    function.__code__ = code.replace(co_stacksize=SLOTS)  # type: ignore[attr-defined]
    return function


@pytest.hookimpl(tryfirst=True)
@with_room
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test as pytest does."""
    return runner.pytest_runtest_protocol(item, nextitem)
