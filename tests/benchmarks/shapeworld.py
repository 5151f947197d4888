"""How fast ShapeWorld's instances are made on one core: microworld, caption and a picture of 64 by 64 pixels.

The time is processor time of this process, because other work of the machine has little effect on it.
"""

import statistics
import time
from typing import Any

from generation.engine.worlds import get_maker, get_world
from tests.benchmarks.figures import figure, together

GOALS = {"shapeworld-oneshape": 5000, "shapeworld-spatial": 2000, "shapeworld-quantifier": 1500}
PASSES = 3
CHUNKS = 2  # for each preset and pass


def run() -> dict[str, Any]:
    """Return the instances per second of every preset; presets with a goal come first."""
    others = [name for name in get_maker("shapeworld").presets() if name not in GOALS]
    figures = []
    for name in (*GOALS, *others):
        rates, replaced = zip(*(measure(name, number) for number in range(PASSES)), strict=True)
        figures.append(
            figure(
                f"{name}, {100 * statistics.mean(replaced):.1f} % of microworlds replaced, median of {PASSES}",
                statistics.median(rates),
                "instances/s",
                least=GOALS.get(name),
                cores=1,
            )
        )
    return together("shapeworld", figures)


def measure(preset: str, number: int) -> tuple[float, float]:
    """Return the instances per second of a preset's train split, and the share of microworlds without a caption."""
    maker = get_maker("shapeworld")
    spec = get_world("shapeworld").read_spec({"base": preset, "seed": number})
    chunks = maker.plan(spec, "train")
    maker.render(spec, "train", next(iter(maker.make(spec, "train", chunks[CHUNKS]))))  # compiles the code
    before = time.process_time()
    count = replaced = 0
    for chunk in chunks[:CHUNKS]:
        for item in maker.make(spec, "train", chunk):
            maker.render(spec, "train", item)
            count, replaced = count + 1, replaced + item.replaced
    return count / (time.process_time() - before), replaced / (count + replaced)
