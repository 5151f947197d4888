"""Rows of numbers that are made slowly: the maker sleeps `FAULTS_PACE` seconds for each scene and for each picture."""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import Chunk, Item
from generation.engine.spec import BaseSpec
from tests.generation import fake_world

NAME = fake_world.NAME
WHERE = "tests.faults.slow_world:WORLD"
REACHED: Counter[str] = Counter()


def pause() -> None:
    time.sleep(float(os.environ.get("FAULTS_PACE", "0")))


def reach(stage: str) -> None:
    """Count that this process reached a stage, and stop it by SIGSTOP if FAULTS_STOPS_AT names this count."""
    REACHED[stage] += 1
    if os.environ.get("FAULTS_STOPS_AT") == f"{stage}:{REACHED[stage]}":
        os.kill(os.getpid(), signal.SIGSTOP)


class SlowMaker(fake_world.RowMaker):
    """Makes the rows of the fake world, with a pause for each scene and each picture."""

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        for item in super().make(spec, split, chunk, secret=secret):
            pause()
            reach("items")
            yield item

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        pause()
        reach("images")
        return super().render(spec, split, item)


class SlowWorld(fake_world.RowWorld):
    """The fake world with the slow maker. Reading its rows takes no extra time."""

    maker = SlowMaker()

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        reach("seal")
        return super().facet_codes(spec, item)


WORLD: Any = SlowWorld()
