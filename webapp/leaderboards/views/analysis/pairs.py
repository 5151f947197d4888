"""Views of all pairs of a board's rows, with Holm's correction and intervals of ranks: the page and its files."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from generation.splits.query_string import shorten
from webapp.leaderboards.analysis.pairs import PairTable, lines_of, pair_table, pairs_json
from webapp.leaderboards.ranking.all_pairs import MOST_PAIRED, all_pairs, ranked
from webapp.leaderboards.views.analysis.board_selection import (
    ENTRY,
    BoardReading,
    UnreadableAddress,
    about,
    as_csv,
    check_open,
    download,
    labels_of,
    open_board,
    refuse,
)

TWO = 2
FILES = ("csv", "json")


@require_safe
def pairs(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the comparison of every two rows: all ranked rows of the board, or those of `?entry=m5&entry=m7`."""
    reading = open_board(request, slug, name, most=MOST_PAIRED)
    try:
        table = pairs_for(reading)
        context: dict[str, Any] = reading.context("All pairs")
    except UnreadableAddress as error:
        return refuse(reading, error)
    is_usual = not reading.asked.values(ENTRY)
    left_out = len(ranked(reading.entries)) - len(reading.chosen) if is_usual else 0
    context |= {"table": table, "left_out": max(0, left_out), "is_usual": is_usual, "most": MOST_PAIRED}
    if is_usual:
        context["same_rows"] = ""  # other pages take fewer rows
    return render(request, "leaderboards/pairs.html", context)


@require_safe
def pairs_file(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponse:
    """Return all pairs as CSV, or the rows with their intervals of ranks and all pairs as JSON."""
    reading = open_board(request, slug, name, most=MOST_PAIRED)
    try:
        if kind not in FILES:
            raise UnreadableAddress(f"Expected one of {', '.join(FILES)}, got {shorten(kind)}.")
        table = two_or_more(reading)
    except UnreadableAddress as error:
        return refuse(reading, error)
    if kind == "json":
        return JsonResponse({**about(reading), **pairs_json(table)})
    return download(as_csv(lines_of(table)), kind=kind, name=f"{slug}-{name}-pairs")


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
