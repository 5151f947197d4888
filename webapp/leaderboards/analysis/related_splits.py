"""A view over several splits with the same reference, for example those of models that are trained on split A.

It shows what a method learns on one split and fails on another one.
"""

from collections.abc import Sequence
from typing import Any

from generation.access import may_see_exact_figures
from generation.engine.scoring.figures import Averaged
from generation.engine.worlds.breakdowns import BoardView
from generation.models import Split
from generation.storage.split_index import SplitIndex
from webapp.leaderboards.analysis.slices import (
    SliceCell,
    SliceColumn,
    SliceContext,
    SlicePanel,
    SliceRow,
    every_number,
    pairs_of,
    panel,
    within,
)
from webapp.leaderboards.disclosure.visibility import views_for
from webapp.leaderboards.entries import Entry, entries_of


def siblings_of(user: Any, split: Split, view: BoardView) -> list[Split]:
    """Return the complete splits of the dataset with the same reference for which the visitor may see the view."""
    if split.reference_id is None:
        return [split]
    rows = Split.objects.for_browse().filter(dataset=split.dataset, reference=split.reference_id)
    found = [one for one in rows.filter(state=Split.State.COMPLETE) if may_see_exact_figures(user, one)]
    return [one for one in found if view in views_for(user, one, SplitIndex.open(one))]


def by_view_across(
    user: Any, ground: SliceContext, split: Split, entries: Sequence[Entry], view: BoardView
) -> list[SlicePanel]:
    """Return a panel for each row of the board, with a column for each related split with its submissions."""
    siblings = siblings_of(user, split, view)
    boards = {one.pk: entries_of(user, one) for one in siblings if one.pk != split.pk}
    found = []
    for entry in entries:
        parts = []
        for one in siblings:
            mine = entry if one.pk == split.pk else _counterpart(entry, boards[one.pk])
            if mine is not None:
                parts.append(_counted(ground if one.pk == split.pk else _ground_of(one), mine, one, view))
        found.append(_joined(f"{view.title}: {entry.name}", parts))
    return found


def _ground_of(split: Split) -> SliceContext:
    return SliceContext(SplitIndex.open(split), split.get_absolute_url())


def _counterpart(entry: Entry, board: Sequence[Entry]) -> Entry | None:
    mine = [one for one in board if entry.method is not None and one.method == entry.method]
    return next((one for one in mine if one.configuration == entry.configuration), mine[0] if mine else None)


def _counted(ground: SliceContext, entry: Entry, split: Split, view: BoardView) -> SlicePanel:
    column = SliceColumn(split.name, list(entry.runs()), within(ground.index, view.filters), pairs_of(view.filters))
    return panel(ground, [column], every_number(ground.index.facets[view.by]), title=view.title, axis=view.axis)


def _joined(title: str, parts: Sequence[SlicePanel]) -> SlicePanel:
    """Return one panel made of panels with one column each; its rows are all values of any of them."""
    first = parts[0]
    labels = {row.value: row.label for part in parts for row in part.rows}
    by_value = [{row.value: row.cells[0] for row in part.rows} for part in parts]
    nothing = SliceCell(Averaged(0, ()), "")
    rows = [
        SliceRow(value, label, [cells.get(value, nothing) for cells in by_value]) for value, label in labels.items()
    ]
    whole = SliceRow("", "all", [part.whole.cells[0] for part in parts])
    return SlicePanel(title, first.axis, [part.columns[0] for part in parts], whole, rows, first.is_along)
