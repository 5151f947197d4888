"""People and models on the questions that both answered: counted once a process, by what the files are named by."""

import functools

import numpy as np
from numpy.typing import NDArray

from annotations.results.baseline import load_digest as people_of
from generation.engine.score import Slice, score
from generation.reports.scoring import slicing_of, truth_of
from generation.storage.index import SplitIndex, open_digest
from webapp.leaderboards import predictions

NO_RIGHT = Slice(np.zeros(0, np.int64), np.zeros(0, np.int64))


@functools.lru_cache(maxsize=5_000)
def right_by(digest: str, index: str, facet: str) -> Slice:
    """Return how right predictions for the split or its parent are by the values of a facet."""
    opened = open_digest(index)
    return score(_own(digest, opened), truth_of(opened), {facet: slicing_of(opened.facets[facet])}).facets[facet]


@functools.lru_cache(maxsize=20_000)
def right_among(digest: str, people: str, index: str) -> float:
    """Return how many of the questions that people were asked are right in predictions for the split or its parent."""
    opened = open_digest(index)
    return score(_own(digest, opened), truth_of(opened), {}, among=people_of(people).asked).right


def _own(digest: str, opened: SplitIndex) -> NDArray[np.int32]:
    """Return predictions for a split's own questions, be they for these or for the parent's."""
    codes = predictions.load(digest).codes
    return codes if len(codes) == opened.n or opened.positions is None else codes[opened.positions]


@functools.lru_cache(maxsize=500)
def people_by(people: str, index: str, facet: str) -> Slice:
    """Return how right people are by the values of a facet, of the questions that they were asked."""
    opened, arrays = open_digest(index), people_of(people)
    if facet not in opened.facets:
        return NO_RIGHT
    slicings = {facet: slicing_of(opened.facets[facet])}
    return score(arrays.predictions, truth_of(opened), slicings, among=arrays.asked).facets[facet]
