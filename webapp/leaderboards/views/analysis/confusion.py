"""Views of the confusion of a board's row: right answer by given answer, as a page and as files."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from generation.engine.items import FacetKind
from generation.engine.scoring.score import is_guess
from generation.splits.query_string import Query, shorten
from webapp.leaderboards.analysis.confusion import ConfusionTable, confusion_table, order_of_answers
from webapp.leaderboards.boards import columns_of
from webapp.leaderboards.entries import Contender, Entry
from webapp.leaderboards.views.analysis.board_selection import (
    ENTRY,
    BoardReading,
    UnreadableAddress,
    about,
    as_csv,
    board_view,
    check_kind,
    check_open,
    download,
)
from webapp.leaderboards.views.analysis.questions import read_filters_of, runs_with_empty

MOST = "most"
USUAL_MOST, HIGHEST = 30, 60
FILES = ("csv", "json")


class ConfusionReading(NamedTuple):
    """What a URL asks for: a row, filters, and the number of answers; `table` is None if the board has no such row."""

    entry: Entry | None
    query: Query
    most: int
    table: ConfusionTable | None


@require_safe
@board_view()
def confusion(reading: BoardReading) -> HttpResponse:
    """Return right answer by given answer for a row: `?entry=m5&most=20&type=count`, filters as in browsing."""
    found = confusion_for(reading)
    kept = [*found.query.with_words(found.query.words).pairs, (MOST, str(found.most))]
    context = {
        **reading.context("Confusion"),
        "entry": found.entry,
        "table": found.table,
        "bodies": [] if found.table is None else [(row, mark_safe(row.html)) for row in found.table.rows],  # noqa: S308
        "mistakes": [] if found.table is None else found.table.mistakes,
        "rows": [one for one in reading.entries if not one.is_chance],
        "conditions": found.query.conditions,
        "words": found.query.words,
        "filters": found.query.pairs,
        "most": found.most,
        "highest": HIGHEST,
        "without_filters": urlencode([*reading.entry_pairs, (MOST, str(found.most))]),
        "query": urlencode([*kept, *reading.entry_pairs]),
    }
    return render(reading.request, "leaderboards/confusion.html", context)


@require_safe
@board_view()
def confusion_file(reading: BoardReading, kind: str) -> HttpResponse:
    """Return every pair of answers that occurs as CSV or JSON."""
    check_kind(kind, FILES)
    data = confusion_json(reading)
    if kind == "json":
        return JsonResponse(data)
    return download(as_csv(data["answers"]), kind=kind, name=reading.file_name("confusion"))


def confusion_json(reading: BoardReading) -> dict[str, Any]:
    """Return the confusion of a row as JSON data; raise `BadAddress` or `UnreadableAddress`."""
    found = confusion_for(reading)
    if found.table is None or found.entry is None:
        raise UnreadableAddress("Expected a row of the board, got none.", status=400)
    [row] = reading.contenders
    table = found.table
    return {
        **about(reading),
        "row": {"key": row.key, "label": row.label},
        "questions": table.questions,
        "runs": table.runs,
        "right": table.right,
        "answers": table.lines,
    }


def confusion_for(reading: BoardReading) -> ConfusionReading:
    """Return the confusion that a URL asks for; the first method of the board without `entry`.

    Raises
    ------
    BadAddress, UnreadableAddress
    """
    check_open(reading)
    query = read_filters_of(reading, beside=(MOST,))
    most = _most(reading)
    if not reading.asked.values(ENTRY):
        reading.chosen = [one for one in (*reading.chosen, *reading.entries) if not one.is_chance][:1]
    reading.chosen = reading.chosen[:1]
    if not reading.chosen:
        return ConfusionReading(None, query, most, None)
    [entry], [named], index = reading.chosen, reading.contenders, reading.index
    runs = runs_with_empty(entry, index)
    if any(is_guess(run).any() for run in runs):
        raise UnreadableAddress(
            f"Expected a row with answers, got {named.label}, which has no answers to single questions."
        )
    among = np.zeros(index.n, np.bool_)
    among[index.select(query.filters, query.each_word)] = True
    if reading.ground.asked is not None:
        among &= reading.ground.asked
    columns = columns_of(reading.request.user, reading.split, index)
    by = index.facets[columns[0].facet] if columns else None
    table = confusion_table(
        index,
        Contender(named.key, named.label, runs, named.is_human),
        among,
        order=order_of_answers(index, by if by is not None and by.kind == FacetKind.CATEGORY else None),
        most=most,
        address=reverse("board_questions", args=[reading.split.dataset.slug, reading.split.name]),
        kept=[*reading.entry_pairs, *query.pairs],
    )
    return ConfusionReading(entry, query, most, table)


def _most(reading: BoardReading) -> int:
    text = reading.asked.value(MOST, str(USUAL_MOST))
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= HIGHEST):
        raise UnreadableAddress(f"Expected {MOST} to be a number from 1 to {HIGHEST}, got {shorten(text)}.", status=400)
    return int(text)
