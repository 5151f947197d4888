"""Rows of numbers, made slowly: `FAULTS_PACE` seconds for each scene and again for each picture, asleep."""

import os
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generation.engine.spec import BaseSpec
from generation.engine.worlds import Chunk, Item, Maker
from tests.generation import fake_world

NAME = fake_world.NAME
WHERE = "tests.faults.slow_world:WORLD"


def pause() -> None:
    time.sleep(float(os.environ.get("FAULTS_PACE", "0")))


class SlowMaker(fake_world.RowMaker):
    """Makes rows, and takes its time."""

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        for item in super().make(spec, split, chunk, secret=secret):
            pause()
            yield item

    def render(self, spec: BaseSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        pause()
        return super().render(spec, split, item)


class SlowWorld(fake_world.RowWorld):
    """How they are read: as ever."""

    maker: ClassVar[Maker | None] = SlowMaker()


WORLD: Any = SlowWorld()
