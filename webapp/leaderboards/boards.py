"""Boards: the ranked entries of a split, each with its accuracy and its accuracy on the world's columns.

If columns are tasks, each entry also has the mean of its accuracies on them, and the number of tasks that it fails.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from generation.access import Visitor, may_see_exact_figures, may_see_facet
from generation.engine.items import Column, FacetKind
from generation.engine.scoring.counts.metrics import Better, Metric
from generation.engine.scoring.figures import Averaged, Figure, figure, is_too_few, percent, points, rounded
from generation.engine.scoring.ladder import WHOLE
from generation.engine.scoring.ranking.all_pairs import RankInterval
from generation.engine.worlds.breakdowns import Tasks
from generation.models import Split
from generation.reports.reweighting import WeightsSource, weights_source
from generation.splits.query_string import BadAddress
from generation.storage.split_index import IndexedFacet, SplitIndex, counts_of_all
from webapp.leaderboards import entries
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.disclosure.disclosure_budget import PartOfSplit
from webapp.leaderboards.disclosure.visibility import DEFERRED
from webapp.leaderboards.entries import Entry, people_by, right_among, right_by, share_of
from webapp.leaderboards.metrics import MetricCell, metric_table
from webapp.leaderboards.models import Method
from webapp.leaderboards.ranking import slice_weights
from webapp.leaderboards.ranking.all_pairs import rank_intervals, ranked
from webapp.leaderboards.ranking.slice_weights import WEIGHTS, SliceWeights, weighted_figure, weighted_ranks


def shade(share: float | None) -> str:
    return "" if share is None else f"shade-{min(9, int(10 * share))}"


class PassedTasks(NamedTuple):
    """An entry's result over `of` tasks; mean and failed are None if a task has too few questions."""

    of: int
    mean: float | None = None
    failed: int | None = None

    @property
    def mean_text(self) -> str:
        return "" if self.mean is None else points(self.mean)

    @property
    def failed_text(self) -> str:
        return "" if self.failed is None else str(self.failed)

    def to_json(self) -> dict[str, Any]:
        return self._asdict()


def passed_tasks(tasks: Sequence[Averaged], *, at: Fraction) -> PassedTasks:
    """Return an entry's result over tasks; tasks without questions don't count.

    Parameters
    ----------
    tasks : sequence of Averaged
        The right answers on each task.
    at : Fraction
        The accuracy from which a task is passed.
    """
    asked = [one for one in tasks if one.n and one.rights]
    if not asked or any(is_too_few(one.n) for one in asked):
        return PassedTasks(len(asked))
    shares = [one.exact_mean for one in asked]
    mean = sum(shares, Fraction(0)) / len(shares)
    return PassedTasks(len(asked), rounded(float(mean)), sum(one < at for one in shares))


ACCURACY, DATE, NAME, SHARED, REWEIGHTED = "accuracy", "date", "method", "shared", "reweighted"
MOST_COLUMNS = 24
MEAN, FAILED = "tasks-mean", "tasks-failed"
RANKS, WEIGHTED = "ranks", "weighted"
ASKED = ("show", "made", "sort", "q", RANKS, WEIGHTS)  # parameters in URLs of boards


