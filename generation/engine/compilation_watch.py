"""Watching what is compiled, without loading numba: that takes longer than many commands, which compile nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_watchers: list[Callable[[str], None]] = []


@contextmanager
def watch(say: Callable[[str], None]) -> Iterator[None]:
    """Call `say` with the name of each function that is compiled in this block. Cached functions are not reported."""
    _watchers.append(say)
    try:
        yield
    finally:
        _watchers.remove(say)


def report(name: str) -> None:
    """Tell all watchers that the function with this name is being compiled; `numba_compiler` calls this."""
    for say in tuple(_watchers):
        say(name)
