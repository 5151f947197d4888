"""Compiling ahead, before processes fork or wait for one another."""

from importlib import import_module

import numpy as np

from generation.engine.nearest import nearest, words_of
from generation.tally import count_codes, mark_codes


def warm() -> None:
    """Compile every numba kernel that is not compiled yet; NUMBA_CACHE_DIR keeps them."""
    marks = np.zeros(1, dtype=np.uint8)
    for dtype in (np.uint8, np.uint16):
        codes = np.zeros(1, dtype=dtype)
        size = int(np.iinfo(dtype).max) + 1
        # As a memory-mapped index has them: read-only.
        codes.flags.writeable = False
        mark_codes(codes, np.zeros(size, dtype=np.bool_), 1, marks)
        count_codes(codes, np.zeros(1, np.int64), np.zeros(size, dtype=np.int64))
    nearest(words_of([np.zeros(1, dtype=np.uint32)], questions=1), [np.zeros(1, np.int64)], [1], np.ones(1, np.bool_))
    import_module("generation.engine.warm").warm()
