"""How fast SimTown's examples are made by two processes: scene, question, program, picture and boxes.

The paper's grid has 504,000 pictures, which take 17 minutes at 500 pictures per second.
"""

import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.worlds import get_maker, get_world
from tests.benchmarks.figures import figure, together

PROCESSES = 2
KINDS = (  # label, preset, changes, chunks for each process, goal
    ("96x64", "simtown-k15", {}, 6, 500),
    ("96x64, distractor", "simtown-k15-distractor", {}, 6, 500),
    ("96x64, 60 entities, distractor", "simtown-k60-distractor", {}, 6, 500),
    ("640x480, 16 samples", "simtown-k15", {"images": {"width": 640, "height": 480, "samples": 16}}, 1, 6),
)


def run() -> dict[str, Any]:
    """Return the examples per second of several presets and sizes, on two cores."""
    figures = []
    for label, preset, changes, chunks, goal in KINDS:
        with ExitStack() as stack:
            pools = [
                stack.enter_context(ProcessPoolExecutor(1, mp_context=get_context("spawn"))) for _ in range(PROCESSES)
            ]
            for number, pool in enumerate(pools):
                pool.submit(make, preset, changes, first=900 + number, chunks=1, most=2).result()  # warm-up
            started = time.perf_counter()
            waiting = [
                pool.submit(make, preset, changes, first=number * chunks, chunks=chunks)
                for number, pool in enumerate(pools)
            ]
            count = sum(one.result() for one in waiting)
            rate = count / (time.perf_counter() - started)
        figures.append(figure(label, rate, "examples/s", least=goal, cores=PROCESSES))
    return together("simtown", figures)


def make(preset: str, changes: dict[str, Any], *, first: int, chunks: int, most: int = 10**9) -> int:
    """Make the examples of some chunks of a train split, and return their number, at most `most`."""
    maker = get_maker("simtown")
    spec = get_world("simtown").read_spec({"base": preset, **changes, "splits": {"train": {"scenes": 100_000}}})
    count = 0
    for chunk in maker.plan(spec, "train")[first : first + chunks]:
        for item in maker.make(spec, "train", chunk):
            _, ids = maker.render(spec, "train", item)
            assert len(boxes(ids)) >= 2
            count += 1
            if count == most:
                return count
    return count


def boxes(ids: NDArray[np.uint16]) -> list[tuple[int, int, int, int]]:
    """Return the box (left, top, right, bottom) of every object that is visible in a picture, in pixels."""
    most = int(ids.max()) + 1
    in_rows, in_columns = np.zeros((most, ids.shape[0]), np.bool_), np.zeros((most, ids.shape[1]), np.bool_)
    in_rows[ids, np.arange(ids.shape[0])[:, None]] = True
    in_columns[ids, np.arange(ids.shape[1])] = True
    ends = [
        (marks.argmax(axis=1), marks.shape[1] - 1 - marks[:, ::-1].argmax(axis=1)) for marks in (in_columns, in_rows)
    ]
    (left, right), (top, bottom) = ends
    shown = np.flatnonzero(in_rows.any(axis=1))[1:]
    return list(zip(*(side[shown].tolist() for side in (left, top, right, bottom)), strict=True))
