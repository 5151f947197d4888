"""Rows of a board as one visitor sees it, and what a URL asks of a board."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from django.utils.safestring import SafeString, mark_safe

from generation.engine.items import Column
from generation.engine.scoring.counts.metrics import Metric
from generation.engine.scoring.figures import Averaged, Figure, figure, is_too_few, percent, points, rounded
from generation.engine.scoring.ranking.all_pairs import RankInterval
from generation.engine.worlds.breakdowns import Tasks
from generation.models import Split
from webapp.leaderboards import entries
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.metrics import MetricCell
from webapp.leaderboards.ranking.slice_weights import WEIGHTS, SliceWeights
from webapp.leaderboards.replies.reply_figures import UsageCell, UsageColumn, UsageFigures


def shade(share: float | None) -> str:
    return "" if share is None else f"shade-{min(9, int(10 * share))}"


class PassedTasks(NamedTuple):
    """An entry's result on `of` tasks. `mean` and `failed` are None if a task has too few questions."""

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
        The ranks that no significant difference excludes, if the URL asks for them.
    weighted : Figure or None
        The accuracy weighted by slices, if the URL has weights.
    weighted_rank : int or None
        The rank by the weighted accuracy.
    usage : UsageFigures or None
        Coverage, tokens, cost and latency, if they are known.
    usage_cells : tuple of UsageCell
        The cells of the board's columns for them.
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
    usage: UsageFigures | None = None
    usage_cells: tuple[UsageCell, ...] = ()

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
    usage : tuple of UsageColumn
        The columns about replies; empty if no row has replies and every question has an answer.
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
    usage: tuple[UsageColumn, ...] = ()

    @property
    def n(self) -> int:
        return self.split.questions
