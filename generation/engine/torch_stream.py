"""Batches for PyTorch, which this module imports."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from generation.engine import stream
from generation.engine.endless_dataset import Batches
from generation.engine.spec import BaseSpec


class TorchStream(IterableDataset):
    """A split's batches as tensors, for a `DataLoader` with `batch_size=None`.

    The loader's worker processes share the work: no two of them give the same instance. Images have the shape
    `(batch, 3, height, width)` and the type uint8.

    Parameters
    ----------
    spec, split, batch_size, seed, length
        As for `generation.engine.stream`.
    shard, shards : int
        The number of this program among several programs, and how many programs there are.
    """

    def __init__(
        self,
        spec: BaseSpec | Mapping[str, Any] | str,
        split: str,
        batch_size: int = 128,
        *,
        seed: int | None = None,
        shard: int = 0,
        shards: int = 1,
        length: int | None = None,
    ) -> None:
        super().__init__()
        self.spec, self.split, self.batch_size = spec, split, batch_size
        self.seed, self.length = seed, length
        self.shard, self.shards = shard, shards
        self.vocabulary = self._part(0, 1).vocabulary

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        """Yield batches endlessly: `images`, `words`, `lengths`, `answers`."""
        process = get_worker_info()
        number, count = (process.id, process.num_workers) if process is not None else (0, 1)
        for batch in self._part(number, count):
            tensors = {name: torch.from_numpy(array) for name, array in batch._asdict().items()}
            yield {**tensors, "images": tensors["images"].permute(0, 3, 1, 2)}

    def _part(self, number: int, count: int) -> Batches:
        """Return the batches of one of `count` worker processes."""
        return stream(
            self.spec,
            self.split,
            self.batch_size,
            seed=self.seed,
            shard=self.shard * count + number,
            shards=self.shards * count,
            length=self.length,
        )
