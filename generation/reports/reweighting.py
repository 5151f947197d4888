"""The weights of questions in the reweighted accuracy. Values that are rare in training give a high weight."""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.weights.reweighting import inverse_frequencies
from generation.engine.worlds.breakdowns import Reweighting
from generation.models import Split
from generation.splits.references import Reference
from generation.storage.split_index import NotIndexed, SplitIndex, open_digest


class WeightsSource(NamedTuple):
    """What the weights of a split's questions depend on.

    Attributes
    ----------
    by : Reweighting
    split_index : str
        The digest of the split's index.
    train : Reference
        The train split.
    """

    by: Reweighting
    split_index: str
    train: Reference


def weights_source(split: Split, reference: Reference | None) -> WeightsSource | None:
    """Return what a split's weights depend on.

    None if the world names no facets for the weights, or if there is no reference with these facets to read.
    """
    by = split.dataset.get_world().reweighting
    if by is None or reference is None:
        return None
    try:
        index, train = SplitIndex.open(split), reference.open()
    except NotIndexed:
        return None
    if not set(by.facets) <= set(index.facets) & set(train.facets):
        return None
    return WeightsSource(by, split.index_digest, reference)


@functools.lru_cache(maxsize=16)
def weights_of(source: WeightsSource) -> NDArray[np.float64]:
    """Return the weight of each question, an array (questions,); 0 for values that the train split does not have."""
    index, counts = open_digest(source.split_index), source.train.counts()
    weights = inverse_frequencies(
        [index.facets[name].codes for name in source.by.facets],
        [counts[name] for name in source.by.facets],
        are_different=source.by.are_different,
    )
    weights.flags.writeable = False
    return weights
