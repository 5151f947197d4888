"""How long it takes to score counting questions on every metric, to import them, and to shift their counts.

The questions are synthetic: as many as in TallyQA, with random numbers and boxes. A scratch site imports them and makes
shifted sets of them; these times include the start of the commands, SQLite, and sealing.
"""

import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.counts.count_errors import count_terms
from generation.engine.scoring.counts.grounding import (
    IOUS,
    ScoredBoxes,
    TrueBoxes,
    average_precision,
    grounding_terms,
    match_boxes,
)
from generation.engine.scoring.score import Slicing
from tests.benchmarks.figures import figure, together
from tests.benchmarks.generate import Site
from tests.worlds.counting.published import tallyqa

N = 38_589
TRAIN = 249_318
SHIFTS = ",".join(map(str, range(0, 101, 10)))  # percent
BOXES = 10  # predicted boxes of each question
MOST = 15  # the largest answer
FACETS = {"issimple": 2, "answer": MOST + 1, "class": 80, "length": 20}
WIDE = 480.0
SEED = 20200617
TRIES = 3


class MadeUp(NamedTuple):
    """Questions with numbers, boxes and facets."""

    numbers: NDArray[np.float64]
    true: NDArray[np.int64]
    frequent: NDArray[np.int64]
    predicted_boxes: ScoredBoxes
    true_boxes: TrueBoxes
    slicings: Mapping[str, Slicing]


def run(n: int = N, train: int = TRAIN) -> dict[str, Any]:
    """Return the time of all metrics together, of the slowest part of them, of an import, and of a suite of shifts."""
    made = made_up(n)
    match_boxes(made.predicted_boxes, made.true_boxes)  # warm-up: compiles the code, or loads it from the cache
    figures = [
        figure(
            f"{n:,} predictions with {BOXES} boxes each scored on every metric and facet, with intervals",
            _fastest(lambda: _score(made)),
            "s",
            most=2,
            cores=1,
        ),
        figure(
            f"GroundP, and AP for {len(IOUS)} values of the IoU",
            _fastest(lambda: _ground(made)),
            "s",
            most=1,
            cores=1,
        ),
    ]
    return together("counting", [*figures, *_of_site(train, n)])


def _of_site(train: int, test: int) -> list[dict[str, Any]]:
    """Return the times of an import and of a suite of shifts on a scratch site, with everything that they take."""
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder:
        site, files = Site(Path(folder)), tallyqa(Path(folder, "tallyqa"), train=train, test=test)
        before = _seconds_of_children()
        read = site.watch("import", "tallyqa", str(files), "--name", "read")
        imported = _seconds_of_children()
        shifted = site.watch("derive", "read", "--mcd", f"odd-even:{SHIFTS}")
        worked = _seconds_of_children() - imported
    what = f"{train + test:,} questions in TallyQA's format"
    return [
        figure(f"importing {what}, processor time", imported - before, "s", most=60, cores=1),
        figure("from the command's start to its end", read.seconds, "s"),
        figure("largest process of it", read.peak, "MB", most=500),
        figure("eleven shifts of them, processor time", worked, "s", most=10, cores=1),
        figure("from the command's start to its end", shifted.seconds, "s"),
    ]


def _seconds_of_children() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def made_up(n: int) -> MadeUp:
    """Return `n` questions, which are the same in each run."""
    chance = np.random.default_rng(SEED)
    true = chance.integers(0, MOST + 1, n)
    predicted, right = _boxes(chance, np.full(n, BOXES)), _boxes(chance, true)
    slicings = {
        name: Slicing(chance.integers(values, size=n).astype(np.uint8), values) for name, values in FACETS.items()
    }
    return MadeUp(
        true + chance.standard_normal(n),
        true,
        chance.integers(0, 3, n),
        ScoredBoxes(*predicted, chance.random(len(predicted.boxes))),
        right,
        slicings,
    )


def _boxes(chance: np.random.Generator, counts: NDArray[np.int64]) -> TrueBoxes:
    """Return random boxes, `counts` of them for each question."""
    corners = np.sort(chance.random((counts.sum(), 2, 2)) * WIDE, axis=1)
    return TrueBoxes(np.concatenate([[0], np.cumsum(counts)]), corners.reshape(-1, 4))


def _score(made: MadeUp) -> None:
    matches = match_boxes(made.predicted_boxes, made.true_boxes)
    terms = count_terms(made.numbers, made.true, most=MOST, frequent=made.frequent) | grounding_terms(matches)
    for one in terms.values():
        one.figure()
        one.interval()
        for slicing in made.slicings.values():
            one.slices(slicing)
    for iou in IOUS:
        average_precision(matches, iou).figure()


def _ground(made: MadeUp) -> None:
    matches = match_boxes(made.predicted_boxes, made.true_boxes)
    grounding_terms(matches)["groundp"].figure()
    for iou in IOUS:
        average_precision(matches, iou).figure()


def _fastest(measured: Callable[[], None]) -> float:
    """Return the seconds of the fastest try, because other processes slow down some tries."""
    times = []
    for _ in range(TRIES):
        before = time.perf_counter()
        measured()
        times.append(time.perf_counter() - before)
    return min(times)
