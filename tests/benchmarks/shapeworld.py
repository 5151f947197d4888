"""How fast ShapeWorld's instances are made, microworld, caption and picture included, at 64 by 64 pixels; one core.

Seconds are those of the process, which waits for nothing: what else the machine does matters little.
"""

import statistics
import time
from typing import Any

from generation.engine.worlds import get_maker, get_world
from tests.benchmarks.figures import figure, together

GOALS = {"shapeworld-oneshape": 5000, "shapeworld-spatial": 2000, "shapeworld-quantifier": 1500}
PASSES = 3
CHUNKS = 2  # of each preset, a pass


def run() -> dict[str, Any]:
    """Return instances a second of every preset, those with a goal first."""
    others = [name for name in get_maker("shapeworld").presets() if name not in GOALS]
    figures = []
    for name in (*GOALS, *others):
        rates, replaced = zip(*(measured(name, number) for number in range(PASSES)), strict=True)
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


def measured(preset: str, number: int) -> tuple[float, float]:
    """Return instances a second of a preset's train split, and what share of its microworlds admitted no caption."""
    maker = get_maker("shapeworld")
    spec = get_world("shapeworld").read_spec({"base": preset, "seed": number})
    chunks = maker.plan(spec, "train")
    maker.render(spec, "train", next(iter(maker.make(spec, "train", chunks[CHUNKS]))))  # compiles, or loads
    before = time.process_time()
    count = replaced = 0
    for chunk in chunks[:CHUNKS]:
        for item in maker.make(spec, "train", chunk):
            maker.render(spec, "train", item)
            count, replaced = count + 1, replaced + item.replaced
    return count / (time.process_time() - before), replaced / (count + replaced)
