"""Rows of numbers, made slowly: `FAULTS_PACE` seconds for each scene and again for each picture, asleep."""

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
    """Stop this process, as SIGSTOP would, where the test wants that."""
    REACHED[stage] += 1
    if os.environ.get("FAULTS_STOPS_AT") == f"{stage}:{REACHED[stage]}":
        os.kill(os.getpid(), signal.SIGSTOP)


class SlowMaker(fake_world.RowMaker):
    """Makes rows, and takes its time."""

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
    """How they are read: as ever."""

    maker = SlowMaker()

    def facet_codes(self, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        reach("seal")
        return super().facet_codes(spec, item)


WORLD: Any = SlowWorld()
