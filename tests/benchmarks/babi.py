"""How fast bAbI's questions are made on one core: 1,000 of each task, including the hashes that choose a story's split.

The time is processor time of this process, because other work of the machine has little effect on it.
"""

import statistics
import time
from typing import Any

from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests.benchmarks.figures import figure, together

QUESTIONS = 1_000  # of each task
SECONDS = 2.0  # for all of them
PASSES = 3


def run() -> dict[str, Any]:
    """Return the questions per second of all tasks together, of the test split, and of each task."""
    tasks = sorted(BY_NUMBER)
    whole, least = QUESTIONS * len(tasks), QUESTIONS * len(tasks) / SECONDS
    figures = [
        _figure(f"{len(tasks)} tasks, {whole:,} questions of train", tasks, "train", least=least),
        _figure("the same of test, of which fewer stories are", tasks, "test"),
        *(_figure(f"{number} {BY_NUMBER[number].label}", [number], "train") for number in tasks),
    ]
    return together("babi", figures)


def _figure(name: str, tasks: list[int], split: str, *, least: float | None = None) -> dict[str, Any]:
    rates = [_rate(tasks, split, seed=number) for number in range(PASSES)]
    return figure(f"{name}, median of {PASSES}", statistics.median(rates), "questions/s", least=least, cores=1)


def _rate(tasks: list[int], split: str, *, seed: int) -> float:
    """Return the number of questions of some tasks that are made in a second."""
    maker, sizes = get_maker("babi"), {split: {"questions": QUESTIONS}}
    spec = get_world("babi").read_spec({"world": "babi", "tasks": tasks, "splits": sizes, "seed": seed})
    before = time.process_time()
    made = sum(len(item.questions) for chunk in maker.plan(spec, split) for item in maker.make(spec, split, chunk))
    return made / (time.process_time() - before)
