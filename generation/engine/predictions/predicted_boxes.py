"""The boxes in predictions: checking the boxes and scores of a question, and storing the boxes of a whole file.

A box is four numbers `x1, y1, x2, y2`: its left, upper, right and lower edge in pixels of the picture, from the upper
left corner. Boxes and scores are kept as float32, which has every whole pixel up to 16,777,216 exactly, and is exact
to 1/1000 pixel in pictures of up to 8,192 pixels.
"""

from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions.answer_values import quote

MOST_BOXES = 1000  # boxes for each question
MOST_IN_FILE = 5_000_000  # boxes in a file: 100 MB in storage
LARGEST = 1_000_000  # pixels
NUMERIC = {int, float}  # the types of numbers in JSON; true and false are not numbers
EDGES = "[x1, y1, x2, y2]"


class PredictedBoxes(NamedTuple):
    """The boxes of all questions, in question order.

    Attributes
    ----------
    starts : array (questions + 1,) of int64
        The boxes of question `i` are those from `starts[i]` up to, but without, `starts[i + 1]`.
    boxes : array (boxes, 4) of float32
        `x1, y1, x2, y2` in pixels.
    scores : array (boxes,) of float32
        From 0 to 1; 1 for a box without a score.
    """

    starts: NDArray[np.int64]
    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]

    def at(self, positions: NDArray[np.integer]) -> "PredictedBoxes":
        """Return the boxes of some questions, in the order of `positions`."""
        counts = np.diff(self.starts)[positions]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        places = np.repeat(self.starts[:-1][positions] - starts[:-1], counts) + np.arange(starts[-1])
        return PredictedBoxes(starts, self.boxes[places], self.scores[places])


class BadBoxes(ValueError):
    """Raised if boxes or scores are wrong; the message says which."""


class BoxOutside(NamedTuple):
    """A box outside of its picture: its row, its number from 1, its edges, and the picture's width and height."""

    row: int
    number: int
    box: list[float]
    size: list[int]


class BoxBuffer:
    """The boxes of rows, in the order in which the rows are added."""

    def __init__(self) -> None:
        self.counts, self.edges, self.scores = array("i"), array("f"), array("f")
        self.has_boxes = False

    @property
    def is_full(self) -> bool:
        """Return whether there are more boxes than a file may have."""
        return len(self.scores) > MOST_IN_FILE

    def add(self, boxes: Any, scores: Any) -> None:
        """Add the boxes and scores of the next row in JSON's form; None if the row has none.

        Raises
        ------
        BadBoxes
            If the boxes or scores are wrong. The row is then added without boxes.
        """
        self.counts.append(0)
        if boxes is None and scores is None:
            return
        self.has_boxes = True
        edges = _edges([] if boxes is None else boxes)
        found = _scores(scores, len(edges) // 4)
        self.counts[-1] = len(found)
        self.edges.extend(edges)
        self.scores.extend(found)

    def outside(self, positions: NDArray[np.int32], sizes: NDArray[np.integer]) -> Iterator[BoxOutside]:
        """Yield the first box of each row that ends outside of its picture.

        Parameters
        ----------
        positions : array (rows,) of int32
            The position of each row's question; -1 for an unknown question.
        sizes : array (questions, 2) of integers
            Width and height of each question's picture in pixels; 0 if they are not known.
        """
        counts = np.frombuffer(self.counts, np.int32)
        rows = np.flatnonzero((counts > 0) & (positions >= 0))
        if not len(rows):
            return
        boxes, ends = self._boxes, np.cumsum(counts, dtype=np.int64)
        starts = (ends - counts)[rows]
        limits = np.where(sizes > 0, sizes, LARGEST)[positions[rows]]
        bounds = np.column_stack([starts, ends[rows]]).ravel()
        farthest = np.column_stack([_largest(boxes[:, edge], bounds) for edge in (2, 3)])
        for at in np.flatnonzero((farthest > limits).any(axis=1)).tolist():
            of_row = boxes[starts[at] : ends[rows[at]]]
            number = int(np.argmax((of_row[:, 2:] > limits[at]).any(axis=1)))
            row = int(rows[at])
            yield BoxOutside(row, number + 1, of_row[number].tolist(), sizes[positions[row]].tolist())

    def by(self, positions: NDArray[np.int32]) -> PredictedBoxes | None:
        """Return the boxes in question order; None if no row has any. `positions` has each row's question once."""
        if not self.has_boxes:
            return None
        counts, order = np.frombuffer(self.counts, np.int32), np.argsort(positions, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts[order], dtype=np.int64)])
        boxes, scores = self._boxes, np.frombuffer(self.scores, np.float32)
        if (order[1:] < order[:-1]).any():
            first = np.cumsum(counts, dtype=np.int64) - counts
            moved = np.repeat(first[order] - starts[:-1], counts[order]) + np.arange(len(scores))
            boxes, scores = boxes[moved], scores[moved]
        return PredictedBoxes(starts, boxes, scores)

    @property
    def _boxes(self) -> NDArray[np.float32]:
        return np.frombuffer(self.edges, np.float32).reshape(-1, 4)


