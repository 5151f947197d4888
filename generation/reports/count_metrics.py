"""The metrics that a world names besides the accuracy, for predictions on a split: errors of counts, and grounding.

Metrics of numbers need answers that are numbers. Metrics of boxes need boxes in the predictions and in the split.
"""

import functools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions import Predictions
from generation.engine.predictions.predicted_boxes import PredictedBoxes
from generation.engine.scoring.counts import grounding
from generation.engine.scoring.counts.count_errors import count_terms
from generation.engine.scoring.counts.metrics import METRICS, Metric
from generation.engine.scoring.question_terms import QuestionTerms
from generation.engine.scoring.score import is_guess
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.reports.shortcuts import TYPE
from generation.splits.references import Reference, reference_for_site
from generation.splits.split_recipes import read_recipe
from generation.storage.split_index import SplitIndex

UNKNOWN = -1  # instead of the most frequent answer, if the train split has no answers
ALL = ""  # instead of a type: all questions


def metrics_of(split: Split) -> tuple[Metric, ...]:
    return tuple(METRICS[name] for name in split.dataset.get_world().metrics)


def has_metrics(split: Split, index: SplitIndex) -> bool:
    return bool(metrics_of(split)) and bool((truth_of(index) >= 0).all())  # all answers are known counts


def terms_of(
    split: Split,
    codes: NDArray[np.integer],
    numbers: NDArray[np.float64] | None = None,
    boxes: PredictedBoxes | None = None,
    *,
    reference: Reference | None,
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
    reference : Reference or None
        The train split. Metrics that compare with its answers are not defined without it.
    """
    index, found = SplitIndex.open(split), dict[str, QuestionTerms]()
    if not is_guess(codes).any():  # a guess among several answers is not a number
        found |= _of_numbers(split, index, codes, numbers, reference=reference)
    if boxes is not None and index.boxes is not None:
        matches = grounding.match_boxes(_as_floats(boxes), _true_boxes(index))
        found |= {name: _with_known_boxes(terms, index) for name, terms in grounding.grounding_terms(matches).items()}
    return {one.name: found[one.name] for one in metrics_of(split) if one.name in found}


class FileMetric(NamedTuple):
    metric: Metric
    value: float | None  # None if it is not defined
    n: int  # questions


def metrics_of_file(split: Split, found: Predictions) -> list[FileMetric]:
    """Return the metrics of predictions for the site's operators; none if the world or the split has no metrics."""
    if not has_metrics(split, SplitIndex.open(split)):
        return []
    terms = terms_of(split, found.codes, found.numbers, found.boxes, reference=reference_for_site(split))
    return [FileMetric(METRICS[name], one.figure(), one.count()) for name, one in terms.items()]


def average_precisions(split: Split, boxes: PredictedBoxes) -> Mapping[float, QuestionTerms]:
    """Return the terms of the average precision by the least IoU; empty if the split's boxes are not known."""
    index = SplitIndex.open(split)
    if index.boxes is None:
        return {}
    matches = grounding.match_boxes(_as_floats(boxes), _true_boxes(index))
    return {iou: _with_known_boxes(grounding.average_precision(matches, iou), index) for iou in grounding.IOUS}


def _with_known_boxes(terms: QuestionTerms, index: SplitIndex) -> QuestionTerms:
    assert index.boxes is not None
    return terms._replace(is_counted=terms.is_counted & index.boxes.known)


def _of_numbers(
    split: Split,
    index: SplitIndex,
    codes: NDArray[np.integer],
    numbers: NDArray[np.float64] | None,
    *,
    reference: Reference | None,
) -> dict[str, QuestionTerms]:
    values = np.array([float(text) for text in index.answer_values])
    predicted = np.where(codes >= 0, values[np.maximum(codes, 0)], np.nan) if numbers is None else numbers
    most = split.dataset.get_world().most_counted(split.read_spec())
    assert most is not None
    true = values[truth_of(index)].astype(np.int64)
    kept = _parity_kept_in_train(split, reference)
    is_own = None if kept is None else true % 2 == (kept == "odd")
    return count_terms(predicted, true, most=most, frequent=_frequent(index, reference), is_own=is_own)


def _parity_kept_in_train(split: Split, reference: Reference | None) -> str | None:
    if reference is not None:
        rule = reference.parity
    else:
        is_train_set = split.is_derived and split.reference_id is None
        rule = read_recipe(split.recipe).parity if is_train_set else None
    return None if rule is None else rule.kept


def _frequent(index: SplitIndex, reference: Reference | None) -> NDArray[np.int64] | None:
    """Return the reference's most frequent answer to the type of each question; None without a reference.

    For a type that the train split does not have, it is the most frequent answer to all its questions: the types of
    TallyQA's train file are not published.
    """
    if reference is None or TYPE not in index.facets:
        return None
    table = _most_frequent(reference)
    facet = index.facets[TYPE]
    of_all = table.get(ALL, UNKNOWN)
    of_type = np.array([*(table.get(value, of_all) for value in facet.values), of_all])
    return of_type[np.minimum(facet.codes, len(facet.values))]


@functools.lru_cache(maxsize=64)
def _most_frequent(reference: Reference) -> dict[str, int]:
    """Return the most frequent answer by type, and of `ALL`; the smallest if there are several."""
    index = reference.open()
    facet, truth = index.facets[TYPE], truth_of(index)
    found = {}
    groups = {ALL: np.ones(len(truth), np.bool_)} | {
        value: facet.codes == code for code, value in enumerate(facet.values)
    }
    for value, group in groups.items():
        counts = np.bincount(truth[group & (truth >= 0)], minlength=len(index.answer_values))
        if counts.any():
            found[value] = int(index.answer_values[int(counts.argmax())])
    return found


def _true_boxes(index: SplitIndex) -> grounding.TrueBoxes:
    assert index.boxes is not None
    return grounding.TrueBoxes(np.asarray(index.boxes.starts), index.boxes.boxes.astype(np.float64))


def _as_floats(found: PredictedBoxes) -> grounding.ScoredBoxes:
    starts, boxes, scores = found
    return grounding.ScoredBoxes(np.asarray(starts), boxes.astype(np.float64), scores.astype(np.float64))