class BoardRow(NamedTuple):
    """An entry as a board shows it.

    Attributes
    ----------
    entry : Entry
    rank : int or None
        Equally accurate entries share a rank; None for people and for the site's baselines.
    accuracy : Figure
    read : Figure or None
        The accuracy with answers extracted from free text, if there was any free text.
    unreadable : float or None
        The share of answers from which none could be extracted, 0 .. 1; None if there was no free text.
    columns : tuple of Figure
        In the order of the board's columns.
    passed : PassedTasks or None
        The result over tasks, if columns are tasks.
    shared : Figure or None
        The accuracy on the questions that people were asked, if there is a human baseline.
    reweighted : Figure or None
        The reweighted accuracy, if the world names facets for it.
    address : str
        URL of the questions with the entry's answers; empty if the visitor may not see them.
    filters : tuple of str
        For each column, the query that selects its questions there.
    metrics : tuple of MetricCell
        The figures of the board's metrics.
    ranks : RankInterval or None
        The ranks that are compatible with the significant differences, if the URL asks for them.
    weighted : Figure or None
        The accuracy weighted by slices, if the URL has weights.
    weighted_rank : int or None
        The rank by the weighted accuracy.
    """

    entry: Entry
    rank: int | None
    accuracy: Figure
    read: Figure | None
    unreadable: float | None
    columns: tuple[Figure, ...]
    passed: PassedTasks | None
    shared: Figure | None
    reweighted: Figure | None
    address: str
    filters: tuple[str, ...]
    metrics: tuple[MetricCell, ...] = ()
    ranks: RankInterval | None = None
    weighted: Figure | None = None
    weighted_rank: int | None = None

    @property
    def ranks_text(self) -> str:
        if self.ranks is None:
            return ""
        return str(self.ranks.low) if self.ranks.low == self.ranks.high else f"{self.ranks.low}–{self.ranks.high}"

    @property
    def cells(self) -> SafeString:
        """Return the HTML of the column cells; a template would take three times as long for thousands of cells."""
        found = zip(self.columns, self.filters, strict=True)
        cells = (
            f'<td class="{f"num {shade(one.share)}".strip()}" title="{one.said}">{self._linked(one, wanted)}</td>'
            for one, wanted in found
        )
        return mark_safe("".join(cells))  # noqa: S308 - numbers, and addresses whose parts are quoted

    def _linked(self, one: Figure, wanted: str) -> str:
        text = one.points or ("–" if one.note else f"n = {one.n}")
        return f'<a href="{self.address}&amp;{wanted}">{text}</a>' if self.address and one.n else text

    @property
    def runs(self) -> list[dict[str, object]]:
        return [
            {"submission": one.submission, "figure": figure(Averaged(one.n, (one.right,)))} for one in self.entry.scores
        ]

    @property
    def unreadable_text(self) -> str:
        return "" if self.unreadable is None else f"{percent(self.unreadable)} unreadable"


@dataclass(frozen=True)
class BoardRequest:
    """What a URL asks of a board: which entries, and in which order."""

    choose: str = entries.BEST
    made: tuple[str, ...] = ()
    sort: str = ACCURACY
    words: str = ""
    has_ranks: bool = False
    weights: SliceWeights | None = None

    @property
    def is_plain(self) -> bool:
        return self == BoardRequest()


@dataclass(frozen=True)
class Board:
    """A split's board as one visitor sees it.

    Attributes
    ----------
    split : Split
    columns : tuple of Column
    tasks : Tasks or None
        Which columns are tasks.
    rows : list of BoardRow
    hidden : int
        The number of rows that the filters remove.
    is_open : bool
        Whether everything is shown; otherwise one published figure for each method.
    asked : int
        The number of questions that people were asked, which the shared column is about; 0 without a human baseline.
    instead : str
        The facet of the columns, if most of the world's own columns have too few questions; otherwise empty.
    is_reweighted : bool
        Whether rows have a reweighted accuracy.
    metrics : tuple of Metric
        The world's other metrics, as far as some row has a figure.
    has_ranks : bool
        Whether rows have an interval of ranks.
    weights : SliceWeights or None
        The weights of the weighted accuracy.
    """

    split: Split
    columns: tuple[Column, ...]
    tasks: Tasks | None
    rows: list[BoardRow]
    hidden: int
    is_open: bool
    asked: int
    instead: str = ""
    is_reweighted: bool = False
    metrics: tuple[Metric, ...] = ()
    has_ranks: bool = False
    weights: SliceWeights | None = None

    @property
    def n(self) -> int:
        return self.split.questions


def board_of(user: Visitor, split: Split, wanted: BoardRequest | None = None) -> Board:
    """Return a split's board as this visitor may see it; entries are ranked before they are filtered."""
    wanted = wanted or BoardRequest()
    found = entries.entries_of(user, split, choose=wanted.choose)
    if not may_see_exact_figures(user, split):
        return _published_board(split, found, wanted)
    index = SplitIndex.open(split)
    columns = columns_of(user, split, index)
    tasks = tasks_among(split, columns)
    human = next((entry for entry in found if entry.is_human), None)
    ranks = rank_entries(found)
    filters = tuple(urlencode({one.facet: one.value}) for one in columns)
    are_own = columns == own_columns_of(user, split, index)
    questions = reverse("board_questions", args=[split.dataset.slug, split.name])
    source = weights_source(split)
    looks = Looks(columns, tasks, filters, questions, are_own, source)
    rows = [_row(entry, ranks.get(entry.key), looks, human, index) for entry in found]
    shown = [row for row in rows if _passes(row.entry, wanted)]
    table = metric_table(user, split, [row.entry for row in shown])
    if table is not None:
        cells = (one.cells for one in table.rows)
        shown = [row._replace(metrics=found) for row, found in zip(shown, cells, strict=True)]
    has_replies = any(one.replies for row in rows for one in row.entry.submissions)
    usage = columns_for([row.usage for row in rows], has_replies=has_replies)
    shown = [row._replace(usage_cells=_usage_cells(row, usage)) for row in shown]
    asked = 0 if human is None or human.baseline is None else human.baseline.asked
    instead = "" if are_own else index.facets[columns[0].facet].label
    metrics = () if table is None else table.metrics
    hidden = len(rows) - len(shown)
    if wanted.has_ranks:
        intervals = rank_intervals(found)
        shown = [row._replace(ranks=intervals.get(row.entry.key)) for row in shown]
    if wanted.weights is not None:
        shown = _with_weights(shown, found, wanted.weights)
    board = Board(
        split,
        columns,
        tasks,
        shown,
        hidden,
        True,
        asked,
        instead,
        source is not None,
        metrics,
        wanted.has_ranks,
        wanted.weights,
    )
    return board if wanted.sort == ACCURACY else replace(board, rows=_sorted(board, wanted.sort))


