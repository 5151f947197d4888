"""The metrics that a world names beside the accuracy, for predictions on a split: errors of counts, and grounding.

The metrics of numbers need answers that are numbers; those of boxes need boxes of predictions and of the split.
"""

import functools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions.predicted_boxes import PredictedBoxes
from generation.engine.scoring import grounding
from generation.engine.scoring.count_errors import count_terms
from generation.engine.scoring.metrics import METRICS, Metric
from generation.engine.scoring.question_terms import QuestionTerms
from generation.engine.scoring.score import is_guess
from generation.models import Split
from generation.reports.count_shifts import train_set_of
from generation.reports.scoring import truth_of
from generation.reports.shortcuts import TYPE
from generation.storage.split_index import SplitIndex

UNKNOWN = -1  # the frequent answer to a type that the train split does not have


def metrics_of(split: Split) -> tuple[Metric, ...]:
    """Return the metrics that the split's world names."""
    return tuple(METRICS[name] for name in split.dataset.get_world().metrics)


def has_metrics(split: Split, index: SplitIndex) -> bool:
    """Return whether the metrics of numbers are defined on a split: all its answers are known counts."""
    return bool(metrics_of(split)) and bool((truth_of(index) >= 0).all())


def terms_of(
    split: Split,
    codes: NDArray[np.integer],
    numbers: NDArray[np.float64] | None = None,
    boxes: PredictedBoxes | None = None,
) -> dict[str, QuestionTerms]:
    """Return the terms of each metric of the world that is defined for these predictions, by the metric's name.

    Parameters
    ----------
    split : Split
        With metrics; see `has_metrics`.
    codes : array (questions,) of int
    numbers : array (questions,) of float64, or None
        The answers as numbers that are not rounded; None if they are those of the codes.
    boxes : PredictedBoxes or None
    """
    index, found = SplitIndex.open(split), dict[str, QuestionTerms]()
    if not is_guess(codes).any():  # a guess among several answers is no number
        found |= _of_numbers(split, index, codes, numbers)
    if boxes is not None and index.boxes is not None:
        matches = grounding.match_boxes(_as_floats(boxes), _true_boxes(index))
        found |= {name: _known(terms, index) for name, terms in grounding.grounding_terms(matches).items()}
    return {one.name: found[one.name] for one in metrics_of(split) if one.name in found}


def average_precisions(split: Split, boxes: PredictedBoxes) -> Mapping[float, QuestionTerms]:
    """Return the terms of the average precision by the least IoU; empty if the split's boxes are not known."""
    index = SplitIndex.open(split)
    if index.boxes is None:
        return {}
    matches = grounding.match_boxes(_as_floats(boxes), _true_boxes(index))
    return {iou: _known(grounding.average_precision(matches, iou), index) for iou in grounding.IOUS}


def _known(terms: QuestionTerms, index: SplitIndex) -> QuestionTerms:
    """Return the terms without questions whose true boxes are not known."""
    assert index.boxes is not None
    return terms._replace(is_counted=terms.is_counted & index.boxes.known)


def _of_numbers(
    split: Split, index: SplitIndex, codes: NDArray[np.integer], numbers: NDArray[np.float64] | None
) -> dict[str, QuestionTerms]:
    values = np.array([float(text) for text in index.answer_values])
    predicted = np.where(codes >= 0, values[np.maximum(codes, 0)], np.nan) if numbers is None else numbers
    most = split.dataset.get_world().most_counted(split.read_spec())
    assert most is not None
    true = values[truth_of(index)].astype(np.int64)
    return count_terms(predicted, true, most=most, frequent=_frequent(split, index))


def _frequent(split: Split, index: SplitIndex) -> NDArray[np.int64] | None:
    """Return train's most frequent answer to the type of each question; None without a train split."""
    train = train_set_of(split)
    if train is None or not train.is_complete or TYPE not in index.facets:
        return None
    table = _most_frequent(train.pk, train.index_digest)
    facet = index.facets[TYPE]
    of_type = np.array([*(table.get(value, UNKNOWN) for value in facet.values), UNKNOWN])
    return of_type[np.minimum(facet.codes, len(facet.values))]


@functools.lru_cache(maxsize=64)
def _most_frequent(split: int, digest: str) -> dict[str, int]:
    """Return the most frequent answer by type, the smallest of several; `digest` is that of the index."""
    index = SplitIndex.open(Split.objects.select_related("dataset", "parent").get(pk=split))
    facet, truth = index.facets[TYPE], truth_of(index)
    found = {}
    for code, value in enumerate(facet.values):
        counts = np.bincount(truth[(facet.codes == code) & (truth >= 0)], minlength=len(index.answer_values))
        if counts.any():
            found[value] = int(index.answer_values[int(counts.argmax())])
    return found


def _true_boxes(index: SplitIndex) -> grounding.TrueBoxes:
    assert index.boxes is not None
    return grounding.TrueBoxes(np.asarray(index.boxes.starts), index.boxes.boxes.astype(np.float64))


def _as_floats(found: PredictedBoxes) -> grounding.PredictedBoxes:
    starts, boxes, scores = found
    return grounding.PredictedBoxes(np.asarray(starts), boxes.astype(np.float64), scores.astype(np.float64))
