"""The engine: pure Python, NumPy and numba; no Django, no clock, no global randomness.

`stream` gives data as they are made. All else is imported from the modules here.

`ENGINE_VERSION` names what the engine makes: the same spec, secret and version give the same scenes and
questions, byte for byte, on any machine. It changes when that output changes, and only then.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from generation.engine.batches import Batches, EndlessDataset
    from generation.engine.spec import BaseSpec

ENGINE_VERSION = "4"


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
    """Return batches of a split's pictures, questions and answers for ever, as NumPy arrays.

    They are made when they are asked for: first what `generate` would store, then what would come next if the split
    were longer. The same arguments give the same batches on every machine.

    Parameters
    ----------
    spec : BaseSpec, mapping or str
        A spec, its JSON (with files named relative to the working directory) or a preset's name.
    split : str
        One of the spec's splits.
    batch_size : int
    seed : int, optional
        Another seed than the spec's, 0 .. 2**64-1: other data of the same kind.
    shard, shards : int
        Of `shards` streams that have nothing in common, the one to return, from 0.
    length : int, optional
        How many words questions are padded to; to the longest of each batch where it isn't given.
    secret : bytes
        The 16 bytes of a split whose answers were withheld.

    Returns
    -------
    Batches
        An iterator of `Batch`, whose `vocabulary` says what its numbers mean.

    Raises
    ------
    BadSpec
        If the spec is wrong, has no such split, or its world has no pictures.
    """
    from generation.engine.batches import Batches, read  # importing this package stays quick

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
    """Return the splits of a spec, to be made batch by batch: `dataset(...).generate(n, mode, include_model=True)`.

    Parameters
    ----------
    spec, seed, length, secret
        As for `stream`.

    Returns
    -------
    Dataset

    Raises
    ------
    BadSpec
        If the spec is wrong, or its world doesn't know its words.
    """
    from generation.engine.batches import EndlessDataset, read  # importing this package stays quick

    return EndlessDataset(read(spec, seed=seed), length=length, secret=secret)
