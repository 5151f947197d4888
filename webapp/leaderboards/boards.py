"""Boards: the ranked entries of a split, each with its accuracy and its accuracy on the world's columns.

If columns are tasks, each entry also has the mean of its accuracies on them, and the number of tasks that it fails.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from generation.access import Visitor, may_see_exact_figures, may_see_facet
from generation.engine.items import Column, FacetKind
from generation.engine.scoring.figures import Averaged, Figure, figure, is_too_few
from generation.engine.scoring.ladder import WHOLE
from generation.engine.worlds.breakdowns import Tasks
from generation.models import Split
from generation.reports.reweighting import WeightsSource, weights_source
from generation.splits.references import reference_for
from generation.storage.split_index import IndexedFacet, SplitIndex, counts_of_all
from webapp.leaderboards import entries
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.disclosure.disclosure_budget import PartOfSplit
from webapp.leaderboards.disclosure.visibility import DEFERRED
from webapp.leaderboards.entries import Entry, people_by, right_among, right_by, share_of
from webapp.leaderboards.metrics import metric_table
from webapp.leaderboards.ranking.all_pairs import rank_intervals, ranked
from webapp.leaderboards.ranking.board_orders import sort_rows
from webapp.leaderboards.ranking.board_rows import (
    ACCURACY,
    Board,
    BoardRequest,
    BoardRow,
    PassedTasks,
    passed_tasks,
)
from webapp.leaderboards.ranking.slice_weights import weighted_figure, weighted_ranks
from webapp.leaderboards.replies.reply_figures import UsageCell, UsageColumn, columns_for, usage_figures

MOST_COLUMNS = 24


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
    source = weights_source(split, reference_for(user, split))
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
    shown = _with_ranks_and_weights(shown, found, wanted)
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
        usage=usage,
        has_ranks=wanted.has_ranks,
        weights=wanted.weights,
    )
    return board if wanted.sort == ACCURACY else replace(board, rows=sort_rows(board, wanted.sort))


def _with_ranks_and_weights(rows: list[BoardRow], found: list[Entry], wanted: BoardRequest) -> list[BoardRow]:
    """Return the rows with what the URL asks for; ranks are those among all entries of the board."""
    weights = wanted.weights
    if wanted.has_ranks:
        intervals = rank_intervals(found)
        rows = [row._replace(ranks=intervals.get(row.entry.key)) for row in rows]
    if weights is None:
        return rows
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
    return board if wanted.sort == ACCURACY else replace(board, rows=sort_rows(board, wanted.sort))


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
