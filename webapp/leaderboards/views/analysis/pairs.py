"""Views of all pairs of a board's rows, with Holm's correction and intervals of ranks: the page and its files."""

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.leaderboards.analysis.pairs import PairTable, lines_of, pair_table, pairs_json
from webapp.leaderboards.ranking.all_pairs import MOST_PAIRED, all_pairs, ranked
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
    labels_of,
)

TWO = 2
FILES = ("csv", "json")


@require_safe
@board_view(most=MOST_PAIRED)
def pairs(reading: BoardReading) -> HttpResponse:
    """Return the comparison of every two rows: all ranked rows of the board, or those of `?entry=m5&entry=m7`."""
    table, context = pairs_for(reading), reading.context("All pairs")
    is_usual = not reading.asked.values(ENTRY)
    left_out = len(ranked(reading.entries)) - len(reading.chosen) if is_usual else 0
    context |= {"table": table, "left_out": max(0, left_out), "is_usual": is_usual, "most": MOST_PAIRED}
    if is_usual:
        context["same_rows"] = ""  # other pages take fewer rows
    return render(reading.request, "leaderboards/pairs.html", context)


@require_safe
@board_view(most=MOST_PAIRED)
def pairs_file(reading: BoardReading, kind: str) -> HttpResponse:
    """Return all pairs as CSV, or the rows with their intervals of ranks and all pairs as JSON."""
    check_kind(kind, FILES)
    table = two_or_more(reading)
    if kind == "json":
        return JsonResponse({**about(reading), **pairs_json(table)})
    return download(as_csv(lines_of(table)), kind=kind, name=reading.file_name("pairs"))


def two_or_more(reading: BoardReading) -> PairTable:
    """Return all pairs of the wanted rows; raise `UnreadableAddress` also if there are fewer than two."""
    found = pairs_for(reading)
    if found is None:
        raise UnreadableAddress("Expected at least two rows of the board, got fewer.", status=400)
    return found


def pairs_for(reading: BoardReading) -> PairTable | None:
    """Return all pairs of the wanted rows, or None for fewer than two; raise `UnreadableAddress`."""
    check_open(reading)
    reading.check_names()
    if not reading.asked.values(ENTRY):
        reading.chosen = ranked(reading.entries)[:MOST_PAIRED]
    if len(reading.chosen) < TWO:
        return None
    address = reverse("board_compare", args=[reading.split.dataset.slug, reading.split.name])
    keys = [entry.key for entry in reading.chosen]
    names = list(zip(keys, labels_of(reading.chosen), strict=True))
    return pair_table(all_pairs(reading.chosen), names, address=address)
