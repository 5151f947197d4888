"""How fast two processes make items to train on, with pictures of 96 by 64 pixels (ShapeWorld: 64 by 64).

Each process makes whole chunks, as `/docs/environment/` shows. The processor time of an item does not depend on other
work of the machine; items per second do.
"""

import resource
import time
from collections.abc import Iterator
from multiprocessing import get_context
from typing import Any

from generation.engine.environment import EnvironmentDataset, create_dataset
from tests.benchmarks.figures import figure, together

GOAL = 300  # items per second
PROCESSES = 2
ITEMS = 3_000
SMALL = {"images": {"width": 96, "height": 64, "samples": 1}, "scene": {"min_pixels": 8}}
SPECS: dict[str, tuple[Any, bool]] = {  # the spec, and whether it has the goal
    "CLEVR, 10 questions a picture": ({"base": "clevr-mini", **SMALL}, True),
    "counting, 2 questions a picture": ({"base": "clevr-counting-mini", **SMALL}, True),
    "SimTown": ("simtown-mini", True),
    "ShapeWorld OneShape": ("shapeworld-oneshape", True),
    "bAbI": ("babi", True),
    "CLEVR, 1 question a picture": ({"base": "clevr-mini", **SMALL, "questions": {"per_scene": 1}}, False),
}


def run(items: int = ITEMS) -> dict[str, Any]:
    """Return items per second and processor time per item of each world."""
    figures = [one for name in SPECS for one in measure(name, items=items)]
    return together("environment", figures)


def measure(name: str, *, items: int) -> Iterator[dict[str, Any]]:
    """Yield the figures of a spec."""
    spec, has_goal = SPECS[name]
    dataset = create_dataset(spec, seed=1)
    assert dataset[0].prompt and (dataset[0].pixels is None or dataset[0].pixels.any())  # compiles the code
    each = -(-items // PROCESSES)
    start, before = time.perf_counter(), processor_time()
    with get_context("fork").Pool(PROCESSES, initializer=begin, initargs=(dataset,)) as pool:
        made = sum(pool.map(make, [(number, each) for number in range(PROCESSES)], chunksize=1))
        pool.close()
        pool.join()
    taken, used = time.perf_counter() - start, processor_time() - before
    yield figure(name, made / taken, "items/s", least=GOAL if has_goal else None, cores=PROCESSES)
    yield figure(f"{name}, processor time", 1000 * used / made, "ms/item", cores=1)


def processor_time() -> float:
    """Return the processor time of all processes that this one started and that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_DATASET: list[EnvironmentDataset] = []


def begin(dataset: EnvironmentDataset) -> None:
    """Keep the dataset in a process of the pool."""
    _DATASET[:] = [dataset]


def make(task: tuple[int, int]) -> int:
    """Make the first items of a shard with their prompts and pictures; return their number."""
    shard, count = task
    made = 0
    for item in _DATASET[0].iterate(shard=shard, shards=PROCESSES):
        assert item.prompt and item.answer
        _ = item.image
        made += 1
        if made == count:
            break
    return made