def _with_weights(rows: list[BoardRow], found: list[Entry], weights: SliceWeights) -> list[BoardRow]:
    """Return the rows with their weighted accuracy, and with ranks by it among all entries of the board."""
    ranks = weighted_ranks([(entry, weighted_figure(entry, weights)) for entry in ranked(found)])
    return [
        row._replace(weighted=weighted_figure(row.entry, weights), weighted_rank=ranks.get(row.entry.key))
        for row in rows
    ]


def _published_board(split: Split, found: list[Entry], wanted: BoardRequest) -> Board:
    """Return the board of a split with withheld answers: only the published figures of each method."""
    plan, ranks = disclosure_budget.plan_of(split), rank_entries(found)
    parts = disclosure_budget.parts_of(split, plan)
    rows = [
        BoardRow(
            entry,
            ranks.get(entry.key),
            entry.figure,
            None,
            None,
            tuple(_of_part(entry, part) for part in parts),
            None,
            None,
            None,
            "",
            ("",) * len(parts),
        )
        for entry in found
        if _passes(entry, wanted)
    ]
    columns = tuple(Column(part.label, plan.partition, part.value) for part in parts)
    board = Board(split, columns, None, rows, len(found) - len(rows), False, 0)
    return board if wanted.sort == ACCURACY else replace(board, rows=_sorted(board, wanted.sort))


def _of_part(entry: Entry, part: PartOfSplit) -> Figure:
    share = entry.parts.get(part.value)
    return Figure(part.n, 1, note=DEFERRED) if share is None else Figure(part.n, 1, share / WHOLE)


def columns_of(user: Visitor, split: Split, index: SplitIndex) -> tuple[Column, ...]:
    """Return the columns of a board that have questions and that this visitor may see.

    These are the world's columns. If most of them have too few questions for a percentage, they are replaced by the
    values of the finest facet most of whose values have enough questions, if there is one.
    """
    own, counts = own_columns_of(user, split, index), counts_of_all(split.index_digest)
    asked = [int(counts[one.facet][index.facets[one.facet].values.index(one.value)]) for one in own]
    return own if _are_mostly_enough(asked) else _finest(user, split, index) or own


def own_columns_of(user: Visitor, split: Split, index: SplitIndex) -> tuple[Column, ...]:
    columns = split.dataset.get_world().columns(split.read_spec())
    return tuple(column for column in columns if _has_column(user, split, index.facets.get(column.facet), column.value))


def _finest(user: Visitor, split: Split, index: SplitIndex) -> tuple[Column, ...]:
    """Return a column for each value of the finest facet most of whose values have enough questions; empty if none.

    Only facets count that give each question one value and reveal nothing beyond the question's words, not even whether
    the train split contains it.
    """
    best: tuple[Column, ...] = ()
    for name, found in counts_of_all(split.index_digest).items():
        facet, counts = index.facets[name], found.tolist()
        if facet.kind != FacetKind.CATEGORY or facet.reveals or not may_see_facet(user, split, facet):
            continue
        asked = [at for at, count in enumerate(counts) if count]
        if (
            1 < len(asked) <= MOST_COLUMNS
            and _are_mostly_enough([counts[at] for at in asked])
            and len(asked) > len(best)
        ):
            best = tuple(Column(facet.labels[at], facet.name, facet.values[at]) for at in asked)
    return best


def _are_mostly_enough(counts: Sequence[int]) -> bool:
    return 2 * sum(not is_too_few(count) for count in counts) > len(counts)


def tasks_among(split: Split, columns: Iterable[Column]) -> Tasks | None:
    tasks = split.dataset.get_world().tasks
    return tasks if tasks is not None and any(one.facet == tasks.facet for one in columns) else None