def _largest(values: NDArray[np.float32], bounds: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the largest value between each pair of successive bounds: first, end, first, end and so on."""
    largest: NDArray[np.float32] = np.maximum.reduceat(np.append(values, np.float32(0)), bounds)[::2]
    return largest


def _edges(boxes: Any) -> list[float]:
    """Return the edges of all boxes in one list; raise `BadBoxes`."""
    if not isinstance(boxes, list):
        raise BadBoxes(f'expected "boxes" as a list of {EDGES}, got {quote(boxes)}')
    if len(boxes) > MOST_BOXES:
        raise BadBoxes(f"expected at most {MOST_BOXES:,} boxes, got {len(boxes):,}: keep those with the highest scores")
    edges: list[float] = []
    for number, box in enumerate(boxes, 1):
        _check_box(box, number)
        edges += box
    return edges


def _check_box(box: Any, number: int) -> None:
    if not isinstance(box, list) or len(box) != 4:
        came = f"a list of {len(box)}" if isinstance(box, list) else quote(box)
        raise BadBoxes(f"expected box {number:,} as four numbers {EDGES}, got {came}")
    if not NUMERIC.issuperset(map(type, box)):
        came = next(quote(edge) for edge in box if type(edge) not in NUMERIC)
        raise BadBoxes(f"expected four numbers {EDGES} in box {number:,}, got {came}")
    x1, y1, x2, y2 = box
    if 0 <= x1 <= x2 <= LARGEST and 0 <= y1 <= y2 <= LARGEST:
        return
    beyond = [edge for edge in box if not 0 <= edge <= LARGEST]
    if beyond:
        came = quote(beyond[0])
        raise BadBoxes(f"expected pixels from 0 to {LARGEST:,} in box {number:,}, got {came}: cut it to the picture")
    reason = f"expected x1 <= x2 and y1 <= y2 in box {number:,}, got {_as_text(box)}"
    raise BadBoxes(f"{reason}: write the left, upper, right and lower edge")


def _scores(scores: Any, n: int) -> list[float]:
    """Return a score for each of `n` boxes: 1 where scores are None; raise `BadBoxes`."""
    if scores is None:
        return [1.0] * n
    if not isinstance(scores, list):
        raise BadBoxes(f'expected "scores" as a list of numbers, got {quote(scores)}')
    if len(scores) != n:
        raise BadBoxes(f"expected one score for each box ({n:,}), got {len(scores):,}")
    for number, score in enumerate(scores, 1):
        if type(score) not in NUMERIC or not 0 <= score <= 1:
            raise BadBoxes(f"expected a score from 0 to 1 for box {number:,}, got {quote(score)}")
    return scores


def describe_outside(found: BoxOutside) -> str:
    """Return the error message for a box that is not in its picture."""
    width, height = found.size
    wanted = f"expected box {found.number:,} in the picture of {width} x {height} pixels"
    return f"{wanted}, got {_as_text(found.box)}: cut it to the picture"


def _as_text(box: list[float]) -> str:
    return f"[{', '.join(f'{edge:.7g}' for edge in box)}]"
