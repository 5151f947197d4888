"""Compilation with numba: cached for later processes, exact arithmetic, IEEE division by zero."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import event

config: Any = numba.config
HERE = Path(__file__).parent


def digest_of(files: Iterable[Path]) -> str:
    """Return a short digest of source files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def compiler(name: str, *, files: Iterable[Path], is_inlined: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function on its first call and caches the machine code on disk.

    numba decides whether cached code is up to date from the function's own file only, although constants and functions
    of other files are compiled into it. Therefore the cache folder is named by a digest of all `files`.

    With `is_inlined`, the function becomes part of each function that calls it: numba counts the references to each
    array that is passed, so a call with many arrays can take longer than what it computes.
    """
    folder = f"{name}-{digest_of(files)}"

    def compiled(function: Callable[..., Any]) -> Any:
        outer = config.CACHE_DIR
        config.CACHE_DIR = str(Path(outer or HERE / "__pycache__", folder))
        try:
            return numba.njit(cache=True, error_model="numpy", inline="always" if is_inlined else "never")(function)
        finally:
            config.CACHE_DIR = outer

    return compiled


@contextmanager
def watch(say: Callable[[str], None]) -> Iterator[None]:
    """Call `say` with the name of each function that is compiled in this block. Cached functions are not reported."""
    with event.install_listener("numba:compile", _Listener(say)):
        yield


class _Listener(event.Listener):
    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say

    def on_start(self, event: Any) -> None:
        self.say(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: Any) -> None:
        """Do nothing."""
