"""Compilation with numba: cached for later processes, exact arithmetic, IEEE division by zero.

Modules with compiled functions take `njit` from here, so that `compilation_watch` reports what they compile.
"""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from generation.engine.compilation_watch import report

config: Any = numba.config
njit: Any = numba.njit
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
            return njit(cache=True, error_model="numpy", inline="always" if is_inlined else "never")(function)
        finally:
            config.CACHE_DIR = outer

    return compiled


class _Reporter(event.Listener):
    def on_start(self, event: Any) -> None:
        report(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Reporter())
