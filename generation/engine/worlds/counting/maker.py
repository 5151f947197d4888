"""Makes counting questions over CLEVR's scenes, and the pictures of these scenes."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import Chunk, Item
from generation.engine.seeding import Stage, stream
from generation.engine.worlds.base import Maker, equal_chunks
from generation.engine.worlds.clevr.world import ClevrMaker
from generation.engine.worlds.counting.answer_plan import CHUNK, plan_chunk
from generation.engine.worlds.counting.item_sampler import ItemSampler
from generation.engine.worlds.counting.spec import PRESETS, CountingSpec

CLEVR = ClevrMaker()


class CountingMaker(Maker):
    """Makes scenes, questions and pictures."""

    bundled = PRESETS

    def plan(self, spec: CountingSpec, split: str) -> list[Chunk]:
        """Return chunks of `CHUNK` scenes."""
        each = spec.for_split(split).questions.per_scene
        return equal_chunks(spec.splits[split].scenes, size=CHUNK, questions_each=each)

    def make(self, spec: CountingSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        """Yield the chunk's items in order; a shorter last chunk begins like a whole one."""
        own = spec.for_split(split)
        scenes, choices, words = (
            stream(seed=spec.seed, split=split, index=chunk.number, stage=stage, secret=secret)
            for stage in (Stage.SCENE, Stage.QUESTIONS, Stage.WORDS)
        )
        planned = plan_chunk(own, chunk.number, choices)
        making = ItemSampler(own, scenes=scenes, choices=choices, words=words)
        for position in range(chunk.items):
            yield making.item(planned[position], where=f"{split}, scene {chunk.first_item + position}")

    def render(self, spec: CountingSpec, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return an item's picture and its object ids, drawn like CLEVR's."""
        own = spec.for_split(split).clevr
        [only] = own.splits
        return CLEVR.render(own, only, item)
