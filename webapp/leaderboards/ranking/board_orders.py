"""Orders of a board's rows: the possible orders, sorting, and the request that a URL makes of a board."""

import math
from collections.abc import Sequence

from generation.access import Visitor, may_see_exact_figures
from generation.engine.scoring.counts.metrics import Better, Metric
from generation.models import Split
from generation.splits.query_string import BadAddress
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import entries
from webapp.leaderboards.models import Method
from webapp.leaderboards.ranking import slice_weights
from webapp.leaderboards.ranking.board_rows import (
    ACCURACY,
    DATE,
    FAILED,
    MEAN,
    NAME,
    REWEIGHTED,
    SHARED,
    WEIGHTED,
    Board,
    BoardRequest,
    BoardRow,
    PassedTasks,
)
from webapp.leaderboards.replies.reply_figures import UsageCell, UsageColumn


def sort_rows(board: Board, by: str) -> list[BoardRow]:
    """Return the rows in another order: by a column (best first), by name, or by date (latest first)."""
    if by == DATE:
        return sorted(board.rows, key=lambda row: row.entry.date, reverse=True)
    if by == NAME:
        return sorted(board.rows, key=lambda row: row.entry.name.casefold())
    if by in (MEAN, FAILED):
        return sorted(board.rows, key=lambda row: _task_sort_key(row.passed, by), reverse=True)
    if by == WEIGHTED:
        return sorted(board.rows, key=lambda row: slice_weights.merit(row.weighted), reverse=True)
    metric = next((one for one in board.metrics if one.name == by), None)
    if metric is not None:
        return sorted(board.rows, key=lambda row: _merit(row, metric), reverse=True)
    for at, column in enumerate(board.usage):
        if column.name == by:
            return sorted(board.rows, key=lambda row: _usage_sort_key(row.usage_cells[at], column), reverse=True)
    labels = [column.label for column in board.columns]

    def height(row: BoardRow) -> float:
        special = {SHARED: row.shared, REWEIGHTED: row.reweighted}
        found = special[by] if by in special else row.columns[labels.index(by)] if by in labels else None
        return -1.0 if found is None or found.share is None else found.share

    return sorted(board.rows, key=height, reverse=True)


def _merit(row: BoardRow, metric: Metric) -> float:
    """Return the sort key of a row by a metric; rows without a figure come last."""
    figure = next(cell.figure for cell in row.metrics if cell.metric == metric)
    if figure is None or figure.value is None:
        return -math.inf
    return figure.value if metric.is_better == Better.HIGHER else -figure.value


def _usage_sort_key(cell: UsageCell, column: UsageColumn) -> float:
    if cell.order is None:
        return -math.inf
    return cell.order if column.is_share else -cell.order


def _task_sort_key(found: PassedTasks | None, by: str) -> float:
    if found is None or found.mean is None or found.failed is None:
        return -math.inf
    return found.mean if by == MEAN else -found.failed


def sorts_of(board: Board) -> list[tuple[str, str]]:
    """Return the possible orders of a board, each as its name in URLs and its label."""
    plain = [(ACCURACY, "accuracy"), (DATE, "date"), (NAME, "method")]
    shared = [(SHARED, "accuracy on the questions that people answered")] if board.asked else []
    reweighted = [(REWEIGHTED, "reweighted accuracy")] if board.is_reweighted else []
    tasks = [(MEAN, f"mean over {board.tasks.noun}s"), (FAILED, f"{board.tasks.noun}s failed")] if board.tasks else []
    metrics = [(one.name, one.label) for one in board.metrics]
    usage = [(one.name, one.label.lower()) for one in board.usage]
    columns = [(column.label, column.title or column.label) for column in board.columns]
    weighted = [(WEIGHTED, "weighted accuracy")] if board.weights is not None else []
    return [*plain, *weighted, *shared, *reweighted, *usage, *tasks, *metrics, *columns]


def read_request(
    user: Visitor,
    split: Split,
    *,
    choose: str = entries.BEST,
    made: Sequence[str] = (),
    sort: str = "",
    words: str = "",
    has_ranks: bool = False,
    weights: str = "",
) -> BoardRequest:
    """Return what a URL asks of a board. With weights and without `sort`, the order is by the weighted accuracy.

    Raises
    ------
    BadAddress
        If the weights are invalid, or if intervals of ranks or weights are wanted while answers are withheld.
    """
    if (has_ranks or weights) and not may_see_exact_figures(user, split):
        raise BadAddress(
            f"Expected neither intervals of ranks nor weights, because the answers of {split} are withheld. Both are "
            "shown when its owner opens them."
        )
    read = slice_weights.read_weights(user, split, SplitIndex.open(split), weights) if weights else None
    usual = ACCURACY if read is None else WEIGHTED
    return BoardRequest(choose, tuple(made), sort or usual, words, has_ranks, read)


def made_of() -> list[tuple[str, str]]:
    return [(str(value), str(label)) for value, label in Method.Made.choices]
