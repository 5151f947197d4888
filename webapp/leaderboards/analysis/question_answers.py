"""The answers of a board's rows to one question, with their numbers and boxes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.models import Split
from generation.storage.split_index import SplitIndex
from webapp.leaderboards.analysis.questions import RowAnswers, given
from webapp.leaderboards.analysis.slices import SliceContext
from webapp.leaderboards.entries import Contender, Entry
from webapp.leaderboards.metrics import load_predictions

THINNEST, THICKEST = 1.0, 4.5  # width of a box's line for the score 0 and for the score 1, in pixels of the page
FAINTEST = 0.35  # opacity of a line for the score 0
UNSEEN = 0.005  # boxes with a lower score are not drawn
MOST_DRAWN = 100  # the largest number of boxes in a picture: those with the highest scores


class DrawnBox(NamedTuple):
    """A box in pixels of its picture; the width and the opacity of its line show its score."""

    x: float
    y: float
    width: float
    height: float
    score: float

    @property
    def line(self) -> float:
        return round(THINNEST + (THICKEST - THINNEST) * self.score, 2)

    @property
    def opacity(self) -> float:
        return round(FAINTEST + (1 - FAINTEST) * self.score, 2)


class AnsweredRow(NamedTuple):
    """A row's answers to a question.

    Attributes
    ----------
    entry : Entry
    label : str
    answers : list of RowAnswers
        Of all runs.
    number : float or None
        The number of the first run, which is not rounded; None if it has none.
    boxes : list of DrawnBox, or None
        The boxes of the first run, the highest scores first; None if it has no boxes.
    hidden : int
        The number of its boxes that are not drawn.
    """

    entry: Entry
    label: str
    answers: list[RowAnswers]
    number: float | None
    boxes: list[DrawnBox] | None
    hidden: int

    @property
    def number_text(self) -> str:
        return "" if self.number is None or self.number.is_integer() else f"{self.number:.2f}"

    @property
    def sum_of_scores(self) -> str:
        return "" if not self.boxes else f"{sum(box.score for box in self.boxes):.2f}"


def read_row(
    split: Split,
    ground: SliceContext,
    row: tuple[Entry, Contender],
    position: int,
    outside: Sequence[Mapping[int, str]],
) -> AnsweredRow:
    """Return a row's answers to the question at this position; `given` describes `outside`."""
    entry, contender = row
    number, boxes, hidden = None, None, 0
    if entry.submissions:
        found = load_predictions(split, entry.submissions[0].predictions)
        if found.numbers is not None and not np.isnan(found.numbers[position]):
            number = float(found.numbers[position])
        if found.boxes is not None:
            own = slice(*found.boxes.starts[position : position + 2].tolist())
            boxes = _boxes_to_draw(found.boxes.boxes[own], found.boxes.scores[own])
            hidden = own.stop - own.start - len(boxes)
    return AnsweredRow(entry, contender.label, given(ground, contender, position, outside), number, boxes, hidden)


def true_boxes(index: SplitIndex, position: int) -> list[DrawnBox]:
    found = None if index.boxes is None else index.boxes.of(position)
    return [] if found is None else [_box(box, 1.0) for box in found.tolist()]


def _boxes_to_draw(boxes: NDArray[np.float32], scores: NDArray[np.float32]) -> list[DrawnBox]:
    order = np.argsort(-scores, kind="stable")[:MOST_DRAWN]
    return [_box(boxes[at].tolist(), float(scores[at])) for at in order.tolist() if scores[at] >= UNSEEN]


def _box(edges: Sequence[float], score: float) -> DrawnBox:
    left, top, right, bottom = (round(edge, 2) for edge in edges)
    return DrawnBox(left, top, round(right - left, 2), round(bottom - top, 2), round(score, 4))
