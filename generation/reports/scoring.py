"""Scores of predictions on a split, overall and by every facet; nothing is stored."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadPredictions
from generation.engine.predictions import Predictions, read_predictions
from generation.engine.score import NONE, OUTSIDE, Score, Slicing, score
from generation.engine.worlds import FacetKind
from generation.models import Split
from generation.reports.expected import expected_of
from generation.storage.index import IndexedFacet, SplitIndex


@dataclass(frozen=True, eq=False)
class Scored:
    """What predictions are worth on a split.

    Attributes
    ----------
    predictions : Predictions
    strict, read : Score
        Of the answers as they stand; with those outside of the vocabulary read as free text, without facets.
    index : SplitIndex
    """

    predictions: Predictions
    strict: Score
    read: Score
    index: SplitIndex

    @property
    def unreadable(self) -> int:
        """Return of how many answers nothing could be made."""
        return int((self.predictions.read == OUTSIDE).sum())

    def to_json(self) -> dict[str, Any]:
        """Return accuracy and n, and of each facet's values that occur n and how many are right."""
        return {
            "accuracy": self.strict.accuracy,
            "n": self.strict.n,
            "accuracy_read": self.read.accuracy,
            "outside": len(self.predictions.outside),
            "unreadable": self.unreadable,
            "facets": {name: self._values(facet) for name, facet in self.index.facets.items()},
        }

    def _values(self, facet: IndexedFacet) -> dict[str, dict[str, int]]:
        n, right = (column.tolist() for column in self.strict.facets[facet.name])
        return {value: {"n": n[code], "correct": right[code]} for code, value in enumerate(facet.values) if n[code]}


def score_file(file: BinaryIO, split: Split) -> Scored:
    """Return what the predictions in a file are worth on a complete split whose answers are known.

    Raises
    ------
    BadPredictions
        If the file can't be read, lacks answers, or the split has none to compare with.
    """
    index = SplitIndex.open(split)
    truth = truth_of(index)
    if not (truth >= 0).any():
        raise BadPredictions("Expected a split whose answers are known, got one without any.", where=str(split))
    found = read_predictions(file, expected_of(split))
    strict, read = score(found.codes, truth, slicings_of(index)), score(found.read, truth, {})
    return Scored(found, strict, read, index)


@functools.lru_cache(maxsize=32)
def truth_of(index: SplitIndex) -> NDArray[np.int64]:
    """Return (questions,) the right answers as codes; `NONE` where none is known."""
    truth: NDArray[np.int64] = index.answers.astype(np.int64)
    truth[truth >= len(index.answer_values)] = NONE
    truth.flags.writeable = False
    return truth


def slicings_of(index: SplitIndex) -> Mapping[str, Slicing]:
    """Return every facet as the scorer takes it, value by value."""
    return {name: slicing_of(facet) for name, facet in index.facets.items()}


def slicing_of(facet: IndexedFacet) -> Slicing:
    """Return a facet as the scorer takes it, value by value."""
    return Slicing(facet.codes, len(facet.values), facet.kind == FacetKind.FLAGS)
