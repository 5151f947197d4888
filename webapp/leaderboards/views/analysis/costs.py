"""Views of accuracy against cost, tokens or latency, with the Pareto front: the page, its chart, and files."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from generation.charts.vega import OF_PAPER, OF_THE_PAGE
from generation.splits.query_string import shorten
from webapp.leaderboards.analysis.charts.costs_chart import MOST_NAMED, is_logarithmic, spec_of
from webapp.leaderboards.analysis.costs import AXES, CostTable, axes_with_values, cost_table, lines_of
from webapp.leaderboards.ranking.all_pairs import MOST_PAIRED
from webapp.leaderboards.views.analysis.board_selection import (
    ENTRY,
    KINDS,
    BoardReading,
    UnreadableAddress,
    about,
    as_csv,
    board_view,
    check_kind,
    check_open,
    download,
    drawing_of,
    labels_of,
    paper_of,
)

ALONG = "along"


@require_safe
@board_view(most=MOST_PAIRED)
def costs(reading: BoardReading) -> HttpResponse:
    """Return accuracy against cost, tokens or latency: `?along=tokens`, of all rows or those of `&entry=m5`."""
    table = costs_for(reading)
    spec = None if table is None else spec_of(table, colors=OF_THE_PAGE)
    context = {
        **reading.context("Cost"),
        "people": None,  # each row has the accuracy of the board
        "table": table,
        "axes": axes_with_values(reading.entries),
        "drawing": drawing_of(reading.split.dataset.slug, spec),
        "is_drawable": spec is not None,
        "is_logarithmic": table is not None and bool(table.points) and is_logarithmic(table),
        "unnamed": table is not None and len(table.front) > MOST_NAMED,
        "rows_query": "".join(f"&{urlencode([(ENTRY, key)])}" for key in reading.asked.values(ENTRY)),
        "same_rows": "",
    }
    return render(reading.request, "leaderboards/costs.html", context)


@require_safe
@board_view(most=MOST_PAIRED)
def costs_file(reading: BoardReading, kind: str) -> HttpResponse:
    """Return the figures of the page as CSV or JSON, or its chart as SVG or PDF."""
    check_kind(kind, (*KINDS, "json"))
    if kind == "json":
        return JsonResponse(costs_json(reading))
    table = _known(reading)
    spec = spec_of(table, colors=OF_PAPER, title=str(reading.split))
    content = as_csv(lines_of(table)) if kind == "csv" else paper_of(reading.split.dataset.slug, spec, kind=kind)
    return download(content, kind=kind, name=reading.file_name(table.axis.name))


def costs_json(reading: BoardReading) -> dict[str, Any]:
    """Return the points as JSON data; raise `UnreadableAddress`."""
    table = _known(reading)
    rows = [
        {**{name: value for name, value in line.items() if name != table.axis.name}, "value": line[table.axis.name]}
        for line in lines_of(table)
    ]
    return {
        **about(reading),
        "along": table.axis.name,
        "unit": table.axis.title,
        "rows": rows,
        "without": table.without,
    }


def _known(reading: BoardReading) -> CostTable:
    table = costs_for(reading)
    if table is None:
        raise UnreadableAddress(f"Expected rows with replies on the board of {reading.split}, got none.")
    return table


def costs_for(reading: BoardReading) -> CostTable | None:
    """Return the rows of the board with their costs, or None if no method has figures; raise `UnreadableAddress`."""
    check_open(reading)
    reading.check_names(ALONG)
    name = reading.asked.value(ALONG)
    if name and name not in AXES:
        raise UnreadableAddress(f"Expected one of {', '.join(AXES)}, got {shorten(name)}.")
    wanted = reading.chosen if reading.asked.values(ENTRY) else reading.entries
    known = axes_with_values(reading.entries)
    if not known:
        return None
    axis = AXES[name] if name else known[0]
    rows = [entry for entry in wanted if not entry.is_site_baseline]
    slices = reverse("board_slices", args=[reading.split.dataset.slug, reading.split.name])
    addresses = [f"{slices}?{urlencode([(ENTRY, entry.key)])}" for entry in rows]
    return cost_table(axis, list(zip(rows, labels_of(rows), addresses, strict=True)))