def _has_column(user: Visitor, split: Split, facet: IndexedFacet | None, value: str) -> bool:
    return facet is not None and value in facet.values and may_see_facet(user, split, facet)


def rank_entries(found: Sequence[Entry]) -> dict[str, int]:
    """Return ranks by the entries' keys: equally accurate entries share a rank, and the next rank is skipped."""
    shares = {entry.key: share_of(entry) for entry in ranked(found)}
    first: dict[Fraction, int] = {}
    for place, share in enumerate(sorted(shares.values(), reverse=True), start=1):
        first.setdefault(share, place)
    return {key: first[share] for key, share in shares.items()}


def _passes(entry: Entry, wanted: BoardRequest) -> bool:
    if wanted.made and entry.made not in wanted.made:
        return False
    told = " ".join([entry.name, entry.circumstances, entry.method.by if entry.method else ""]).lower()
    return all(word in told for word in wanted.words.lower().split())


class Looks(NamedTuple):
    """What the rows of a board share: columns, their filters, the URL of the questions, and the questions' weights.

    `are_own` says whether the columns are the world's; the counts for those are stored with scores.
    """

    columns: tuple[Column, ...]
    tasks: Tasks | None
    filters: tuple[str, ...]
    questions: str
    are_own: bool
    source: WeightsSource | None


def _row(entry: Entry, rank: int | None, looks: Looks, human: Entry | None, index: SplitIndex) -> BoardRow:
    scores = entry.scores
    has_text = any(score.has_text for score in scores)
    columns = [on_column(entry, column, index, is_own=looks.are_own) for column in looks.columns]
    return BoardRow(
        entry,
        rank,
        entry.figure,
        figure(Averaged(scores[0].n, tuple(one.right_read for one in scores))) if has_text else None,
        sum(one.unreadable for one in scores) / len(scores) / max(1, scores[0].n) if has_text else None,
        tuple(figure(one) for one in columns),
        _passed(columns, looks),
        figure(_shared(entry, human)) if human is not None else None,
        entry.reweighted(looks.source) if looks.source is not None else None,
        f"{looks.questions}?entry={entry.key}",
        looks.filters,
        usage=usage_figures(entry.scores),
    )


def _usage_cells(row: BoardRow, columns: Sequence[UsageColumn]) -> tuple[UsageCell, ...]:
    usage = row.usage
    return tuple(UsageCell("") if usage is None else usage.cell(column) for column in columns)


def _passed(columns: Iterable[Averaged], looks: Looks) -> PassedTasks | None:
    """Return an entry's result over those columns that are tasks, or None if there are none."""
    tasks = looks.tasks
    if tasks is None:
        return None
    mine = [one for one, column in zip(columns, looks.columns, strict=True) if column.facet == tasks.facet]
    return passed_tasks(mine, at=tasks.passed)


def on_column(entry: Entry, column: Column, index: SplitIndex, *, is_own: bool) -> Averaged:
    """Return an entry's right answers on a column's questions; `is_own` says whether it is the world's column."""
    if entry.baseline is not None:
        found = people_by(entry.baseline.digest, entry.split.index_digest, column.facet)
        at = index.facets[column.facet].values.index(column.value)
        return Averaged(int(found.n[at]), (found.right[at].item(),))
    if not is_own:
        at = index.facets[column.facet].values.index(column.value)
        slices = [right_by(one.predictions, entry.split.index_digest, column.facet) for one in entry.submissions]
        return Averaged(int(slices[0].n[at]), tuple(one.right[at].item() for one in slices))
    counts = [score.columns_json.get(column.label, [0, 0]) for score in entry.scores]
    return Averaged(int(counts[0][1]), tuple(right for right, _ in counts))


def _shared(entry: Entry, human: Entry) -> Averaged:
    """Return an entry's right answers on the questions that people were asked."""
    assert human.baseline is not None
    if entry.baseline is not None:
        same = entry.baseline.digest == human.baseline.digest
        return entry.averaged if same else Averaged(0, ())
    digest, index = human.baseline.digest, human.split.index_digest
    rights = tuple(right_among(one.predictions, digest, index) for one in entry.submissions)
    return Averaged(human.baseline.asked, rights)


def _sorted(board: Board, by: str) -> list[BoardRow]:
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
    return [*plain, *weighted, *shared, *reweighted, *tasks, *metrics, *columns]


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
    """Return what a URL asks of a board, without `sort` in the order of the weighted accuracy if there are weights.

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
