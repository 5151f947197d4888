"""Slow twins of the metrics of boxes: boxes with whole coordinates are painted on a grid, and counted one by one."""

from typing import NamedTuple

import numpy as np

from generation.engine.scoring.counts.grounding import ScoredBoxes, TrueBoxes

Box = tuple[float, float, float, float]


class Answered(NamedTuple):
    """A question: its predicted boxes with their scores, and its true boxes."""

    predicted: list[tuple[Box, float]]
    true: list[Box]


def pack(questions: list[Answered]) -> tuple[ScoredBoxes, TrueBoxes]:
    """Return the boxes of all questions as arrays."""
    predicted = [one for question in questions for one in question.predicted]
    true = [box for question in questions for box in question.true]
    return (
        ScoredBoxes(
            starts_of([len(question.predicted) for question in questions]),
            np.array([box for box, _ in predicted], np.float64).reshape(-1, 4),
            np.array([score for _, score in predicted], np.float64),
        ),
        TrueBoxes(starts_of([len(question.true) for question in questions]), np.array(true, np.float64).reshape(-1, 4)),
    )


def starts_of(counts: list[int]) -> np.ndarray:
    return np.array([0, *np.cumsum(counts)], np.int64)


def pixels(*boxes: Box) -> set[tuple[int, int]]:
    """Return the pixels of the union of boxes with whole coordinates."""
    return {(x, y) for x1, y1, x2, y2 in boxes for x in range(int(x1), int(x2)) for y in range(int(y1), int(y2))}


def groundp_twin(questions: list[Answered]) -> float | None:
    """Return GroundP as equations 3 and 4 of the paper have it."""
    inside = total = 0.0
    for question in questions:
        for box, score in question.predicted:
            own = pixels(box)
            inside += score * (len(own & pixels(*question.true)) / len(own) if own else 1.0)
            total += score
    return inside / total if total else None


def iou_twin(box: Box, other: Box) -> float:
    both, either = pixels(box) & pixels(other), pixels(box, other)
    return len(both) / len(either) if either else 0.0


def counts_twin(question: Answered, cutoff: float, iou: float) -> tuple[int, int, int]:
    """Return the true positives, false positives and false negatives of a question."""
    if not question.true:
        return 0, 0, 0
    found, given = set(), 0
    for box, score in question.predicted:
        if score >= cutoff:
            given += 1
            ious = [iou_twin(box, true) for true in question.true]
            best = ious.index(max(ious))
            if ious[best] >= iou:
                found.add(best)
    return len(found), given - len(found), len(question.true) - len(found)


def ap_twin(questions: list[Answered], iou: float) -> float | None:
    """Return the average precision by the steps of the published code."""
    if not any(question.true for question in questions):
        return None
    curve = []
    best = 0.0
    for level in range(11):
        found, wrong, missed = (
            sum(column)
            for column in zip(*(counts_twin(question, level / 10, iou) for question in questions), strict=True)
        )
        best = max(best, found / (found + wrong) if found + wrong else 0.0)
        curve.append((best, found / (found + missed)))
    average = before = 0.0
    for precision, recall in reversed(curve):
        average += precision * (recall - before)
        before = recall
    return average
