"""Metrics of predicted boxes: GroundP and average precision.

A box is [x1, y1, x2, y2] in pixels, with x1 <= x2 and y1 <= y2. The boxes of all questions are in one array, in the
order of the questions; the boxes of question q are those from starts[q] to starts[q + 1].

References
----------
Dancette et al. 2020, Overcoming statistical shortcuts for open-ended visual counting, supplement 6.3, and their
published code (cdancette/spatial-counting-network) for everything that the paper does not state.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.numba_compiler import njit
from generation.engine.scoring.question_terms import QuestionTerms, ratio

CUTOFFS = np.arange(11) / 10  # the scores from which boxes count, for average precision
IOUS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
AP_IOU = 0.2  # the IoU of "AP" in the paper

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class TrueBoxes(NamedTuple):
    """The boxes of the counted objects: `starts` (questions + 1,) int64 and `boxes` (boxes, 4) float64."""

    starts: Ints
    boxes: Floats


class ScoredBoxes(NamedTuple):
    """Predicted boxes: `starts` (questions + 1,) int64, `boxes` (boxes, 4) float64, `scores` (boxes,), 0 .. 1."""

    starts: Ints
    boxes: Floats
    scores: Floats


class BoxMatches(NamedTuple):
    """Predicted boxes, compared with the true boxes of their questions.

    Attributes
    ----------
    predicted : ScoredBoxes
    true : TrueBoxes
    covered : array (predicted boxes,) of float64
        The share of each box's area that is inside the union of the true boxes, 0 .. 1; 1 for a box without an area.
    best : array (predicted boxes,) of int64
        The position of the true box with the greatest IoU, or the first if several have it; -1 if none overlaps.
    ious : array (predicted boxes,) of float64
        The IoU with that box: the area of the intersection divided by the area of the union.
    """

    predicted: ScoredBoxes
    true: TrueBoxes
    covered: Floats
    best: Ints
    ious: Floats


class Detections(NamedTuple):
    """The number of true positives, false positives and false negatives; each is (questions, cut-offs) int64."""

    true_positives: Ints
    false_positives: Ints
    false_negatives: Ints


def match_boxes(predicted: ScoredBoxes, true: TrueBoxes) -> BoxMatches:
    """Return the comparison of predicted boxes with the true boxes of their questions.

    Raises
    ------
    ValueError
        If the numbers of questions differ, or if a box or a score is not possible.
    """
    if len(predicted.starts) != len(true.starts):
        raise ValueError(f"Expected boxes of {len(true.starts) - 1} questions, got {len(predicted.starts) - 1}.")
    _check_boxes("predicted", predicted.starts, predicted.boxes)
    _check_boxes("true", true.starts, true.boxes)
    is_score = (predicted.scores >= 0) & (predicted.scores <= 1)
    if predicted.scores.shape != predicted.boxes.shape[:1] or not is_score.all():
        raise ValueError("Expected a score from 0 to 1 for each predicted box; check the scores.")
    order = np.lexsort((true.boxes[:, 1], _questions_of(true.starts)))
    given = predicted.starts, predicted.boxes, true.starts, true.boxes[order], order
    dtypes = np.int64, np.float64, np.int64, np.float64, np.int64
    # numba would compile again for arrays of another type, or for read-only arrays from a file.
    plain = (np.require(one, dtype, ["C", "W"]) for one, dtype in zip(given, dtypes, strict=True))
    return BoxMatches(predicted, true, *_compare(*plain))


def grounding_terms(matches: BoxMatches) -> dict[str, QuestionTerms]:
    """Return the terms of each metric of boxes, by the names in `metrics.METRICS`."""
    return {"groundp": groundp(matches), "ap": average_precision(matches, AP_IOU)}


def groundp(matches: BoxMatches) -> QuestionTerms:
    """Return the terms of GroundP: the sum of score times covered share over all boxes, divided by the sum of scores.

    A question without true boxes adds its scores only to the second sum; a box without an area is always covered.
    Questions whose scores are all 0 do not count.
    """
    starts, scores = matches.predicted.starts, matches.predicted.scores
    questions, n = _questions_of(starts), len(starts) - 1
    sums = [np.bincount(questions, weights, minlength=n) for weights in (scores * matches.covered, scores)]
    return QuestionTerms(np.stack(sums, axis=1), sums[1] > 0, ratio)


def average_precision(matches: BoxMatches, iou: float) -> QuestionTerms:
    """Return the terms of the average precision: the counts of `count_detections`.

    Questions without true boxes do not count. The precision at a cut-off is the greatest one at this cut-off or a lower
    one; the average weights it by the recall that the cut-off adds to that of the next higher one.
    """
    terms = np.concatenate(count_detections(matches, iou), axis=1).astype(np.float64)
    return QuestionTerms(terms, np.diff(matches.true.starts) > 0, _average_precision)


def count_detections(matches: BoxMatches, iou: float) -> Detections:
    """Return how many boxes with a score of at least each of `CUTOFFS` find a true box, and how many do not.

    Each predicted box can only find the true box that it overlaps most. A true box that is found is a true positive,
    however often it is found; all other boxes are false positives. Questions without true boxes have zeros.

    Parameters
    ----------
    matches : BoxMatches
    iou : float
        The least IoU of a box and the true box that it finds, greater than 0, at most 1.
    """
    n, per_question = len(matches.true.starts) - 1, np.diff(matches.true.starts)
    levels = np.searchsorted(CUTOFFS, matches.predicted.scores, side="right") - 1
    is_hit = matches.ious >= iou
    highest = np.full(len(matches.true.boxes), -1)
    np.maximum.at(highest, matches.best[is_hit], levels[is_hit])
    is_found = highest >= 0
    found = _count_levels(_questions_of(matches.true.starts)[is_found], highest[is_found], n)
    given = _count_levels(_questions_of(matches.predicted.starts), levels, n) * (per_question > 0)[:, np.newaxis]
    return Detections(found, given - found, per_question[:, np.newaxis] - found)


def _check_boxes(name: str, starts: Ints, boxes: Floats) -> None:
    if starts[0] != 0 or starts[-1] != len(boxes) or (np.diff(starts) < 0).any():
        raise ValueError(f"Expected the starts of {len(boxes)} {name} boxes, ascending from 0; check the starts.")
    is_box = np.isfinite(boxes).all(axis=1) & (boxes[:, 0] <= boxes[:, 2]) & (boxes[:, 1] <= boxes[:, 3])
    if not is_box.all():
        place = int(np.argmin(is_box))
        raise ValueError(f"Expected {name} boxes [x1, y1, x2, y2] with x1 <= x2 and y1 <= y2, got {boxes[place]}.")


def _questions_of(starts: Ints) -> Ints:
    """Return the question of each box."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _count_levels(questions: Ints, levels: Ints, n: int) -> Ints:
    """Return (n, cut-offs) how many boxes of each question reach each cut-off; `levels` has the highest of each box."""
    wide = len(CUTOFFS)
    counts = np.bincount(questions * wide + levels, minlength=n * wide).reshape(n, wide)
    return counts[:, ::-1].cumsum(axis=1)[:, ::-1]


