"""The engine: pure Python, NumPy and numba; no Django, no clock, no global randomness.

`stream` returns batches that are made on demand. Import everything else from the modules of this package.

`ENGINE_VERSION` identifies the engine's output: the same spec, secret and version give the same scenes and
questions, byte for byte, on any machine. It changes only when that output changes.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from generation.engine.endless_dataset import Batches, EndlessDataset
    from generation.engine.spec import BaseSpec

ENGINE_VERSION = "5"


def stream(
    spec: "BaseSpec | Mapping[str, Any] | str",
    split: str,
    batch_size: int = 128,
    *,
    seed: int | None = None,
    shard: int = 0,
    shards: int = 1,
    length: int | None = None,
    secret: bytes = b"",
) -> "Batches":
    """Return an endless iterator over batches of a split's pictures, questions and answers, as NumPy arrays.

    Batches are made on demand: first the data that the command `generate` would store, then the data that would follow
    if the split were longer. The same arguments give the same batches on every machine.

    Parameters
    ----------
    spec : BaseSpec, mapping or str
        A spec, its JSON (with files named relative to the working directory) or a preset's name.
    split : str
        One of the spec's splits.
    batch_size : int
    seed : int, optional
        Seed that replaces the spec's, 0 .. 2**64-1. It gives other data of the same kind.
    shard, shards : int
        The number of this stream, from 0, and how many streams there are. No two shards share an instance.
    length : int, optional
        The number of words to which questions are padded. Without it, each batch is padded to its longest question.
    secret : bytes
        The secret of a split with withheld answers, 16 bytes.

    Returns
    -------
    Batches
        An iterator over `Batch`. Its `vocabulary` says what the numbers in a batch mean.

    Raises
    ------
    BadSpec
        If the spec is wrong, has no such split, or its world has no pictures.
    """
    from generation.engine.endless_dataset import Batches, read  # keeps the import of this package fast

    return Batches(
        read(spec, seed=seed),
        split,
        batch_size=batch_size,
        shard=shard,
        shards=shards,
        length=length,
        secret=secret,
    )


def dataset(
    spec: "BaseSpec | Mapping[str, Any] | str",
    *,
    seed: int | None = None,
    length: int | None = None,
    secret: bytes = b"",
) -> "EndlessDataset":
    """Return a dataset that makes batches on demand: `dataset(...).generate(n, mode, include_model=True)`.

    Parameters
    ----------
    spec, seed, length, secret
        As for `stream`.

    Returns
    -------
    EndlessDataset

    Raises
    ------
    BadSpec
        If the spec is wrong, or if its world has no fixed list of words.
    """
    from generation.engine.endless_dataset import EndlessDataset, read  # keeps the import of this package fast

    return EndlessDataset(read(spec, seed=seed), length=length, secret=secret)
