"""Compiling numba kernels in advance, before processes fork or wait for one another.

Functions import numba and modules with kernels where they use them: all commands import this module, and loading numba
takes longer than many of them.
"""

import hashlib
import pickle
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
from django.conf import settings

HOME = settings.BASE_DIR / "generation"
SOURCES = [HOME / "engine", HOME / "storage" / "split_index_steps.py"]


def warm_world(name: str, *, draws: bool) -> None:
    if not _mark().exists():
        _drop_unreadable_indexes()
    import_module("generation.engine.precompilation").warm([name], draws=draws)


def warm() -> None:
    """Compile every numba kernel that is not compiled yet. NUMBA_CACHE_DIR keeps the kernels, and a file as a mark."""
    mark = _mark()
    if not mark.exists():
        _drop_unreadable_indexes()
        _compile_all()
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _mark() -> Path:
    folder: Path = settings.NUMBA_CACHE_DIR
    return folder / f"warm-{_digest()}"


def _drop_unreadable_indexes() -> None:
    """Delete numba's index files that name a class which no longer exists.

    An older release wrote them. numba compiles again if a source file is newer than its index, but it reads the index
    first and ends with the error.
    """
    for index in settings.NUMBA_CACHE_DIR.rglob("*.nbi"):
        try:
            with index.open("rb") as file:
                pickle.load(file)  # noqa: S301 - numba's own files: its version, then stamp and signatures
                pickle.load(file)  # noqa: S301
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            index.unlink(missing_ok=True)


def _digest() -> str:
    """Return a digest of everything whose change makes numba compile again: sources, Python, numba and processor."""
    import numba
    from llvmlite.binding import get_host_cpu_name

    files = [path for source in SOURCES for path in (source.rglob("*.*") if source.is_dir() else [source])]
    sources = sorted(f"{path} {path.stat().st_mtime_ns}" for path in files if path.suffix in (".py", ".json"))
    known = (sys.version, numba.__version__, get_host_cpu_name(), *sources)
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]


def _compile_all() -> None:
    from generation.engine.scoring.counts.grounding import ScoredBoxes, TrueBoxes, match_boxes
    from generation.engine.scoring.nearest_questions import KnownQuestions, bags_of

    _warm_pages()
    bags = bags_of([np.arange(2, dtype=np.uint32)], questions=2)
    KnownQuestions(bags, np.ones(2, dtype=np.bool_), words=1).nearest(bags, np.arange(2))
    starts, boxes = np.array([0, 1]), np.array([[0.0, 0.0, 1.0, 1.0]])
    match_boxes(ScoredBoxes(starts, boxes, np.ones(1)), TrueBoxes(starts, boxes))
    import_module("generation.engine.precompilation").warm()


def load_for_pages() -> None:
    """Load numba and the kernels that pages need, before a server's processes fork."""
    import_module("generation.storage.split_index_steps")
    # Compiling them would take too long at a start.
    if any(settings.NUMBA_CACHE_DIR.rglob("split_index_steps.*.nbc")):
        _warm_pages()


def _warm_pages() -> None:
    from generation.storage.split_index_steps import count_codes, mark_codes

    marks = np.zeros(1, dtype=np.uint8)
    for dtype in (np.uint8, np.uint16):
        codes = np.zeros(1, dtype=dtype)
        size = int(np.iinfo(dtype).max) + 1
        # Read-only, as the arrays of a memory-mapped index are.
        codes.flags.writeable = False
        mark_codes(codes, np.zeros(size, dtype=np.bool_), 1, marks)
        count_codes(codes, np.zeros(1, np.int64), np.zeros(size, dtype=np.int64))