def _average_precision(sums: Floats) -> Floats:
    found, wrong, missed = np.split(sums, 3, axis=-1)
    precision, recall = (
        np.divide(found, whole, out=np.zeros(found.shape), where=whole > 0) for whole in (found + wrong, found + missed)
    )
    added = -np.diff(recall, axis=-1, append=0.0)
    average = (np.maximum.accumulate(precision, axis=-1) * added).sum(axis=-1)
    return np.where((found + missed)[..., 0] > 0, average, np.nan)


@njit(cache=True)
def _compare(
    starts: Ints, boxes: Floats, true_starts: Ints, true_boxes: Floats, positions: Ints
) -> tuple[Floats, Ints, Floats]:
    """Return `covered`, `best` and `ious` of `BoxMatches`.

    `true_boxes` are sorted by their upper edge within each question; `positions` are their positions before sorting.
    """
    covered, best, ious = np.ones(len(boxes)), np.full(len(boxes), -1), np.zeros(len(boxes))
    parts = np.empty((len(true_boxes), 4))
    for question in range(len(starts) - 1):
        for at in range(starts[question], starts[question + 1]):
            x1, y1, x2, y2 = boxes[at]
            area, count = (x2 - x1) * (y2 - y1), 0
            if area == 0:
                continue
            for place in range(true_starts[question], true_starts[question + 1]):
                left, top, right, bottom = true_boxes[place]
                part = max(x1, left), max(y1, top), min(x2, right), min(y2, bottom)
                if part[0] < part[2] and part[1] < part[3]:
                    parts[count, 0], parts[count, 1], parts[count, 2], parts[count, 3] = part
                    count += 1
                    common = (part[2] - part[0]) * (part[3] - part[1])
                    iou = common / (area + (right - left) * (bottom - top) - common)
                    if iou > ious[at] or (iou == ious[at] and positions[place] < best[at]):
                        best[at], ious[at] = positions[place], iou
            covered[at] = min(1.0, _area_of_union(parts[:count]) / area)
    return covered, best, ious


@njit(cache=True)
def _area_of_union(boxes: Floats) -> float:
    """Return the area of the union of boxes that are sorted by their upper edge: the sum over upright strips."""
    edges = np.sort(np.concatenate((boxes[:, 0], boxes[:, 2])))
    area = 0.0
    for number in range(1, len(edges)):
        left, right = edges[number - 1], edges[number]
        if left < right:
            height, lowest = 0.0, -np.inf
            for at in range(len(boxes)):
                if boxes[at, 0] <= left and right <= boxes[at, 2] and boxes[at, 3] > lowest:
                    height += boxes[at, 3] - max(boxes[at, 1], lowest)
                    lowest = boxes[at, 3]
            area += (right - left) * height
    return area
