"""A metric by the values of a facet for rows of a board, and the paired difference of two rows."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.scoring.counts.metrics import Metric
from generation.engine.scoring.question_terms import QuestionTerms, mean_over_runs, weighted_sum
from generation.models import Split
from webapp.leaderboards.analysis.slices import FacetPartition
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.metrics import MetricCell, MetricFigure, figure_of, terms_of_runs

ALL = "all"


class MetricLine(NamedTuple):
    """The figures of rows on the questions with one value of a facet, or on all; `difference` is that of two rows."""

    value: str
    label: str
    cells: tuple[MetricCell, ...]
    difference: MetricCell | None


class MetricSlices(NamedTuple):
    """A metric by a facet, for the rows that have a figure.

    Attributes
    ----------
    metric : Metric
    names : tuple of str
        The names of the rows. A difference is the figure of the first row minus that of the second.
    lines : list of MetricLine
        First all questions, then the values of the facet for which a row has enough questions.
    too_few : int
        The number of values that occur, but have too few questions.
    """

    metric: Metric
    names: tuple[str, ...]
    lines: list[MetricLine]
    too_few: int

    @property
    def has_difference(self) -> bool:
        return len(self.names) > 1


def metric_slices(
    user: Any, split: Split, metric: Metric, rows: Sequence[tuple[Entry, str]], by: FacetPartition | None
) -> MetricSlices:
    """Return a metric by a facet for these rows with their labels; rows without the metric are left out."""
    found = [(label, [one[metric.name] for one in runs]) for label, runs in _runs(user, split, metric, rows)]
    masks: list[tuple[str, str, NDArray[np.bool_] | None]] = [(ALL, "all questions", None)]
    masks += [] if by is None else list(_masks(by))
    lines = [_line(metric, value, label, [runs for _, runs in found], among) for value, label, among in masks]
    asked = [line for line in lines if any(cell.figure is not None and cell.figure.n for cell in line.cells)]
    shown = [line for line in asked if line.value == ALL or any(cell.is_known for cell in line.cells)]
    return MetricSlices(metric, tuple(label for label, _ in found), shown, len(asked) - len(shown))


def _runs(
    user: Any, split: Split, metric: Metric, rows: Sequence[tuple[Entry, str]]
) -> Iterator[tuple[str, list[dict[str, QuestionTerms]]]]:
    for entry, label in rows:
        runs = terms_of_runs(user, split, entry)
        if runs and all(metric.name in one for one in runs):
            yield label, runs


def _masks(by: FacetPartition) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    codes = by.slicing.codes
    for place, (value, label) in enumerate(zip(by.values, by.labels, strict=True)):
        yield value, label, (codes >> place & 1 == 1) if by.slicing.is_flags else codes == place


def _line(
    metric: Metric, value: str, label: str, rows: Sequence[Sequence[QuestionTerms]], among: NDArray[np.bool_] | None
) -> MetricLine:
    cells = tuple(MetricCell(metric, figure_of(runs, among)) for runs in rows)
    difference = None if len(rows) < 2 else MetricCell(metric, _difference(rows[0], rows[1], among))
    return MetricLine(value, label, cells, difference)


def _difference(
    first: Sequence[QuestionTerms], second: Sequence[QuestionTerms], among: NDArray[np.bool_] | None
) -> MetricFigure:
    # For the interval, each resample has the same questions for both.
    whole = weighted_sum([mean_over_runs(first), mean_over_runs(second)], [1, -1])
    return figure_of([whole], among)


def lines_json(found: MetricSlices) -> Iterator[dict[str, Any]]:
    """Yield a line for each value and row, and for the difference."""
    names = [*found.names, *(["difference"] if found.has_difference else [])]
    for line in found.lines:
        cells = [*line.cells, *([] if line.difference is None else [line.difference])]
        for name, cell in zip(names, cells, strict=True):
            figure = {} if cell.figure is None else cell.figure.to_json()
            yield {"metric": found.metric.name, "row": name, "slice": line.value, "label": line.label, **figure}
